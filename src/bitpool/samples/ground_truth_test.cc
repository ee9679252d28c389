#include "bitpool/samples/ground_truth.h"

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

}  // namespace
}  // namespace bitpool
