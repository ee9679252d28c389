#include "bitpool/pictures/network_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const FileView> MapNetworkFile(Env& env, const fs::path& path,
                                               const std::string& how_to_get) {
  if (!env.Exists(path)) {
    throw Error(ErrorCode::kNotFound, path.string(),
                how_to_get.empty() ? "no such network; name one, or its files, with --network"
                                   : fmt::format("the network is not there; {}", how_to_get));
  }
  return env.Map(path);
}

NamedNetwork SqueezeNet() {
  const CnnOptions options;  // its own are the defaults
  return {.name = "squeezenet",
          .files = {.definition = "squeezenet/SqueezeNet_deploy.prototxt",
                    .weights = "squeezenet/squeezenet_v1.0.caffemodel"},
          .scenes = {.options = options},
          .classes = {.options = options},
          .global_layer = "pool_final"};
}

NamedNetwork ResNet50() {
  const std::array<double, 3> mean = {103.939, 116.779, 123.68};
  return {.name = "resnet50",
          .files = {.definition = "resnet50/resnet50.onnx", .weights = {}},
          .scenes = {.options = {.layer = "stage4", .size = 416, .mean = mean}, .reduced = 512},
          .classes = {.options = {.layer = "stage5", .size = 224, .mean = mean}},
          .global_layer = "pool"};
}

std::string HowToGet(std::string_view name, const fs::path& data_folder) {
  if (name == "squeezenet") {
    return "put the two files of SqueezeNet v1.0 (Caffe) there, or name another with --network";
  }
  return fmt::format("get it with: bitpool data get {} --dir {}", name, data_folder.string());
}

}  // namespace

const std::vector<NamedNetwork>& NamedNetworks() {
  static const std::vector<NamedNetwork> networks = {SqueezeNet(), ResNet50()};
  return networks;
}

NamedNetwork FindNetwork(const std::vector<std::string>& names, const fs::path& data_folder) {
  const std::string first = names.empty() ? "squeezenet" : names[0];
  std::vector<std::string_view> known;
  for (const NamedNetwork& network : NamedNetworks()) {
    known.push_back(network.name);
    if (names.size() > 1 || network.name != first) continue;
    NamedNetwork found = network;
    found.files.definition = data_folder / network.files.definition;
    if (!network.files.weights.empty()) found.files.weights = data_folder / network.files.weights;
    found.files.how_to_get = HowToGet(network.name, data_folder);
    return found;
  }
  if (names.size() == 1 && !fs::path(first).has_extension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("unknown network \"{}\"; expected {}, or the files of another (.onnx, "
                            "or .prototxt and .caffemodel)",
                            first, fmt::join(known, ", ")));
  }
  NamedNetwork network = SqueezeNet();
  network.name = {};
  network.files = {.definition = first, .weights = names.size() > 1 ? names[1] : ""};
  return network;
}

MappedNetwork::MappedNetwork(Env& env, const CnnPaths& paths)
    : definition_(MapNetworkFile(env, paths.definition, paths.how_to_get)) {
  if (!paths.weights.empty()) weights_ = MapNetworkFile(env, paths.weights, paths.how_to_get);
}

CnnFiles MappedNetwork::files() const {
  return {.definition = definition_->bytes(),
          .weights = weights_ == nullptr ? std::span<const std::byte>() : weights_->bytes()};
}

std::unique_ptr<CnnExtractor> OpenCnn(Env& env, const CnnPaths& paths, const CnnOptions& options) {
  const MappedNetwork network(env, paths);
  return InContext(paths.definition.string(),
                   [&] { return std::make_unique<CnnExtractor>(network.files(), options); });
}

}  // namespace bitpool
