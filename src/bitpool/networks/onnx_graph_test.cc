#include "bitpool/networks/onnx_graph.h"

#include <gtest/gtest.h>

#include "bitpool/features/cnn_extractor.h"

namespace bitpool {
namespace {

std::string Hex(const std::vector<std::byte>& bytes) {
  std::string hex;
  for (const std::byte byte : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    hex += kDigits[std::to_integer<int>(byte) >> 4];
    hex += kDigits[std::to_integer<int>(byte) & 15];
  }
  return hex;
}

// A graph with one input, worked out by hand from the rules of the encoding.
TEST(OnnxGraph, HasTheBytesOfProtocolBuffers) {
  OnnxGraph graph("g");
  graph.AddInput("x", {0, 300});
  EXPECT_EQ(Hex(graph.Write()),
            "0806"                // ir_version: 6
            "1207626974706f6f6c"  // producer_name: "bitpool"
            "4202100b"            // opset_import { version: 11 }
            "3a1d"                // graph, 29 bytes
            "120167"              // name: "g"
            "5a18"                // input, 24 bytes
            "0a0178"              // name: "x"
            "1213"
            "0a11"
            "0801"  // type { tensor_type { elem_type: FLOAT
            "120d"  // shape
            "0a06"
            "1204616e7930"  // dim { dim_param: "any0" }
            "0a03"
            "08ac02");  // dim { dim_value: 300 } }}
}

// What a reader that we did not write makes of a network, against numbers computed by hand.
TEST(OnnxGraph, OpenCvComputesWhatWasWritten) {
  OnnxGraph graph("sums");
  graph.AddInput("data", {0, 3, 0, 0});
  std::vector<float> ones(2 * 3 * 9, 0);
  for (size_t i = 0; i < 9; ++i) ones[i] = 1;  // map 0: the sum of blue around
  for (size_t from = 0; from < 3; ++from) ones[27 + 9 * from + 4] = 2;  // map 1: twice the pixel
  const std::vector<float> bias = {0.5F, -1};
  graph.AddWeights("w", {2, 3, 3, 3}, ones);
  graph.AddWeights("b", {2}, bias);
  graph.AddNode("Conv", "conv", {"data", "w", "b"},
                {{"kernel_shape", std::vector<int64_t>{3, 3}},
                 {"strides", std::vector<int64_t>{2, 2}},
                 {"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  graph.AddNode("Relu", "relu", {"conv"});
  graph.AddNode("Add", "double", {"relu", "conv"});
  graph.AddOutput("double", {0, 2, 0, 0});
  const std::vector<std::byte> bytes = graph.Write();
  const CnnExtractor extractor({.definition = bytes, .weights = {}},
                               {.layer = "double", .size = 4, .mean = {0, 0, 0}});
  Picture picture{.width = 4, .height = 4, .pixels = {}};
  for (uint8_t i = 0; i < 16; ++i) {
    for (const int value : {0, 1, static_cast<int>(i)}) {  // red, green, blue
      picture.pixels.push_back(static_cast<uint8_t>(value));
    }
  }
  // Blue is 0 1 2 3 / 4 5 6 7 / 8 9 10 11 / 12 13 14 15; windows around (0,0), (0,2), (2,0), (2,2).
  MatrixF expected(2, 4);
  expected << 2 * 10.5F, 2 * 24.5F, 2 * 51.5F, 2 * 90.5F,  //
      2 * (2 * 1 - 1), 2 * (2 * 3 - 1), 2 * (2 * 9 - 1), 2 * (2 * 11 - 1);
  EXPECT_LT((extractor.Extract(picture) - expected).cwiseAbs().maxCoeff(), 1e-3F)
      << extractor.Extract(picture);
}

}  // namespace
}  // namespace bitpool
