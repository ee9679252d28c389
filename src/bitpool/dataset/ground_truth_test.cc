#include "bitpool/dataset/ground_truth.h"

#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

// One letter per item: '.' irrelevant, 'R' relevant, 'i' ignored.
std::string Judged(const GroundTruth& truth, Index query) {
  std::vector<Judgement> judgements(static_cast<size_t>(truth.database_size()),
                                    Judgement::kIgnored);
  truth.Judge(query, judgements);
  std::string text;
  for (const Judgement judgement : judgements) text += ".Ri"[static_cast<int>(judgement)];
  return text;
}

TEST(ListedTruth, JudgesEveryItem) {
  ListedTruth truth(5);
  truth.AddQuery({3, 1, 3}, {0});
  truth.AddQuery({});
  EXPECT_EQ(truth.query_count(), 2);
  EXPECT_EQ(Judged(truth, 0), "iR.R.");
  EXPECT_EQ(Judged(truth, 1), ".....");
  EXPECT_EQ(truth.relevant(0), (std::vector<Index>{1, 3}));
}

TEST(ListedTruth, RejectsItemsThatCannotBe) {
  ListedTruth truth(5);
  ExpectError(ErrorCode::kInvalidArgument, {"query 0", "item 5"}, [&] { truth.AddQuery({1, 5}); });
  ExpectError(ErrorCode::kInvalidArgument, {"item -1"}, [&] { truth.AddQuery({}, {-1}); });
  ExpectError(ErrorCode::kInvalidArgument, {"item 2 is relevant and ignored"},
              [&] { truth.AddQuery({2}, {2}); });
  EXPECT_EQ(truth.query_count(), 0);
}

TEST(LabelTruth, SharedClassesAreRelevant) {
  const LabelTruth truth(Labels::Multi({{1, 2}, {}}), Labels::Multi({{2}, {3}, {}, {1, 3}}));
  EXPECT_EQ(Judged(truth, 0), "R..R");
  EXPECT_EQ(Judged(truth, 1), "....");
}

TEST(LoadNeighbours, ReadsRowsAndIgnoresPadding) {
  const testing::TempFolder folder;
  const auto writer =
      CreateSamples(Env::Posix(), folder / "t.ivecs", DType::kI4, {2}, IfExists::kFail);
  const std::vector<int32_t> rows = {2, 0, 1, -1};
  writer->Append<int32_t>(rows);
  writer->Commit();
  const ListedTruth truth = LoadNeighbours(Env::Posix(), folder / "t.ivecs", 3);
  EXPECT_EQ(Judged(truth, 0), "R.R");
  EXPECT_EQ(Judged(truth, 1), ".R.");
  ExpectError(ErrorCode::kInvalidArgument, {"t.ivecs", "item 2", "has 2"},
              [&] { LoadNeighbours(Env::Posix(), folder / "t.ivecs", 2); });
}

}  // namespace
}  // namespace bitpool
