#include "bitpool/features/cnn_extractor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "bitpool/base/error.h"
#include "bitpool/features/cnn_testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// 2×2 pixels, each (red, green, blue) different.
Picture TinyPicture() {
  return {.width = 2, .height = 2, .pixels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
}

std::string WhatIsThrown(const auto& job, ErrorCode code) {
  try {
    job();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(CnnExtractor, EveryPositionIsADescriptorOfAllMaps) {
  const std::string weights = TinyWeights();
  const CnnExtractor extractor(FilesOf(kTinyDefinition, weights), TinyOptions());
  EXPECT_EQ(extractor.dimension(), 2);
  // Map 0: (blue − 1) + 10 green + 100 red; map 1: red + 5.
  MatrixF expected(2, 4);
  expected << 122, 455, 788, 1121, 6, 9, 12, 15;
  EXPECT_LT((extractor.Extract(TinyPicture()) - expected).cwiseAbs().maxCoeff(), 1e-3F);
}

TEST(CnnExtractor, MeanScaleAndTheOrderOfColoursAreOptions) {
  const std::string weights = TinyWeights();
  CnnOptions options = TinyOptions();
  options.rgb = true;
  options.scale = 2;
  const CnnExtractor extractor(FilesOf(kTinyDefinition, weights), options);
  // Red first, the mean still that of blue: 2 × (red + 10 green + 100 (blue − 1)).
  EXPECT_FLOAT_EQ(extractor.Extract(TinyPicture())(0, 0), 2 * (1 + 20 + 200));
}

TEST(CnnExtractor, AFullyConnectedLayerGivesOneVector) {
  const std::string weights = TinyWeights();
  CnnOptions options = TinyOptions();
  options.layer = "whole";
  const CnnExtractor extractor(FilesOf(kTinyDefinition, weights), options);
  const MatrixF vector = extractor.Extract(TinyPicture());
  ASSERT_EQ(vector.rows(), 1);
  ASSERT_EQ(vector.cols(), 1);
  EXPECT_FLOAT_EQ(vector(0, 0), 122 + 455 + 788 + 1121);
}

TEST(CnnExtractor, IsTheSameFromManyThreads) {
  const std::string weights = TinyWeights();
  const CnnExtractor extractor(FilesOf(kTinyDefinition, weights), TinyOptions());
  const MatrixF expected = extractor.Extract(TinyPicture());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) EXPECT_EQ(extractor.Extract(TinyPicture()), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CnnExtractor, SaysWhatIsWrong) {
  const std::string weights = TinyWeights();
  CnnOptions options = TinyOptions();
  options.layer = "fire9";
  EXPECT_THAT(WhatIsThrown([&] { CnnExtractor(FilesOf(kTinyDefinition, weights), options); },
                           ErrorCode::kInvalidArgument),
              HasSubstr("no layer \"fire9\""));
  EXPECT_THAT(WhatIsThrown([&] { CnnExtractor(FilesOf("layer {", weights), TinyOptions()); },
                           ErrorCode::kCorrupt),
              HasSubstr("not a network"));
  EXPECT_THAT(WhatIsThrown([&] { CnnExtractor(FilesOf("not onnx", ""), TinyOptions()); },
                           ErrorCode::kCorrupt),
              HasSubstr("not a network"));
  options = TinyOptions();
  options.size = 0;
  EXPECT_THAT(WhatIsThrown([&] { CnnExtractor(FilesOf(kTinyDefinition, weights), options); },
                           ErrorCode::kInvalidArgument),
              HasSubstr("1 to 8192"));
  const CnnExtractor good(FilesOf(kTinyDefinition, weights), TinyOptions());
  EXPECT_THAT(WhatIsThrown([&] { (void)good.Extract({.width = 2, .height = 2, .pixels = {1}}); },
                           ErrorCode::kInvalidArgument),
              HasSubstr("width × height × 3"));
}

}  // namespace
}  // namespace bitpool
