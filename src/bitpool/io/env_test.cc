#include "bitpool/io/env.h"

#include <sys/stat.h>

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

INSTANTIATE_TEST_SUITE_P(Temporaries, EnvTest, ::testing::Values(true, false));

}  // namespace
}  // namespace bitpool
