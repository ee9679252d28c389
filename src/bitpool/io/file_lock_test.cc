#include "bitpool/io/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(FileLock, OneHolderAtATime) {
  const TempFolder folder;
  {
    const std::optional<FileLock> first = FileLock::TryTake(folder / "lock");
    ASSERT_TRUE(first);
    EXPECT_FALSE(FileLock::TryTake(folder / "lock"));
    EXPECT_TRUE(FileLock::TryTake(folder / "other"));
  }
  EXPECT_TRUE(FileLock::TryTake(folder / "lock"));
}

TEST(FileLock, AKilledProcessLetsGo) {
  const TempFolder folder;
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const std::optional<FileLock> lock = FileLock::TryTake(folder / "lock");
    if (!lock || write(ends[1], "l", 1) != 1) _exit(1);
    while (true) pause();
  }
  char locked = 0;
  ASSERT_EQ(read(ends[0], &locked, 1), 1);
  EXPECT_FALSE(FileLock::TryTake(folder / "lock"));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(FileLock::TryTake(folder / "lock"));
  close(ends[0]);
  close(ends[1]);
}

TEST(FileLock, NamesTheFileThatCannotBe) {
  const TempFolder folder;
  ExpectError(ErrorCode::kNotFound, {"/missing/lock", "cannot lock"},
              [&] { FileLock::TryTake(folder / "missing/lock"); });
  ExpectError(ErrorCode::kIo, {"cannot lock"}, [&] { FileLock::TryTake(folder.path()); });
}

}  // namespace
}  // namespace bitpool
