#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/testing.h"

// Numbers at the ends of their ranges.
namespace bitpool {
namespace {

using testing::ExpectError;

// Three codes of 8 bits, under their ids.
std::unique_ptr<CodeIndex> ThreeCodes(IndexKind kind) {
  auto index = std::make_unique<CodeIndex>(IndexOptions{.bits = 8, .kind = kind});
  index->Add(BinaryCodes(8, {0x00, 0x01, 0x03}), std::vector<int64_t>{5, 6, 7});
  return index;
}

class IndexLimits : public ::testing::TestWithParam<IndexKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, IndexLimits,
                         ::testing::Values(IndexKind::kFlat, IndexKind::kMultiIndex));

// The product of k and the queries must not wrap around to a small number.
TEST_P(IndexLimits, MoreAnswersThanMemoryAreRefused) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "with a sanitizer, what is too much to be had ends the process";
#endif
  const auto index = ThreeCodes(GetParam());
  const BinaryCodes queries(8, {1, 2, 3, 4});
  const MatrixF weights = MatrixF::Ones(8, 4);
  for (const int64_t k : {int64_t{1} << 48, int64_t{1} << 61, int64_t{1} << 62, INT64_MAX}) {
    ExpectError(ErrorCode::kResources, {std::to_string(k), "4 queries"},
                [&] { index->Search(queries, k, OneThread()); });
    ExpectError(ErrorCode::kResources, {std::to_string(k), "4 queries"},
                [&] { index->SearchReal(weights, k, {}, OneThread()); });
  }
  ExpectError(ErrorCode::kInvalidArgument, {"k = -1"},
              [&] { index->Search(queries, -1, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"k = -1"},
              [&] { index->SearchReal(weights, -1, {}, OneThread()); });
}

TEST_P(IndexLimits, ALargerKThanThereAreCodesIsPadded) {
  const auto index = ThreeCodes(GetParam());
  const int64_t k = 100'000;
  const SearchResult found = index->Search(BinaryCodes(8, {0x01}), k, OneThread());
  ASSERT_EQ(found.neighbours.size(), static_cast<size_t>(k));
  EXPECT_EQ(found.neighbours[0], (Neighbour{.id = 6, .distance = 0}));
  EXPECT_EQ(found.neighbours[1], (Neighbour{.id = 5, .distance = 1}));
  EXPECT_EQ(found.neighbours[2], (Neighbour{.id = 7, .distance = 1}));
  EXPECT_TRUE(std::all_of(found.neighbours.begin() + 3, found.neighbours.end(),
                          [](const Neighbour& near) { return near == Neighbour(); }));
  for (const RealSearch how : {RealSearch::kExact, RealSearch::kTwoStage}) {
    const RealSearchResult real = index->SearchReal(
        MatrixF::Ones(8, 1), k, {.how = how, .candidates = INT64_MAX}, OneThread());
    ASSERT_EQ(real.neighbours.size(), static_cast<size_t>(k));
    EXPECT_EQ(real.neighbours[0].id, 7);
    EXPECT_EQ(real.neighbours[2].id, 5);
    EXPECT_EQ(real.neighbours[3].id, -1);
  }
}

TEST_P(IndexLimits, RadiiBeyondTheBitsFindAll) {
  const auto index = ThreeCodes(GetParam());
  EXPECT_EQ(index->RangeSearch(BinaryCodes(8, {0xff}), INT32_MAX, OneThread())[0].size(), 3U);
  ExpectError(ErrorCode::kInvalidArgument, {"radius -1"},
              [&] { index->RangeSearch(BinaryCodes(8, {0xff}), -1, OneThread()); });
}

TEST(IndexIds, TheLargestIdIsSavedAndOpened) {
  const testing::TempFolder folder;
  CodeIndex index({.bits = 8});
  index.Add(BinaryCodes(8, {1}), std::vector<int64_t>{kMaxId});
  for (const int64_t id : {INT64_MAX, int64_t{-1}, INT64_MIN}) {
    ExpectError(ErrorCode::kInvalidArgument, {std::to_string(id)}, [&] {
      index.Add(BinaryCodes(8, {1, 2}), std::vector<int64_t>{3, id});
    });
  }
  SaveIndex(Env::Posix(), folder / "a.bpi", index.Snapshot(), IfExists::kFail, INT64_MAX);
  const IndexFile file = IndexFile::Open(Env::Posix(), folder / "a.bpi");
  EXPECT_EQ(file.Load(true, OneThread())->max_id(), kMaxId);
  EXPECT_EQ(std::max(file.next_id(), kMaxId + 1), INT64_MAX);
}

TEST(IndexIds, AreCountedUpToTheLargest) {
  EXPECT_EQ(CountIds(7, 3), (std::vector<int64_t>{7, 8, 9}));
  EXPECT_EQ(CountIds(kMaxId - 1, 2), (std::vector<int64_t>{kMaxId - 1, kMaxId}));
  EXPECT_TRUE(CountIds(INT64_MAX, 0).empty());
  ExpectError(ErrorCode::kInvalidArgument, {"2 codes", "only 1"}, [] { CountIds(kMaxId, 2); });
  ExpectError(ErrorCode::kInvalidArgument, {"1 codes", "only 0"}, [] { CountIds(INT64_MAX, 1); });
}

}  // namespace
}  // namespace bitpool
