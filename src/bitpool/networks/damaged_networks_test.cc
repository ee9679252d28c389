#include "bitpool/features/cnn_extractor.h"
#include "bitpool/features/cnn_testing.h"
#include "bitpool/io/damaged_files.h"
#include "bitpool/io/testing.h"
#include "bitpool/networks/onnx_graph.h"

// OpenCV reads networks, and what it comes upon in damaged ones must come back as errors of ours.
// CnnExtractor is given bytes and knows no file: whoever opens one adds its name (OpenCnn), which
// `tests/attacks/numbers` looks for in what the program says of damaged networks.
namespace bitpool {
namespace {

constexpr const char* kNoFile = "";

std::span<const std::byte> BytesOf(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Picture SmallPicture() {
  return {.width = 2, .height = 2, .pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
}

// Opens a network and describes a picture with it.
void Use(const CnnFiles& files, const CnnOptions& options) {
  const CnnExtractor extractor(files, options);
  const MatrixF features = extractor.Extract(SmallPicture());
  EXPECT_EQ(features.rows(), extractor.dimension());
}

std::string SmallOnnx() {
  OnnxGraph graph("small");
  graph.AddInput("data", {1, 3, 2, 2});
  graph.AddWeights("w", {2, 3, 1, 1}, std::vector<float>{1, 10, 100, 0, 0, 1});
  graph.AddWeights("b", {2}, std::vector<float>{0, 5});
  graph.AddNode(
      "Conv", "mix", {"data", "w", "b"},
      {{"kernel_shape", std::vector<int64_t>{1, 1}}, {"strides", std::vector<int64_t>{1, 1}}});
  graph.AddOutput("mix", {1, 2, 2, 2});
  return testing::ToString(graph.Write());
}

TEST(DamagedNetworks, Onnx) {
  CnnOptions options = TinyOptions();
  testing::ExpectNoHarm(SmallOnnx(), kNoFile, [&](const std::string& bytes) {
    Use({.definition = BytesOf(bytes), .weights = {}}, options);
  });
}

TEST(DamagedNetworks, CaffeWeights) {
  testing::ExpectNoHarm(TinyWeights(), kNoFile, [](const std::string& bytes) {
    Use({.definition = BytesOf(kTinyDefinition), .weights = BytesOf(bytes)}, TinyOptions());
  });
}

TEST(DamagedNetworks, CaffeDefinition) {
  const std::string weights = TinyWeights();
  testing::ExpectNoHarm(kTinyDefinition, kNoFile, [&](const std::string& bytes) {
    Use({.definition = BytesOf(bytes), .weights = BytesOf(weights)}, TinyOptions());
  });
}

}  // namespace
}  // namespace bitpool
