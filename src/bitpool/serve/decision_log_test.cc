#include "bitpool/serve/decision_log.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;

// The file of a decision tells where its pictures went: a new decision must not take its place,
// also when it cannot be read at the moment.
TEST(DecisionLog, ANumberIsNeverGivenTwice) {
  const TempFolder folder;
  Env& env = Env::Posix();
  const auto add = [&] {
    DecisionLog log(env, folder.path());
    return log.Add({.action = "not_duplicates"}, /*move=*/false, {.root = folder.path()}).number;
  };
  EXPECT_EQ(add(), 1U);
  EXPECT_EQ(add(), 2U);
  const std::filesystem::path last = folder / "decisions/000002.json";
  WriteFile(env, last, ToBytes("cannot be read"), IfExists::kReplace);
  EXPECT_EQ(add(), 3U);
  EXPECT_EQ(ToString(env.Map(last)->bytes()), "cannot be read");
  const DecisionLog log(env, folder.path());
  EXPECT_EQ(log.List().size(), 2U);
}

// Two copies of a picture in a library, and what is outside of it.
class MovingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(roots.root);
    for (const char* path : {"a.jpg", "b.jpg"}) Write(roots.root / path);
  }
  void Write(const std::filesystem::path& file) const {
    WriteFile(env, file, ToBytes("copy"), IfExists::kReplace);
  }
  ServedDecision Keep(const std::string& kept, const std::string& gone) {
    return log.Add({.action = "keep",
                    .groups = 1,
                    .kept = {{.path = kept, .size = 4}},
                    .gone = {{.path = gone, .size = 4}},
                    .keeper = {0}},
                   /*move=*/true, roots);
  }
  bool IsThere(const std::string& path) { return env.Exists(folder / path); }
  // Nothing went, for this reason.
  void ExpectRefused(const ServedDecision& decision, const std::string& words) {
    ASSERT_EQ(decision.failures.size(), 1U) << words;
    EXPECT_EQ(decision.failures[0].first, decision.gone[0].path);
    EXPECT_NE(decision.failures[0].second.find(words), std::string::npos)
        << decision.failures[0].second;
  }

  Env& env = Env::Posix();
  const TempFolder folder;
  PictureRoots roots{.root = folder / "pictures"};
  DecisionLog log{env, folder / "library"};
};

TEST_F(MovingTest, ACopyGoesOnlyWhereTheOneToKeepIsThere) {
  EXPECT_TRUE(Keep("a.jpg", "b.jpg").failures.empty());
  EXPECT_TRUE(IsThere("library/trash/000001/b.jpg"));
  // As asked by someone who has not seen that yet.
  ExpectRefused(Keep("b.jpg", "a.jpg"), "the copy to keep is not there");
  EXPECT_TRUE(IsThere("pictures/a.jpg"));
}

TEST_F(MovingTest, ACopyThatWasChangedIsNotTheOneToKeep) {
  WriteFile(env, roots.root / "a.jpg", ToBytes("something else"), IfExists::kReplace);
  ExpectRefused(Keep("a.jpg", "b.jpg"), "the copy to keep was changed");
  ExpectRefused(Keep("b.jpg", "a.jpg"), "the file was changed");
  EXPECT_TRUE(IsThere("pictures/a.jpg") && IsThere("pictures/b.jpg"));
}

TEST_F(MovingTest, LinksAreNeitherKeptNorMoved) {
  std::filesystem::remove(roots.root / "a.jpg");
  std::filesystem::create_symlink("b.jpg", roots.root / "a.jpg");
  ExpectRefused(Keep("a.jpg", "b.jpg"), "the copy to keep is a link");
  ExpectRefused(Keep("b.jpg", "a.jpg"), "the file is a link");
  std::filesystem::create_directory_symlink(".", roots.root / "again");
  ExpectRefused(Keep("again/b.jpg", "b.jpg"), "the file is the copy to keep");
  EXPECT_TRUE(IsThere("pictures/b.jpg"));
}

TEST_F(MovingTest, FoldersAreNotMoved) {
  std::filesystem::create_directory(roots.root / "folder.jpg");
  ExpectRefused(Keep("a.jpg", "folder.jpg"), "not a regular file");
  ExpectRefused(Keep("folder.jpg", "a.jpg"), "not a regular file");
}

TEST_F(MovingTest, APictureThatLeftTheTrashCannotComeBack) {
  const uint64_t number = Keep("a.jpg", "b.jpg").number;
  std::filesystem::remove(folder / "library/trash/000001/b.jpg");
  ExpectRefused(log.Undo(number, roots), "no longer in the trash");
}

// What a forged catalogue, or a forged file of a decision, could name.
TEST_F(MovingTest, NothingIsMovedOutOfTheLibraryOrIntoIt) {
  const std::string absolute = (folder / "outside.jpg").string();
  for (const std::string& path : {absolute, std::string("../outside.jpg")}) {
    Write(absolute);
    const ServedDecision decision = Keep("a.jpg", path);
    ExpectRefused(decision, "leads out");
    EXPECT_TRUE(IsThere("outside.jpg"));
    ExpectRefused(Keep(path, "b.jpg"), "leads out");
    std::filesystem::remove(absolute);
    const std::filesystem::path trashed = folder / "library/trash" /
                                          fmt::format("{:06}", decision.number) /
                                          std::filesystem::path(path).relative_path();
    std::filesystem::create_directories(trashed.parent_path());
    Write(trashed);
    const ServedDecision undone = log.Undo(decision.number, roots);
    ExpectRefused(undone, "leads out");
    EXPECT_FALSE(undone.undone);
    EXPECT_FALSE(IsThere("outside.jpg"));
    std::filesystem::remove(trashed);  // what never went need not come back
    EXPECT_TRUE(log.Undo(decision.number, roots).undone);
  }
}

TEST_F(MovingTest, PicturesOfFurtherFoldersGoAndComeBack) {
  roots.further = {(folder / "more").string()};
  std::filesystem::create_directories(roots.further[0]);
  const std::string path = roots.further[0] + "/c.jpg";
  Write(path);
  const ServedDecision decision = Keep("a.jpg", path);
  EXPECT_TRUE(decision.failures.empty());
  EXPECT_FALSE(IsThere("more/c.jpg"));
  EXPECT_TRUE(log.Undo(decision.number, roots).undone);
  EXPECT_TRUE(IsThere("more/c.jpg"));
}

}  // namespace
}  // namespace bitpool
