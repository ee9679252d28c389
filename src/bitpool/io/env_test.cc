#include "bitpool/io/env.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;

// Both ways of making temporaries: without a name on disk, and with one for file systems that need
// it.
class EnvTest : public ::testing::TestWithParam<bool> {
 protected:
  const std::unique_ptr<Env> env_ = MakePosixEnv(GetParam());
  const TempFolder folder_;
};

TEST_P(EnvTest, WritesNamesAndMaps) {
  const auto file = env_->CreateTemporary(folder_.path());
  file->Append(ToBytes("hello "));
  file->Append(ToBytes("world"));
  file->WriteAt(0, ToBytes("J"));
  file->Sync();
  file->LinkAs(folder_ / "a");
  env_->SyncFolder(folder_.path());
  EXPECT_EQ(ToString(env_->Map(folder_ / "a")->bytes()), "Jello world");
  EXPECT_EQ(env_->List(folder_.path()), std::vector<std::string>{"a"});
}

TEST_P(EnvTest, DroppedTemporaryLeavesNothing) {
  { env_->CreateTemporary(folder_.path())->Append(ToBytes("hello")); }
  EXPECT_TRUE(env_->List(folder_.path()).empty());
}

TEST_P(EnvTest, LinkAsDoesNotReplace) {
  env_->CreateTemporary(folder_.path())->LinkAs(folder_ / "a");
  const auto file = env_->CreateTemporary(folder_.path());
  ExpectError(ErrorCode::kInvalidArgument, {"/a", "exists"}, [&] { file->LinkAs(folder_ / "a"); });
}

TEST_P(EnvTest, RenameReplacesAndRemoveRemoves) {
  env_->CreateTemporary(folder_.path())->LinkAs(folder_ / "a");
  const auto file = env_->CreateTemporary(folder_.path());
  file->Append(ToBytes("new"));
  file->LinkAs(folder_ / "b");
  env_->Rename(folder_ / "b", folder_ / "a");
  EXPECT_EQ(ToString(env_->Map(folder_ / "a")->bytes()), "new");
  env_->Remove(folder_ / "a");
  EXPECT_FALSE(env_->Exists(folder_ / "a"));
}

TEST_P(EnvTest, ErrorsNameTheFileAndTheReason) {
  ExpectError(ErrorCode::kNotFound, {"missing", "No such file"},
              [&] { env_->Map(folder_ / "missing"); });
  ExpectError(ErrorCode::kNotFound, {"missing"},
              [&] { env_->CreateTemporary(folder_ / "missing"); });
  ExpectError(ErrorCode::kNotFound, {"missing"},
              [&] { env_->Rename(folder_ / "missing", folder_ / "missing2"); });
  ExpectError(ErrorCode::kNotFound, {"missing"}, [&] { env_->Remove(folder_ / "missing"); });
  ExpectError(ErrorCode::kNotFound, {"missing"}, [&] { env_->List(folder_ / "missing"); });
  ExpectError(ErrorCode::kInvalidArgument, {"regular file"}, [&] { env_->Map(folder_.path()); });
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  ExpectError(ErrorCode::kInvalidArgument, {"pipe", "regular file"},
              [&] { env_->Map(folder_ / "pipe"); });
}

TEST_P(EnvTest, EmptyFilesMapToNothing) {
  env_->CreateTemporary(folder_.path())->LinkAs(folder_ / "empty");
  EXPECT_TRUE(env_->Map(folder_ / "empty")->bytes().empty());
}

TEST_P(EnvTest, FoldersAreMadeWithTheirParents) {
  env_->MakeFolders(folder_ / "x/y/z");
  EXPECT_TRUE(env_->IsFolder(folder_ / "x/y/z"));
  EXPECT_FALSE(env_->IsFolder(folder_ / "x/q"));
}

