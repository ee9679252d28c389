#include "bitpool/io/sample_file.h"

#include <numeric>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

// 1,000,000 rows of three bytes with one byte in between: more than one fetch when rows are read
// together.
TEST(SampleFile, ReadsRangesAcrossFetches) {
  constexpr uint64_t kCount = 5000000;
  std::vector<std::byte> bytes(1 + kCount * 4);
  for (uint64_t i = 0; i < kCount; ++i) {
    for (uint64_t j = 0; j < 3; ++j) bytes[1 + i * 4 + j] = static_cast<std::byte>(i * 7 + j);
  }
  int fetches = 0;
  const SampleFile file("rows",
                        {.dtype = DType::kU1,
                         .sample_shape = {3},
                         .count = kCount,
                         .base = 1,
                         .stride = 4,
                         .repeated_prefix = {}},
                        [&](uint64_t offset, uint64_t length) {
                          ++fetches;
                          return std::span<const std::byte>(bytes).subspan(offset, length);
                        });
  const std::vector<uint8_t> all = file.ReadAll<uint8_t>();
  EXPECT_GT(fetches, 1);
  EXPECT_LT(fetches, 10);
  for (uint64_t i = 0; i < kCount; i += 997)
    ASSERT_EQ(all[i * 3 + 2], static_cast<uint8_t>(i * 7 + 2)) << i;
  std::vector<float> few(6);
  file.Read<float>(kCount - 2, 2, few);
  EXPECT_EQ(few[3], static_cast<float>(static_cast<uint8_t>((kCount - 1) * 7)));
  file.Read<float>(5, 0, {});
}

TEST(SampleFile, NumbersThatDoNotFitAreReportedWithTheirPlace) {
  const std::string data = testing::Pack(1, 2, 300, 4);
  const SampleFile file(testing::View(data, "four"), {.dtype = DType::kI4,
                                                      .sample_shape = {2},
                                                      .count = 2,
                                                      .base = 0,
                                                      .stride = 8,
                                                      .repeated_prefix = {}});
  ExpectError(ErrorCode::kCorrupt,
              {"four: offset 8: sample 1, component 0: expected a whole number from 0 to 255 (u1)"},
              [&] { file.ReadAll<uint8_t>(); });
  EXPECT_EQ(file.ReadAll<int64_t>()[2], 300);
}

}  // namespace
}  // namespace bitpool
