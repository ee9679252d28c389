#include "bitpool/io/siftgeo.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::Pack;
using testing::View;

std::string Descriptor(int32_t dimension, char value) {
  return Pack(1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F, 8.0F, 9.0F, dimension) +
         std::string(128, value);
}

TEST(Siftgeo, ReadsDescriptors) {
  const SampleFile file = ParseSiftgeo(View(Descriptor(128, 3) + Descriptor(128, 5)));
  ASSERT_EQ(file.count(), 2U);
  ASSERT_EQ(file.dimension(), 128U);
  const std::vector<uint8_t> values = file.ReadAll<uint8_t>();
  EXPECT_EQ(values[127], 3);
  EXPECT_EQ(values[128], 5);
}

TEST(Siftgeo, AnEmptyFileHasNoDescriptors) {
  const SampleFile file = ParseSiftgeo(View(""));
  EXPECT_EQ(file.count(), 0U);
  EXPECT_TRUE(file.ReadAll<uint8_t>().empty());
}

TEST(Siftgeo, RejectsAWrongLength) {
  const std::string good = Descriptor(128, 3) + Descriptor(128, 5);
  for (const size_t length : {size_t{1}, size_t{167}, size_t{169}, good.size() - 1}) {
    ExpectError(ErrorCode::kCorrupt, {"test: offset", "ends inside descriptor"},
                [&] { ParseSiftgeo(View(good.substr(0, length))); });
  }
}

TEST(Siftgeo, RejectsAWrongDimension) {
  const SampleFile file = ParseSiftgeo(View(Descriptor(128, 3) + Descriptor(64, 5)));
  ExpectError(ErrorCode::kCorrupt, {"offset 204", "dimension 64, expected 128"},
              [&] { file.ReadAll<uint8_t>(); });
}

}  // namespace
}  // namespace bitpool
