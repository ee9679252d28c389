#include "bitpool/dataset/holidays.h"

#include <cstdlib>

#include "bitpool/io/env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

TEST(Holidays, GroupsByNumber) {
  // 1001: a query with two answers; 1002: answers without a query; 1003: a query alone.
  const RetrievalTask task =
      MakeHolidaysTask({"x/100102.jpg", "100201.jpg", "100100.jpg", "100300.jpg", "100101.jpg"});
  ASSERT_EQ(task.queries.size(), 1U);
  EXPECT_EQ(task.queries[0].name, "100100.jpg");
  EXPECT_EQ(task.queries[0].picture, 2);
  std::vector<Judgement> judged(5);
  task.truth.Judge(0, judged);
  EXPECT_EQ(judged, (std::vector<Judgement>{Judgement::kRelevant, Judgement::kIrrelevant,
                                            Judgement::kIgnored, Judgement::kIrrelevant,
                                            Judgement::kRelevant}));
}

TEST(Holidays, RejectsOtherNames) {
  ExpectError(ErrorCode::kInvalidArgument, {"\"cat.jpg\""}, [] { MakeHolidaysTask({"cat.jpg"}); });
  ExpectError(ErrorCode::kInvalidArgument, {"\"100x.jpg\""},
              [] { MakeHolidaysTask({"100x.jpg"}); });
  ExpectError(ErrorCode::kInvalidArgument, {"twice"}, [] {
    MakeHolidaysTask({"1.jpg", "a/1.png"});
  });
}

TEST(Holidays, TheRealPictures) {
  const std::filesystem::path folder =
      std::filesystem::path(BITPOOL_SOURCE_DIR) / "../shared/data/holidays";
  if (!Env::Posix().IsFolder(folder)) GTEST_SKIP() << "the Holidays pictures are not at hand";
  std::vector<std::string> names;
  for (const std::string& name : Env::Posix().List(folder)) {
    if (name.ends_with(".jpg")) names.push_back(name);
  }
  EXPECT_EQ(names.size(), 805U);
  EXPECT_EQ(MakeHolidaysTask(names).queries.size(), 295U);
}

}  // namespace
}  // namespace bitpool
