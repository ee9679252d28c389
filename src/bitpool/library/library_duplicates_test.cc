#include "bitpool/library/library_duplicates.h"

#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cstdlib>
#include <set>

#include "bitpool/base/random.h"
#include "bitpool/base/shown_text.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/library/move_script.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExpectError;
using testing::FakePicture;
using testing::PictureFolder;

// Groups of fake pictures, which have codes and nothing to look at.
std::vector<DuplicateGroup> FindByCodes(const LibrarySnapshot& library, int radius) {
  return FindDuplicates(library, {.radius = radius, .similar = true}, {}, RunContext());
}

std::vector<std::string> Paths(const DuplicateGroup& group) {
  std::vector<std::string> paths;
  for (const DuplicatePicture& member : group.pictures) paths.push_back(member.picture.path);
  return paths;
}

TEST(FindDuplicates, TheBestCopyComesFirst) {
  PictureFolder pictures;
  pictures.Write("small.jpg", FakePicture(0xFF00, 10, 10, "much text, a large file"));
  pictures.Write("large.jpg", FakePicture(0xFF01, 20, 30));
  pictures.Write("larger file.jpg", FakePicture(0xFF00, 30, 20, "."));
  pictures.Write("zz.jpg", FakePicture(0xFF03, 30, 20, "."));    // shorter path
  pictures.Write("aa.jpg", FakePicture(0xFF01, 20, 30, "."));    // first by its bytes
  pictures.Write("copy.jpg", FakePicture(0xFF03, 30, 20, "."));  // of zz
  pictures.Write("apart.jpg", FakePicture(0xFFFFFF, 900, 900));
  pictures.Update();
  const auto groups = FindByCodes(pictures.Open(), 1);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_THAT(Paths(groups[0]), ElementsAre("aa.jpg", "zz.jpg", "copy.jpg", "larger file.jpg",
                                            "large.jpg", "small.jpg"));
  std::vector<int> distances;
  std::vector<bool> copies;
  for (const DuplicatePicture& member : groups[0].pictures) {
    distances.push_back(member.distance);
    copies.push_back(member.evidence.same_file);
  }
  EXPECT_THAT(distances, ElementsAre(0, 1, 1, 1, 0, 1));
  EXPECT_THAT(copies, ElementsAre(false, false, true, false, false, false));
  EXPECT_EQ(groups[0].pictures[2].compared_with, 1U);
  EXPECT_EQ(groups[0].kind, DuplicateKind::kSimilar);
  EXPECT_EQ(groups[0].reason.rule, KeepRule::kPath);
}

