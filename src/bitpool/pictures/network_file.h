#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "bitpool/features/cnn_extractor.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Where a network's files are.
struct CnnPaths {
  std::filesystem::path definition;  // .prototxt or .onnx
  std::filesystem::path weights;     // .caffemodel; empty for ONNX
};

// SqueezeNet v1.0 as it lies in a folder of public data: squeezenet/SqueezeNet_deploy.prototxt and
// squeezenet/squeezenet_v1.0.caffemodel.
CnnPaths DefaultNetwork(const std::filesystem::path& data_folder);

// Throws kNotFound, saying where a network is looked for, when the files are not there; otherwise
// as CnnExtractor, naming the file.
std::unique_ptr<CnnExtractor> OpenCnn(Env& env, const CnnPaths& paths, const CnnOptions& options);

// The files of a network, mapped for as long as this lives. Throws kNotFound, naming the file, when
// one is not there.
class MappedNetwork {
 public:
  MappedNetwork(Env& env, const CnnPaths& paths);
  CnnFiles files() const;

 private:
  std::shared_ptr<const FileView> definition_, weights_;
};

}  // namespace bitpool
