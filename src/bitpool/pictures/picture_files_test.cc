#include "bitpool/pictures/picture_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExpectError;
using testing::TempFolder;
using testing::WriteText;

std::vector<std::string> Paths(const std::vector<FoundPicture>& pictures) {
  std::vector<std::string> paths;
  for (const FoundPicture& picture : pictures) paths.push_back(picture.path);
  return paths;
}

TEST(PictureFiles, FindsByNameInAllFoldersSortedByBytes) {
  const TempFolder folder;
  for (const char* name : {"b.jpg", "B.JPG", "a/z.PnG", "a.webp", "a/deep/er/x.heic", "c.tiff",
                           "c.tif", "d.gif", "e.jpe", "f.jpeg", "g.heif", "h.avif", "\xff\xfe.jpg",
                           "ä.jpg", "notes.txt", "jpg", "x.jpg.bak", ".hidden/in.jpg"}) {
    WriteText(folder / name, "12345");
  }
  fs::create_directories(folder / "folder.jpg");
  WriteText(folder / "folder.jpg/inside.jpg", "1");
  const auto found = FindPictures(Env::Posix(), folder.path(), RunContext());
  EXPECT_THAT(Paths(found),
              ElementsAre("B.JPG", "a.webp", "a/deep/er/x.heic", "a/z.PnG", "b.jpg", "c.tif",
                          "c.tiff", "d.gif", "e.jpe", "f.jpeg", "folder.jpg/inside.jpg", "g.heif",
                          "h.avif", "ä.jpg", "\xff\xfe.jpg"));
  EXPECT_EQ(found[0].size, 5U);
}

TEST(PictureFiles, FoldersOfLibrariesArePassedOver) {
  const TempFolder folder;
  for (const char* name :
       {"a.jpg", "library/catalogue.sqlite", "library/thumbnails/0/1.jpg", "in/shared/library-id",
        "in/shared/thumbnails/0/1.jpg", "in/b.jpg", "other/catalogue.sqlite/c.jpg"}) {
    WriteText(folder / name, "12345");
  }
  EXPECT_THAT(Paths(FindPictures(Env::Posix(), folder.path(), RunContext())),
              ElementsAre("a.jpg", "in/b.jpg", "other/catalogue.sqlite/c.jpg"));
  EXPECT_THAT(Paths(FindPictures(Env::Posix(), folder / "library", RunContext())),
              ElementsAre("thumbnails/0/1.jpg"));
}

TEST(PictureFiles, TellsTheTimeToTheNanosecond) {
  const TempFolder folder;
  WriteText(folder / "a.jpg", "1");
  const timespec times[2] = {{.tv_sec = 5, .tv_nsec = 6},
                             {.tv_sec = 1'600'000'000, .tv_nsec = 123'456'789}};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder / "a.jpg").c_str(), times, 0), 0);
  EXPECT_EQ(FindPictures(Env::Posix(), folder.path(), RunContext()).at(0).mtime_ns,
            1'600'000'000'123'456'789);
}

TEST(PictureFiles, FollowsLinksToFilesButNotToFolders) {
  const TempFolder folder, outside;
  WriteText(outside / "there.jpg", "123");
  WriteText(folder / "in/a.jpg", "1");
  fs::create_symlink(outside / "there.jpg", folder / "link.jpg");
  fs::create_directory_symlink(folder.path(), folder / "in/circle");
  fs::create_directory_symlink(outside.path(), folder / "other.jpg");
  fs::create_symlink(folder / "nowhere.jpg", folder / "broken.jpg");
  ASSERT_EQ(mkfifo((folder / "pipe.jpg").c_str(), 0600), 0);
  std::vector<FailedPicture> unreadable;
  const auto found = FindPictures(Env::Posix(), folder.path(), RunContext(), &unreadable);
  EXPECT_THAT(Paths(found), ElementsAre("in/a.jpg", "link.jpg"));
  EXPECT_EQ(found[1].size, 3U);
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].path, folder / "broken.jpg");
}

