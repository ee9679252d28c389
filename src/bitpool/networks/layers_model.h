#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/env.h"

namespace bitpool {

// The weights of a model that TensorFlow.js keeps as a "layers model": model.json lists names and
// shapes, and files beside it hold the numbers (float32, little-endian) in the same order.
class LayersModel {
 public:
  // Throws kCorrupt, naming the file and what was expected, for anything else; kNotFound when a
  // file is not there.
  static LayersModel Open(Env& env, const std::filesystem::path& model_json);

  // The numbers of a weight. Throws kCorrupt when there is none of this name, or of another shape.
  std::span<const float> Weight(const std::string& name, const std::vector<int64_t>& shape) const;

 private:
  struct Place {
    std::vector<int64_t> shape;
    size_t begin = 0, size = 0;
  };

  std::string file_;  // for errors
  std::vector<float> numbers_;
  std::map<std::string, Place> places_;
};

}  // namespace bitpool
