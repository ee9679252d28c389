#include "bitpool/io/vecs.h"

#include <limits>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::Pack;
using testing::View;

TEST(Vecs, ReadsEachType) {
  const SampleFile f = ParseVecs(View(Pack(2, 1.5F, -2.0F, 2, 3.0F, 4.0F)), DType::kF4);
  EXPECT_EQ(f.count(), 2U);
  EXPECT_EQ(f.dimension(), 2U);
  EXPECT_EQ(f.ReadAll<float>(), (std::vector<float>{1.5F, -2.0F, 3.0F, 4.0F}));
  const SampleFile b = ParseVecs(View(Pack(1, uint8_t{9}, 1, uint8_t{255})), DType::kU1);
  EXPECT_EQ(b.ReadAll<uint8_t>(), (std::vector<uint8_t>{9, 255}));
  const SampleFile i = ParseVecs(View(Pack(3, 1, -1, 7)), DType::kI4);
  EXPECT_EQ(i.ReadAll<int32_t>(), (std::vector<int32_t>{1, -1, 7}));
}

TEST(Vecs, RejectsBadDimensions) {
  for (const int dimension :
       {0, -1, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    ExpectError(ErrorCode::kCorrupt, {"test: offset", "dimension"},
                [&] { ParseVecs(View(Pack(dimension, 1.0F)), DType::kF4); });
  }
  ExpectError(ErrorCode::kCorrupt, {"offset 0"}, [] { ParseVecs(View(""), DType::kF4); });
  ExpectError(ErrorCode::kCorrupt, {"offset 0"}, [] { ParseVecs(View("abc"), DType::kF4); });
}

TEST(Vecs, SaysWhenAFileIsBigEndian) {
  const auto swapped = static_cast<int>(__builtin_bswap32(2));
  ExpectError(ErrorCode::kUnsupported, {"test", "big-endian (dimension 2)"},
              [&] { ParseVecs(View(Pack(swapped, 1.0F, 2.0F)), DType::kF4); });
}

TEST(Vecs, RejectsAChangingDimensionWithItsOffset) {
  const SampleFile file = ParseVecs(View(Pack(2, 1.0F, 2.0F, 3, 3.0F, 4.0F)), DType::kF4);
  ExpectError(ErrorCode::kCorrupt, {"offset 12", "sample 1 has dimension 3, expected 2"},
              [&] { file.ReadAll<float>(); });
  std::vector<float> first(2);
  file.Read<float>(0, 1, first);  // what comes before is still good
  EXPECT_EQ(first[1], 2.0F);
}

TEST(Vecs, RejectsOddLengths) {
  const std::string good = Pack(2, 1.0F, 2.0F, 2, 3.0F, 4.0F);
  for (size_t length = 0; length < good.size(); ++length) {
    if (length == good.size() / 2) continue;
    ExpectError(ErrorCode::kCorrupt, {"offset"},
                [&] { ParseVecs(View(good.substr(0, length)), DType::kF4); });
  }
}

TEST(Vecs, RejectsNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const SampleFile file = ParseVecs(View(Pack(2, 1.0F, 2.0F, 2, 3.0F, nan)), DType::kF4);
  ExpectError(ErrorCode::kCorrupt, {"offset 20", "sample 1, component 1"},
              [&] { file.ReadAll<float>(); });
}

}  // namespace
}  // namespace bitpool