TEST(PictureFiles, GoesOnBehindAFolderThatCannotBeListed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may list everything";
  const TempFolder folder;
  WriteText(folder / "shut/a.jpg", "1");
  WriteText(folder / "z.jpg", "1");
  fs::permissions(folder / "shut", fs::perms::none);
  std::vector<FailedPicture> unreadable;
  EXPECT_THAT(Paths(FindPictures(Env::Posix(), folder.path(), RunContext(), &unreadable)),
              ElementsAre("z.jpg"));
  fs::permissions(folder / "shut", fs::perms::owner_all);
  ASSERT_EQ(unreadable.size(), 1U);
  EXPECT_EQ(unreadable[0].path, folder / "shut");
}

// The same where the tests run as root: a name that is too long to open.
TEST(PictureFiles, GoesOnBehindAPathThatIsTooLong) {
  const TempFolder folder;
  WriteText(folder / "z.jpg", "1");
  const std::string name(200, 'd');
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  for (int depth = 0; depth < 25; ++depth) {
    ASSERT_EQ(mkdir(name.c_str(), 0700), 0);
    fs::current_path(name);
  }
  fs::current_path(before);
  std::vector<FailedPicture> unreadable;
  EXPECT_THAT(Paths(FindPictures(Env::Posix(), folder.path(), RunContext(), &unreadable)),
              ElementsAre("z.jpg"));
  EXPECT_EQ(unreadable.size(), 1U);
}

TEST(PictureFiles, SaysWhatIsNoFolder) {
  const TempFolder folder;
  WriteText(folder / "a.jpg", "1");
  ExpectError(ErrorCode::kNotFound, {"nothing"},
              [&] { FindPictures(Env::Posix(), folder / "nothing", RunContext()); });
  ExpectError(ErrorCode::kInvalidArgument, {"a.jpg", "folder"},
              [&] { FindPictures(Env::Posix(), folder / "a.jpg", RunContext()); });
  EXPECT_TRUE(FindPictures(Env::Posix(), folder.path() / ".", RunContext()).size() == 1);
}

TEST(PictureFiles, StopsWhenAsked) {
  const TempFolder folder;
  std::stop_source stop;
  stop.request_stop();
  const RunContext context({.stop = stop.get_token()});
  ExpectError(ErrorCode::kCancelled, {},
              [&] { FindPictures(Env::Posix(), folder.path(), context); });
}

TEST(PictureFiles, AnyFailureOfAFileOperationIsToldOrThrown) {
  const TempFolder folder;
  WriteText(folder / "a.jpg", "a");
  WriteText(folder / "sub/b.jpg", "b");
  // In order: the folder is looked up and listed, a.jpg is looked up, sub is listed, b.jpg is
  // looked up.
  for (int failing = 1; failing <= 5; ++failing) {
    testing::FaultyEnv env(failing);
    std::vector<FailedPicture> unreadable;
    if (failing <= 2) {
      ExpectError(ErrorCode::kIo, {"injected"},
                  [&] { FindPictures(env, folder.path(), RunContext(), &unreadable); });
      continue;
    }
    EXPECT_EQ(FindPictures(env, folder.path(), RunContext(), &unreadable).size(), 1U) << failing;
    ASSERT_EQ(unreadable.size(), 1U) << failing;
    const std::array<const char*, 3> names = {"a.jpg", "sub", "sub/b.jpg"};
    EXPECT_EQ(unreadable[0].path, folder / names.at(static_cast<size_t>(failing - 3)));
  }
}

TEST(PictureFiles, KeepsThePathApartFromTheReason) {
  const TempFolder folder;
  const std::string path = (folder / "b.jpg").string();
  try {
    Env::Posix().Read(path, 9);
    FAIL() << "a missing file was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.context(), std::vector<std::string>{path});
    EXPECT_EQ(error.reason(), "cannot open: No such file or directory");
  }
}

}  // namespace
}  // namespace bitpool
