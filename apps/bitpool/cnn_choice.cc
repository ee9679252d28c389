#include "cnn_choice.h"

#include "bitpool/pictures/network_file.h"

namespace bitpool::app {

void CnnChoice::AddTo(CLI::App* app) {
  app->add_option("--cnn", files,
                  "The network: a Caffe .prototxt and its .caffemodel, or an .onnx file (default: "
                  "SqueezeNet in the folder of the data)")
      ->expected(1, 2);
  app->add_option("--layer", options.layer, "Layer whose maps are the features")
      ->capture_default_str();
  app->add_option("--size", options.size, "Pictures are scaled to so many pixels, squared")
      ->capture_default_str();
  app->add_option("--mean", options.mean, "Blue, green and red, taken off the pixels")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--scale", options.scale, "The pixels are multiplied by this then")
      ->capture_default_str();
  app->add_flag("--rgb", options.rgb, "The network wants red first");
  app->add_option("--limit", limit, "Use only so many of the pictures, for a quick look");
}

CnnPaths CnnChoice::Paths(const std::filesystem::path& folder) const {
  if (files.empty()) return DefaultNetwork(folder);
  return {.definition = files[0], .weights = files.size() > 1 ? files[1] : ""};
}

CnnFeaturesRequest CnnChoice::Request(const std::string& set,
                                      const std::filesystem::path& folder) const {
  return {
      .set = set, .folder = folder, .network = Paths(folder), .options = options, .limit = limit};
}

}  // namespace bitpool::app