TEST_P(EnvTest, ReadsWithinTheLimit) {
  const auto write = [&](const char* name, const char* text) {
    const auto file = env_->CreateTemporary(folder_.path());
    file->Append(ToBytes(text));
    file->LinkAs(folder_ / name);
  };
  write("a", "0123456789");
  write("empty", "");
  EXPECT_EQ(ToString(env_->Read(folder_ / "a", 10)), "0123456789");
  EXPECT_TRUE(env_->Read(folder_ / "empty", 0).empty());
  ExpectError(ErrorCode::kResources, {"/a", "10 bytes", "the limit is 9"},
              [&] { env_->Read(folder_ / "a", 9); });
  ExpectError(ErrorCode::kNotFound, {"/b"}, [&] { env_->Read(folder_ / "b", 9); });
  ExpectError(ErrorCode::kInvalidArgument, {"regular"}, [&] { env_->Read(folder_.path(), 9); });
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  ExpectError(ErrorCode::kInvalidArgument, {"pipe", "regular"},
              [&] { env_->Read(folder_ / "pipe", 9); });
}

TEST_P(EnvTest, TellsKindsSizesAndTimes) {
  env_->MakeFolders(folder_ / "folder");
  const auto file = env_->CreateTemporary(folder_.path());
  file->Append(ToBytes("12345"));
  file->LinkAs(folder_ / "file");
  ASSERT_EQ(symlink("file", (folder_ / "link").c_str()), 0);
  ASSERT_EQ(symlink("nowhere", (folder_ / "lost").c_str()), 0);
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  const struct timespec times[2] = {{.tv_sec = 1, .tv_nsec = 2},
                                    {.tv_sec = 1'600'000'000, .tv_nsec = 123'456'789}};
  ASSERT_EQ(utimensat(AT_FDCWD, (folder_ / "file").c_str(), times, 0), 0);
  std::string listed;
  for (const FolderEntry& entry : env_->ListEntries(folder_.path())) {
    listed += entry.name + " " + std::to_string(static_cast<int>(entry.kind)) + "\n";
  }
  EXPECT_EQ(listed, "file 0\nfolder 1\nlink 2\nlost 2\npipe 3\n");
  for (const char* name : {"file", "link"}) {
    const FileStatus status = env_->Status(folder_ / name);
    EXPECT_EQ(status.kind, FileKind::kFile);
    EXPECT_EQ(status.size, 5U);
    EXPECT_EQ(status.modified_ns, 1'600'000'000'123'456'789);
  }
  EXPECT_EQ(env_->Status(folder_ / "folder").kind, FileKind::kFolder);
  EXPECT_EQ(env_->Status(folder_ / "pipe").kind, FileKind::kOther);
  ExpectError(ErrorCode::kNotFound, {"/lost"}, [&] { env_->Status(folder_ / "lost"); });
}

TEST_P(EnvTest, RemovesFoldersAndWhatIsInThem) {
  env_->MakeFolders(folder_ / "a/b/c");
  env_->MakeFolders(folder_ / "other");
  env_->CreateTemporary(folder_ / "a/b")->LinkAs(folder_ / "a/b/file");
  env_->CreateTemporary(folder_ / "other")->LinkAs(folder_ / "other/kept");
  ASSERT_EQ(symlink("../other", (folder_ / "a/link").c_str()), 0);
  ExpectError(ErrorCode::kIo, {"/a"}, [&] { env_->RemoveFolder(folder_ / "a"); });
  RemoveTree(*env_, folder_ / "a");
  RemoveTree(*env_, folder_ / "a");  // it is no longer there
  ASSERT_EQ(symlink("other", (folder_ / "link").c_str()), 0);
  RemoveTree(*env_, folder_ / "link");
  EXPECT_EQ(env_->List(folder_.path()), std::vector<std::string>{"other"});
  EXPECT_EQ(env_->List(folder_ / "other"), std::vector<std::string>{"kept"});
  env_->Remove(folder_ / "other/kept");
  env_->RemoveFolder(folder_ / "other");
  EXPECT_TRUE(env_->List(folder_.path()).empty());
}

TEST_P(EnvTest, LocksOnce) {
  const auto lock = env_->TryLock(folder_ / "lock");
  EXPECT_TRUE(lock);
  EXPECT_FALSE(env_->TryLock(folder_ / "lock"));
}

INSTANTIATE_TEST_SUITE_P(Temporaries, EnvTest, ::testing::Values(true, false));

}  // namespace
}  // namespace bitpool
