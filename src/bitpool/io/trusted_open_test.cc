#include "bitpool/io/trusted_open.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "bitpool/io/env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

constexpr uid_t kOwner = 4711, kStranger = 4712;  // of nobody

void WriteText(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

void Own(const fs::path& path, uid_t owner) { ASSERT_EQ(lchown(path.c_str(), owner, owner), 0); }

std::string ReadTrusted(const fs::path& path) {
  const int file = OpenTrusted(path);
  std::string text(100, ' ');
  text.resize(static_cast<size_t>(read(file, text.data(), text.size())));
  close(file);
  return text;
}

TEST(OpenTrusted, FollowsLinksOfWhoRunsTheProgram) {
  const TempFolder folder;
  WriteText(folder / "a/file", "text");
  fs::create_symlink("file", folder / "a/link");
  fs::create_symlink(folder / "a", folder / "b");
  fs::create_symlink("../a/../a/link", folder / "a/round");
  EXPECT_EQ(ReadTrusted(folder / "a/file"), "text");
  EXPECT_EQ(ReadTrusted(folder / "a/link"), "text");
  EXPECT_EQ(ReadTrusted(folder / "b/link"), "text");
  EXPECT_EQ(ReadTrusted(folder / "b/../a/round"), "text");
  fs::create_symlink("loop", folder / "loop");
  testing::ExpectError(ErrorCode::kIo, {"loop"}, [&] { OpenTrusted(folder / "loop"); });
  testing::ExpectError(ErrorCode::kNotFound, {"none"}, [&] { OpenTrusted(folder / "none"); });
  fs::create_symlink("none", folder / "nowhere");
  testing::ExpectError(ErrorCode::kNotFound, {"nowhere"}, [&] { OpenTrusted(folder / "nowhere"); });
}

TEST(OpenTrusted, RefusesWhatIsNoFileWithoutWaiting) {
  const TempFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0666), 0);
  fs::create_symlink("pipe", folder / "link");
  for (const char* name : {"pipe", "link", ""}) {
    testing::ExpectError(ErrorCode::kInvalidArgument, {"regular file"},
                         [&] { OpenTrusted(folder / name); });
  }
}

class StrangersLinks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root gives files to others";
    WriteText(folder / "private/key", "secret");
    fs::create_directory(folder / "shared");
  }
  // The stranger puts a link into the shared folder.
  fs::path Link(const fs::path& target, const std::string& name) {
    fs::path link = folder / "shared" / name;
    fs::create_symlink(target, link);
    Own(link, kStranger);
    return link;
  }
  static void ExpectRefused(const fs::path& path) {
    testing::ExpectError(ErrorCode::kIo, {"belongs to another user"}, [&] { OpenTrusted(path); });
    testing::ExpectError(ErrorCode::kIo, {path.string()}, [&] { Env::Posix().Read(path, 100); });
  }

  TempFolder folder;
};

TEST_F(StrangersLinks, LeadToNoFileOfAnother) {
  ExpectRefused(Link(folder / "private/key", "photo.jpg"));
  ExpectRefused(Link("../private/key", "relative.jpg"));
  ExpectRefused(Link(folder / "private", "album") / "key");
  // By a detour over a link of ours.
  fs::create_symlink(folder / "private", folder / "ours");
  ExpectRefused(Link(folder / "ours/key", "detour.jpg"));
  fs::create_symlink(folder / "shared/photo.jpg", folder / "to_theirs");
  ExpectRefused(folder / "to_theirs");
}

TEST_F(StrangersLinks, LeadToTheirOwnFiles) {
  Own(folder / "private/key", kStranger);
  EXPECT_EQ(ReadTrusted(Link(folder / "private/key", "photo.jpg")), "secret");
  Own(folder / "private/key", kOwner);
  ExpectRefused(folder / "shared/photo.jpg");
}

}  // namespace
}  // namespace bitpool
