#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/features/cnn_extractor.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Where a network's files are.
struct CnnPaths {
  std::filesystem::path definition;  // .prototxt or .onnx
  std::filesystem::path weights;     // .caffemodel; empty for ONNX
  std::string how_to_get = {};       // what to do when they are not there; empty: nothing is known
};

// What is taken from a network, and how.
struct NetworkUse {
  CnnOptions options = {};
  Index reduced = 0;  // dimensions of the features after a local PCA; 0: none, all maps
};

// A network that is known by its name.
struct NamedNetwork {
  std::string_view name;
  CnnPaths files;                 // within the folder of the data
  NetworkUse scenes;              // for pictures of one scene among many, and copies
  NetworkUse classes;             // for small pictures of one thing
  std::string_view global_layer;  // which gives one vector for a picture
};

// squeezenet, which is the default, and resnet50.
const std::vector<NamedNetwork>& NamedNetworks();

// The network that `names` means, at its place in the folder of the data: a name; one or two files
// (.onnx, or .prototxt and .caffemodel), which are used as squeezenet is unless something else is
// asked for; or squeezenet if `names` is empty. Throws kInvalidArgument for a name that is neither
// a known name nor that of a file, listing the known names.
NamedNetwork FindNetwork(const std::vector<std::string>& names,
                         const std::filesystem::path& data_folder);

// The files of a network, mapped for as long as this lives. Throws kNotFound, naming the file and
// how to get it, when one is not there.
class MappedNetwork {
 public:
  MappedNetwork(Env& env, const CnnPaths& paths);
  CnnFiles files() const;

 private:
  std::shared_ptr<const FileView> definition_, weights_;
};

// Throws as MappedNetwork, and as CnnExtractor, naming the file.
std::unique_ptr<CnnExtractor> OpenCnn(Env& env, const CnnPaths& paths, const CnnOptions& options);

}  // namespace bitpool
