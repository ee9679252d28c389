#include "bitpool/pictures/network_file.h"

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const FileView> MapNetworkFile(Env& env, const fs::path& path) {
  if (!env.Exists(path)) {
    throw Error(ErrorCode::kNotFound, path.string(),
                "no such network; name the files of one with --cnn");
  }
  return env.Map(path);
}

}  // namespace

MappedNetwork::MappedNetwork(Env& env, const CnnPaths& paths)
    : definition_(MapNetworkFile(env, paths.definition)) {
  if (!paths.weights.empty()) weights_ = MapNetworkFile(env, paths.weights);
}

CnnFiles MappedNetwork::files() const {
  return {.definition = definition_->bytes(),
          .weights = weights_ == nullptr ? std::span<const std::byte>() : weights_->bytes()};
}

CnnPaths DefaultNetwork(const fs::path& data_folder) {
  const fs::path folder = data_folder / "squeezenet";
  return {.definition = folder / "SqueezeNet_deploy.prototxt",
          .weights = folder / "squeezenet_v1.0.caffemodel"};
}

std::unique_ptr<CnnExtractor> OpenCnn(Env& env, const CnnPaths& paths, const CnnOptions& options) {
  const MappedNetwork network(env, paths);
  return InContext(paths.definition.string(),
                   [&] { return std::make_unique<CnnExtractor>(network.files(), options); });
}

}  // namespace bitpool
