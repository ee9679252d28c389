#include "network_choice.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"
#include "number_checks.h"

namespace bitpool::app {

void NetworkChoice::AddTo(CLI::App* app) {
  app->add_option(
         "--network", names,
         "resnet50, squeezenet (the default), or the files of another: an .onnx file, or a "
         "Caffe .prototxt and its .caffemodel")
      ->expected(1, 2);
  app->add_option("--layer", layer, "Layer whose maps are the features (default: the network's)");
  app->add_option("--mean", mean, "Blue, green and red, subtracted from the pixels")
      ->delimiter(',');
  app->add_option("--scale", scale, "The pixels are then multiplied by this");
  app->add_flag("--rgb", rgb, "The network wants red first");
}

void NetworkChoice::AddLocalPcaTo(CLI::App* app) {
  app->add_option("--local-pca", local_pca,
                  "Reduce the maps to this many dimensions, learned from the training pictures; 0: "
                  "keep them (default: the network's)")
      ->check(WholeFrom(0));
}

void NetworkChoice::AddSizeTo(CLI::App* app) {
  app->add_option(
      "--size", size,
      "Pictures are scaled to this many pixels along each side (default: the network's)");
}

void NetworkChoice::AddLimitTo(CLI::App* app) {
  app->add_option("--limit", limit, "Use only this many of the pictures, for a quick look");
}

void NetworkChoice::RequireNothingAsked() const {
  const std::pair<bool, const char*> asked[] = {{layer.has_value(), "--layer"},
                                                {size.has_value(), "--size"},
                                                {mean.has_value(), "--mean"},
                                                {scale.has_value(), "--scale"},
                                                {rgb, "--rgb"},
                                                {local_pca.has_value(), "--local-pca"}};
  for (const auto& [given, name] : asked) {
    if (!given) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected a network too, by --network", name));
  }
}

NetworkUse NetworkChoice::Changed(NetworkUse use) const {
  if (layer) use.options.layer = *layer;
  if (size) use.options.size = *size;
  if (mean) use.options.mean = *mean;
  if (scale) use.options.scale = *scale;
  if (rgb) use.options.rgb = true;
  // A layer that was named may have fewer maps than the number to which the network's own is
  // reduced.
  if (layer) use.reduced = 0;
  if (local_pca) use.reduced = *local_pca;
  return use;
}

NamedNetwork NetworkChoice::Find(const std::filesystem::path& folder) const {
  NamedNetwork network = FindNetwork(names, folder);
  network.scenes = Changed(network.scenes);
  network.classes = Changed(network.classes);
  return network;
}

CnnFeaturesRequest NetworkChoice::Request(const std::string& set,
                                          const std::filesystem::path& folder) const {
  const NamedNetwork network = Find(folder);
  return {.set = set,
          .folder = folder,
          .network = network.files,
          .options = network.classes.options,
          .reduced = network.classes.reduced,
          .limit = limit};
}

}  // namespace bitpool::app
