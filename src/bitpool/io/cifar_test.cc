#include "bitpool/io/cifar.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::View;

std::string Picture(char label, char pixel) {
  return std::string(1, label) + std::string(3072, pixel);
}

TEST(Cifar, ReadsPicturesAndLabels) {
  const CifarBatch batch = ParseCifar(View(Picture(9, 50) + Picture(0, 60)));
  EXPECT_EQ(batch.pictures.count(), 2U);
  EXPECT_EQ(batch.pictures.sample_shape(), (std::vector<uint64_t>{3, 32, 32}));
  EXPECT_EQ(batch.labels.ReadAll<int64_t>(), (std::vector<int64_t>{9, 0}));
  const std::vector<uint8_t> pixels = batch.pictures.ReadAll<uint8_t>();
  EXPECT_EQ(pixels[0], 50);
  EXPECT_EQ(pixels[3071], 50);
  EXPECT_EQ(pixels[3072], 60);
}

TEST(Cifar, RejectsWrongLengthsAndLabels) {
  ExpectError(ErrorCode::kCorrupt, {"test: offset 0"}, [] { ParseCifar(View("")); });
  ExpectError(ErrorCode::kCorrupt, {"offset 3072", "picture 0"},
              [] { ParseCifar(View(Picture(1, 2).substr(1))); });
  ExpectError(ErrorCode::kCorrupt, {"offset 3074"}, [] { ParseCifar(View(Picture(1, 2) + "x")); });
  ExpectError(ErrorCode::kCorrupt, {"offset 3073", "label 10"},
              [] { ParseCifar(View(Picture(1, 2) + Picture(10, 2))); });
}

}  // namespace
}  // namespace bitpool
