#include "bitpool/index/segment_tables.h"

#include <functional>
#include <map>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

std::vector<uint8_t> Rows(Random& random, size_t count, uint64_t different) {
  std::vector<uint8_t> rows(count * 2);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = random.Below(different) * 12345;
    rows[2 * i] = static_cast<uint8_t>(value);
    rows[2 * i + 1] = static_cast<uint8_t>(value >> 8);
  }
  return rows;
}

TEST(SegmentTables, EveryDistinctCodeIsThereOnce) {
  Random random(1);
  for (const uint64_t different : {1, 5, 300, 60000}) {
    const std::vector<uint8_t> rows = Rows(random, 1000, different);
    const SegmentTables tables = SegmentTables::Build(16, rows, OneThread());
    std::map<std::pair<uint8_t, uint8_t>, std::vector<uint32_t>> expected;
    for (uint32_t slot = 0; slot < 1000; ++slot)
      expected[{rows[2 * slot], rows[2 * slot + 1]}].push_back(slot);
    ASSERT_EQ(tables.index().size(), expected.size());
    for (uint32_t row = 0; row < tables.index().size(); ++row) {
      std::vector<uint32_t> slots;
      tables.ForEachSlot(row, [&](uint32_t slot) {
        slots.push_back(slot);
        return true;
      });
      const uint8_t* code = tables.code(slots[0]);
      EXPECT_EQ(slots, (expected[{code[0], code[1]}]));
    }
    // And the arrays make the same again.
    const SegmentTables again = SegmentTables::View(16, 1000, tables.parts(), OneThread());
    for (size_t slot = 0; slot < 1000; ++slot) ASSERT_EQ(again.code(slot)[1], rows[2 * slot + 1]);
  }
}

TEST(SegmentTables, RepetitionsThatDoNotFitAreCorrupt) {
  Random random(2);
  const SegmentTables tables = SegmentTables::Build(16, Rows(random, 50, 10), OneThread());
  const auto expect_corrupt = [&](const std::function<void(std::vector<RepeatedSlot>&)>& damage) {
    SegmentTables::Parts parts = tables.parts();
    std::vector<RepeatedSlot> repeated(parts.repeated.begin(), parts.repeated.end());
    damage(repeated);
    parts.repeated = repeated;
    ExpectError(ErrorCode::kCorrupt, {"repeated codes"},
                [&] { SegmentTables::View(16, 50, parts, OneThread()); });
  };
  expect_corrupt([](auto& repeated) { repeated.pop_back(); });
  expect_corrupt([](auto& repeated) { repeated.clear(); });
  expect_corrupt([](auto& repeated) { std::swap(repeated[0], repeated[1]); });
  expect_corrupt([](auto& repeated) { repeated.back().row = 1000; });
  expect_corrupt([](auto& repeated) { repeated.back().slot = 1000; });
  expect_corrupt([](auto& repeated) { repeated[1] = repeated[0]; });
  expect_corrupt([](auto& repeated) { repeated[0].slot = 0; });
}

}  // namespace
}  // namespace bitpool
