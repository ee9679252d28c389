#include "bitpool/dataset/oxford.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

class OxfordTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    WriteFile(Env::Posix(), folder_ / name, testing::ToBytes(text), IfExists::kReplace);
  }
  void SetUp() override {
    Write("all_souls_1_query.txt", "oxc1_all_souls_000013 136.5 34.1 648.5 955.7\n");
    Write("all_souls_1_good.txt", "all_souls_000013\nall_souls_000026\n");
    Write("all_souls_1_ok.txt", "oxford_002917\n");
    Write("all_souls_1_junk.txt", "radcliffe_camera_000531\n");
    Write("README", "not a query");
  }
  RetrievalTask Load() { return LoadOxfordTask(Env::Posix(), folder_.path(), names_); }

  const TempFolder folder_;
  std::vector<std::string> names_ = {"radcliffe_camera_000531.jpg", "d/all_souls_000013.jpg",
                                     "all_souls_000026.jpg", "oxford_002917.jpg", "other.jpg"};
};

TEST_F(OxfordTest, ReadsQueriesBoxesAndAnswers) {
  const RetrievalTask task = Load();
  ASSERT_EQ(task.queries.size(), 1U);
  EXPECT_EQ(task.queries[0].name, "all_souls_1");
  EXPECT_EQ(task.queries[0].picture, 1);
  EXPECT_FLOAT_EQ(task.queries[0].box->left, 136.5F);
  EXPECT_FLOAT_EQ(task.queries[0].box->bottom, 955.7F);
  std::vector<Judgement> judged(5);
  task.truth.Judge(0, judged);
  EXPECT_EQ(judged,
            (std::vector<Judgement>{Judgement::kIgnored, Judgement::kRelevant, Judgement::kRelevant,
                                    Judgement::kRelevant, Judgement::kIrrelevant}));
}

TEST_F(OxfordTest, SaysWhatIsWrong) {
  Write("all_souls_1_query.txt", "oxc1_all_souls_000013 136.5 34.1 648.5\n");
  ExpectError(ErrorCode::kCorrupt, {"all_souls_1_query.txt", "4 words"}, [&] { Load(); });
  Write("all_souls_1_query.txt", "oxc1_all_souls_000013 136.5 34.1 x 955.7\n");
  ExpectError(ErrorCode::kCorrupt, {"\"x\""}, [&] { Load(); });
  for (const std::string number : {"inf", "-inf", "nan", "1e99"}) {
    Write("all_souls_1_query.txt", "oxc1_all_souls_000013 136.5 34.1 " + number + " 955.7\n");
    ExpectError(ErrorCode::kCorrupt, {"all_souls_1_query.txt", number}, [&] { Load(); });
  }
  Write("all_souls_1_query.txt", "oxc1_all_souls_000013 700 34.1 648.5 955.7\n");
  ExpectError(ErrorCode::kCorrupt, {"box is empty"}, [&] { Load(); });
  Write("all_souls_1_query.txt", "oxc1_nowhere 136.5 34.1 648.5 955.7\n");
  ExpectError(ErrorCode::kNotFound, {"\"nowhere\"", "not in the database"}, [&] { Load(); });
}

TEST_F(OxfordTest, APictureThatIsBothRightAndIgnoredIsNamedWithItsQuery) {
  Write("all_souls_1_junk.txt", "all_souls_000013\n");
  Write("all_souls_1_good.txt", "all_souls_000013\n");
  ExpectError(ErrorCode::kInvalidArgument, {"all_souls_1_query.txt"}, [&] { Load(); });
}

TEST_F(OxfordTest, MissingFilesAreNotFound) {
  Env::Posix().Remove(folder_ / "all_souls_1_ok.txt");
  ExpectError(ErrorCode::kNotFound, {"all_souls_1_ok.txt"}, [&] { Load(); });
  Env::Posix().Remove(folder_ / "all_souls_1_query.txt");
  ExpectError(ErrorCode::kNotFound, {"_query.txt"}, [&] { Load(); });
}

TEST_F(OxfordTest, ADatabaseWithTwoOfOneNameIsRefused) {
  names_.push_back("e/other.png");
  ExpectError(ErrorCode::kInvalidArgument, {"other.png", "twice"}, [&] { Load(); });
}

}  // namespace
}  // namespace bitpool
