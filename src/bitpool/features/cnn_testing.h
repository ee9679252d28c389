#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bitpool/features/cnn_extractor.h"

// For tests: a network small enough to be computed by hand.
namespace bitpool {

// Caffe's binary weights by hand: field 100 of NetParameter is a layer {1: name, 2: type, 7: blob
// {5: data (packed floats), 7: shape {1: dims}}}.
inline std::string CaffeField(int number, const std::string& content) {
  std::string out;
  for (auto value : {static_cast<size_t>(number << 3 | 2), content.size()}) {
    while (value >= 128) {
      out.push_back(static_cast<char>(value | 128));
      value >>= 7;
    }
    out.push_back(static_cast<char>(value));
  }
  return out + content;
}

inline std::string CaffeBlob(const std::vector<char>& shape, const std::vector<float>& values) {
  std::string data(values.size() * sizeof(float), '\0');
  std::memcpy(data.data(), values.data(), data.size());
  return CaffeField(5, data) +
         CaffeField(7, CaffeField(1, std::string(shape.begin(), shape.end())));
}

// A network with one 1×1 convolution: two maps out of blue, green and red.
inline const std::string kTinyDefinition = R"(
name: "tiny"
input: "data"
input_dim: 1 input_dim: 3 input_dim: 2 input_dim: 2
layer { name: "mix" type: "Convolution" bottom: "data" top: "mix"
        convolution_param { num_output: 2 kernel_size: 1 bias_term: true } }
layer { name: "whole" type: "InnerProduct" bottom: "mix" top: "whole"
        inner_product_param { num_output: 1 bias_term: false } }
)";

inline std::string TinyWeights() {
  const std::string mix = CaffeField(1, "mix") + CaffeField(2, "Convolution") +
                          CaffeField(7, CaffeBlob({2, 3, 1, 1}, {1, 10, 100, 0, 0, 1})) +
                          CaffeField(7, CaffeBlob({2}, {0, 5}));
  const std::string whole = CaffeField(1, "whole") + CaffeField(2, "InnerProduct") +
                            CaffeField(7, CaffeBlob({1, 8}, {1, 1, 1, 1, 0, 0, 0, 0}));
  return CaffeField(100, mix) + CaffeField(100, whole);
}

inline CnnFiles FilesOf(const std::string& definition, const std::string& weights) {
  return {.definition = std::as_bytes(std::span(definition)),
          .weights = std::as_bytes(std::span(weights))};
}

// The maps of the convolution, with the mean of blue 1.
inline CnnOptions TinyOptions() {
  return {.layer = "mix", .size = 2, .mean = {1, 0, 0}, .scale = 1, .rgb = false};
}

}  // namespace bitpool