TEST(PictureLibrary, OfSeveralThatAreNoDuplicatesEveryPairIsDecided) {
  PictureFolder pictures;
  for (uint64_t i = 0; i < 4; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Update();
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  std::vector<uint64_t> ids;
  for (int i = 0; i < 4; ++i) ids.push_back(library->IdOf(fmt::format("{}.jpg", i)));
  EXPECT_TRUE(library->DecideNotDuplicates(std::vector<uint64_t>{}).empty());
  EXPECT_TRUE(library->DecideNotDuplicates(std::vector{ids[0]}).empty());
  std::vector<Decision> decisions;
  std::set<std::set<std::string>> pairs;
  for (const NotedDecision& one : library->DecideNotDuplicates(ids)) {
    EXPECT_TRUE(one.is_new);
    decisions.push_back(one.decision);
    pairs.insert({one.decision.first.path, one.decision.second.path});
  }
  EXPECT_EQ(decisions.size(), 6U);
  EXPECT_EQ(pairs.size(), 6U);  // each once
  EXPECT_EQ(library->ListDecisions(), decisions);
  for (const NotedDecision& one : library->DecideNotDuplicates(ids)) EXPECT_FALSE(one.is_new);
  EXPECT_EQ(library->ListDecisions(), decisions);
}

TEST(PictureLibrary, OfPicturesThatCannotAllBeDecidedNoneIs) {
  PictureFolder pictures;
  pictures.Write("1.jpg", FakePicture(1));
  for (const char* copy : {"2.jpg", "3.jpg"}) pictures.Write(copy, FakePicture(2));
  pictures.Update();
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  std::vector<uint64_t> ids;
  for (int i = 1; i <= 3; ++i) ids.push_back(library->IdOf(fmt::format("{}.jpg", i)));
  testing::ExpectError(ErrorCode::kInvalidArgument, {"the same bytes"},
                       [&] { library->DecideNotDuplicates(ids); });
  ids[2] = 77;
  testing::ExpectError(ErrorCode::kNotFound, {"no picture 77"},
                       [&] { library->DecideNotDuplicates(ids); });
  testing::ExpectError(ErrorCode::kNotFound, {"no picture 77"},
                       [&] { library->DecideToKeep(ids); });
  EXPECT_TRUE(library->ListDecisions().empty());
}

// Compared with joining everything within the radius, pair by pair.
TEST(FindDuplicates, GroupsAreThoseOfAllPairs) {
  PictureFolder pictures;
  Random random(8);
  std::map<std::string, uint64_t> codes;
  for (int i = 0; i < 150; ++i) {
    const std::string path = fmt::format("{:03}.jpg", i);
    codes[path] = random.Below(12) * 0x0123456789ABCDEF ^ uint64_t { 1 } << random.Below(64) ^
                  uint64_t { 1 } << random.Below(64);
    pictures.Write(path, FakePicture(codes[path]));
  }
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  size_t found = 0;
  for (const int radius : {0, 1, 2, 4}) {
    std::map<std::string, std::set<std::string>> group_of;
    for (const auto& [path, code] : codes) group_of[path] = {path};
    for (const auto& [a, code_a] : codes) {
      for (const auto& [b, code_b] : codes) {
        if (std::popcount(code_a ^ code_b) > radius || group_of[a].contains(b)) continue;
        std::set<std::string> joined = group_of[a];
        joined.insert(group_of[b].begin(), group_of[b].end());
        for (const std::string& member : joined) group_of[member] = joined;
      }
    }
    std::set<std::set<std::string>> expected, actual;
    for (const auto& [path, group] : group_of) {
      if (group.size() > 1) expected.insert(group);
    }
    std::string last;
    for (const DuplicateGroup& group : FindByCodes(library, radius)) {
      const std::vector<std::string> paths = Paths(group);
      EXPECT_LT(last, paths[0]);  // by the path of the best
      last = paths[0];
      actual.insert({paths.begin(), paths.end()});
    }
    EXPECT_EQ(actual, expected) << radius;
    found += actual.size();
  }
  EXPECT_GT(found, 10U);
  ExpectError(ErrorCode::kInvalidArgument, {"radius"}, [&] { FindByCodes(library, -1); });
  ExpectError(ErrorCode::kInvalidArgument, {"radius", "at most 64"},
              [&] { FindByCodes(library, 65); });
  EXPECT_FALSE(FindByCodes(library, 64).empty());
}

// --- The script -------------------------------------------------------------------------------

// Runs a script in sh from the folder around the pictures; its exit status.
int RunScript(const PictureFolder& pictures, const std::string& script,
              const std::string& arguments) {
  std::ofstream(pictures.base() / "script.sh", std::ios::binary) << script;
  const std::string command =
      fmt::format("cd '{}' && sh script.sh {} >out 2>&1", pictures.base().string(), arguments);
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::set<std::string> FilesIn(const fs::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().lexically_relative(folder).string();
    if (!entry.is_directory() && !path.starts_with(".bitpool/")) files.insert(path);
  }
  return files;
}

TEST(DefaultRadii, GrowWithTheBits) {
  EXPECT_EQ(DefaultSimilarRadius(1), 0);
  EXPECT_EQ(DefaultSimilarRadius(16), 0);
  EXPECT_EQ(DefaultSimilarRadius(32), 2);
  EXPECT_EQ(DefaultSimilarRadius(64), 8);
  EXPECT_EQ(DefaultSimilarRadius(256), 32);
  EXPECT_EQ(DefaultDuplicateRadius(64, 2), 32);
  EXPECT_EQ(DefaultDuplicateRadius(32, 501), 6);
  EXPECT_EQ(DefaultDuplicateRadius(64, 100000), 20);
  for (int bits = 2; bits <= 512; ++bits) {
    EXPECT_GE(DefaultSimilarRadius(bits), DefaultSimilarRadius(bits - 1)) << bits;
    EXPECT_GE(DefaultDuplicateRadius(bits, 1000), DefaultDuplicateRadius(bits - 1, 1000)) << bits;
    EXPECT_GE(DefaultDuplicateRadius(bits, 1000), DefaultSimilarRadius(bits)) << bits;
  }
}

TEST(MoveScript, MovesOddNames) {
  PictureFolder pictures;
  const std::set<std::string> names = {"with space.jpg",
                                       "quote ' and \" and ''.jpg",
                                       "new\nline.jpg",
                                       "ends with newline\n",
                                       "emoji \xF0\x9F\x93\xB7.jpg",
                                       "\xFF\xFE not UTF-8 \xC3.jpg",
                                       "-rf.jpg",
                                       "$(touch x) `touch y` \\.jpg",
                                       "; touch z & *?|.jpg",
                                       "folder \n\xFF/-\" .jpg",
                                       "-n/--/-e",
                                       "\\n%s.jpg",
                                       "sub/folder\n/a.jpg",
                                       "~",
                                       "# comment"};
  for (const std::string& name : names) pictures.Write(name, FakePicture(7));
  pictures.Write("best.jpg", FakePicture(7, 1000, 1000));
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const auto groups = FindByCodes(library, 0);
  ASSERT_EQ(groups.size(), 1U);
  const std::string script = MoveScript(library.root(), groups);
  EXPECT_EQ(RunScript(pictures, script, "'aside'\\''s folder'"), 0);
  EXPECT_EQ(FilesIn(pictures.root()), std::set<std::string>{"best.jpg"});
  EXPECT_EQ(FilesIn(pictures.base() / "aside's folder"), names);
  EXPECT_EQ(testing::ToString(Env::Posix().Read(pictures.base() / "aside's folder/~", 1000)),
            FakePicture(7));
  EXPECT_FALSE(fs::exists(pictures.base() / "x"));
  EXPECT_EQ(RunScript(pictures, script, "again"), 1);  // nothing is there any more
}

TEST(MoveScript, ReplacesAndLosesNothing) {
  PictureFolder pictures;
  for (const char* name : {"1/best.jpg", "1/b.jpg", "1/c.jpg"}) {
    pictures.Write(name, FakePicture(0xFF, name[2] == 'b' && name[3] == 'e' ? 9 : 5));
  }
  for (const char* name : {"2/best.jpg", "2/b.jpg"}) {
    pictures.Write(name, FakePicture(0xFF0000, name[3] == 'e' ? 9 : 5));
  }
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const std::string script = MoveScript(library.root(), FindByCodes(library, 2));
  EXPECT_EQ(RunScript(pictures, script, ""), 2);
  EXPECT_EQ(RunScript(pictures, script, "''"), 2);
  EXPECT_EQ(RunScript(pictures, script, "a b"), 2);
  EXPECT_EQ(FilesIn(pictures.root()).size(), 5U);

  const fs::path aside = pictures.base() / "aside";
  fs::create_directories(aside / "1");
  std::ofstream(aside / "1/b.jpg") << "precious";
  pictures.Remove("2/best.jpg");
  EXPECT_EQ(RunScript(pictures, script, aside.string()), 1);
  EXPECT_EQ(FilesIn(pictures.root()), (std::set<std::string>{"1/b.jpg", "1/best.jpg", "2/b.jpg"}));
  EXPECT_EQ(FilesIn(aside), (std::set<std::string>{"1/b.jpg", "1/c.jpg"}));
  EXPECT_EQ(testing::ToString(Env::Posix().Read(aside / "1/b.jpg", 1000)), "precious");
}

// Names are any bytes, and a terminal obeys some.
TEST(MoveScript, PrintsNothingThatControlsATerminal) {
  PictureFolder pictures;
  const std::string name = "\x1B[2J\n\r\x07 \xC2\x9B.jpg";
  pictures.Write(name, FakePicture(7));
  pictures.Write("best.jpg", FakePicture(7, 1000, 1000));
  pictures.Update();
  const std::string script = MoveScript(pictures.Open().root(), FindByCodes(pictures.Open(), 0));
  EXPECT_EQ(RunScript(pictures, script, "aside"), 0);
  EXPECT_EQ(FilesIn(pictures.base() / "aside"), std::set<std::string>{name});
  pictures.Write(name, FakePicture(7));
  EXPECT_EQ(RunScript(pictures, script, "aside"), 1);  // there is one already
  EXPECT_EQ(testing::ToString(Env::Posix().Read(pictures.base() / "out", 1000)),
            fmt::format("left, there is one already in the folder: {}\n"
                        "0 moved, 1 left where they were\n",
                        ShownName("./" + name)));
}

// A link is moved before what it leads to, whatever their names are, and leads there again.
TEST(MoveScript, LinksDoNotDangle) {
  PictureFolder pictures;
  pictures.Write("best.jpg", FakePicture(7, 1000, 1000));
  pictures.Write("in/m.jpg", FakePicture(7));
  fs::create_symlink("m.jpg", pictures.root() / "in/a.jpg");
  fs::create_symlink("m.jpg", pictures.root() / "in/z.jpg");
  pictures.Update();
  const std::string script = MoveScript(pictures.Open().root(), FindByCodes(pictures.Open(), 0));
  EXPECT_EQ(RunScript(pictures, script, "aside"), 0);
  EXPECT_EQ(FilesIn(pictures.root()), std::set<std::string>{"best.jpg"});
  for (const char* name : {"in/a.jpg", "in/m.jpg", "in/z.jpg"}) {
    EXPECT_EQ(testing::ToString(Env::Posix().Read(pictures.base() / "aside" / name, 1000)),
              FakePicture(7));
  }
}

// A link and what it leads to look like two copies.
TEST(MoveScript, LeavesALinkThatIsToBeKept) {
  PictureFolder pictures;
  pictures.Write("the picture.jpg", FakePicture(1));
  fs::create_symlink("the picture.jpg", pictures.root() / "a.jpg");
  LibraryUpdate update = pictures.MakeUpdate();
  ASSERT_EQ(update.found.size(), 2U);
  pictures.Update(update, RunContext());
  const LibrarySnapshot library = pictures.Open();
  const auto groups = FindByCodes(library, 0);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].pictures[0].picture.path, "a.jpg");
  EXPECT_EQ(RunScript(pictures, MoveScript(library.root(), groups), "aside"), 1);
  EXPECT_TRUE(fs::exists(pictures.root() / "a.jpg"));
}

}  // namespace
}  // namespace bitpool
