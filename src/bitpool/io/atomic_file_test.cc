#include "bitpool/io/atomic_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <optional>
#include <set>

#include "bitpool/base/random.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::FaultyEnv;
using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;

std::string Content(const std::filesystem::path& path) {
  return ToString(Env::Posix().Map(path)->bytes());
}

// A save with every kind of operation: buffered and large appends, and a late write to the front.
void Save(Env& env, const std::filesystem::path& path, char letter, IfExists if_exists) {
  AtomicFile file(env, path, if_exists);
  file.Append(ToBytes("?"));
  file.Append(ToBytes(std::string(1000, letter)));
  file.Append(ToBytes(std::string(400000, letter)));
  file.Append(ToBytes("end"));
  file.WriteAt(0, ToBytes(std::string(1, letter)));
  file.Commit();
}

std::string Saved(char letter) { return std::string(401001, letter).append("end"); }

TEST(AtomicFile, AppearsOnCommitOnly) {
  const TempFolder folder;
  {
    AtomicFile file(Env::Posix(), folder / "a", IfExists::kFail);
    file.Append(ToBytes("abc"));
    EXPECT_EQ(file.size(), 3U);
    EXPECT_FALSE(Env::Posix().Exists(folder / "a"));
  }
  EXPECT_TRUE(Env::Posix().List(folder.path()).empty());
  Save(Env::Posix(), folder / "a", 'x', IfExists::kFail);
  EXPECT_EQ(Content(folder / "a"), Saved('x'));
}

TEST(AtomicFile, RefusesToReplaceUnlessAsked) {
  const TempFolder folder;
  Save(Env::Posix(), folder / "a", 'x', IfExists::kFail);
  ExpectError(ErrorCode::kInvalidArgument, {"/a", "already exists"},
              [&] { AtomicFile(Env::Posix(), folder / "a", IfExists::kFail); });
  Save(Env::Posix(), folder / "a", 'y', IfExists::kReplace);
  EXPECT_EQ(Content(folder / "a"), Saved('y'));
}

TEST(AtomicFile, AFileThatAppearsMeanwhileIsNotLost) {
  const TempFolder folder;
  AtomicFile file(Env::Posix(), folder / "a", IfExists::kFail);
  Save(Env::Posix(), folder / "a", 'x', IfExists::kFail);
  ExpectError(ErrorCode::kInvalidArgument, {"exists"}, [&] { file.Commit(); });
  EXPECT_EQ(Content(folder / "a"), Saved('x'));
}

TEST(AtomicFile, MissingFolderIsNotFound) {
  const TempFolder folder;
  ExpectError(ErrorCode::kNotFound, {"missing"},
              [&] { AtomicFile(Env::Posix(), folder / "missing/a", IfExists::kFail); });
}

TEST(AtomicFile, AFolderIsNotReplaced) {
  const TempFolder folder;
  ExpectError(ErrorCode::kInvalidArgument, {"is a folder"},
              [&] { AtomicFile(Env::Posix(), folder.path(), IfExists::kReplace); });
}

TEST(AtomicFile, WhatAKilledWriterLeftIsRemovedByTheNext) {
  const TempFolder folder;
  Save(Env::Posix(), folder / "a", 'o', IfExists::kReplace);
  for (const char* left : {".a.0.tmp", ".b.0.tmp"}) {
    Save(Env::Posix(), folder / left, 'l', IfExists::kFail);
  }
  Save(Env::Posix(), folder / "a", 'n', IfExists::kReplace);
  EXPECT_EQ(Content(folder / "a"), Saved('n'));
  EXPECT_EQ(Env::Posix().List(folder.path()), (std::vector<std::string>{".b.0.tmp", "a"}));
}

TEST(AtomicFile, WhatAnotherWriterIsUsingIsLeftAlone) {
  const TempFolder folder;
  const std::optional<FileLock> other = Env::Posix().TryLock(folder / ".a.0.tmp");
  Save(Env::Posix(), folder / "a", 'n', IfExists::kReplace);
  EXPECT_EQ(Content(folder / "a"), Saved('n'));
  EXPECT_EQ(Env::Posix().List(folder.path()), (std::vector<std::string>{".a.0.tmp", "a"}));
}

// The writer's own file is locked from its beginning to its end, with a name on disk and without.
class AtomicFileTemporaries : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Temporaries, AtomicFileTemporaries, ::testing::Values(true, false));

TEST_P(AtomicFileTemporaries, IsLockedUnderItsName) {
  const std::unique_ptr<Env> env = MakePosixEnv(GetParam());
  const TempFolder folder;
  {
    const std::unique_ptr<OutputFile> file = env->CreateTemporary(folder.path());
    file->LinkAs(folder / "x");
    EXPECT_FALSE(env->TryLock(folder / "x"));
  }
  EXPECT_TRUE(env->TryLock(folder / "x"));
}

TEST(AtomicFile, NamedTemporariesOfKilledProcessesAreRemoved) {
  const std::unique_ptr<Env> env = MakePosixEnv(/*nameless=*/false);
  const TempFolder folder;
  constexpr int kNoProcess = 1 << 30;  // beyond the largest number of a process
  const std::string dead = fmt::format(".bitpool-{}-0.tmp", kNoProcess);
  const std::string alive = fmt::format(".bitpool-{}-9999.tmp", getpid());
  const std::string locked = fmt::format(".bitpool-{}-1.tmp", kNoProcess);
  for (const std::string& name : {dead, alive, std::string(".bitpool-x.tmp")}) {
    Save(Env::Posix(), folder / name, 'l', IfExists::kFail);
  }
  const std::optional<FileLock> other = env->TryLock(folder / locked);
  Save(*env, folder / "a", 'n', IfExists::kReplace);
  EXPECT_THAT(env->List(folder.path()),
              ::testing::UnorderedElementsAre(alive, locked, ".bitpool-x.tmp", "a"));
}

class AtomicFileFaults : public ::testing::TestWithParam<bool> {};

TEST_P(AtomicFileFaults, TheNthOperationFails) {
  const std::unique_ptr<Env> base = MakePosixEnv(GetParam());
  int total = 0;
  {
    const TempFolder folder;
    FaultyEnv counting(0, *base);
    Save(counting, folder / "a", 'x', IfExists::kReplace);
    total = counting.operations();
  }
  ASSERT_GE(total, 7);  // open, three or more writes, sync, link, rename, folder sync
  for (int failing = 1; failing <= total; ++failing) {
    const TempFolder folder;
    Save(*base, folder / "a", 'o', IfExists::kReplace);
    FaultyEnv faulty(failing, *base);
    ExpectError(ErrorCode::kIo, {"injected failure"},
                [&] { Save(faulty, folder / "a", 'n', IfExists::kReplace); });
    // The sync of the folder comes after the rename: by then the new file is there, complete.
    EXPECT_EQ(Content(folder / "a"), Saved(failing < total ? 'o' : 'n')) << "operation " << failing;
    EXPECT_EQ(base->List(folder.path()), std::vector<std::string>{"a"}) << "operation " << failing;
  }
}

INSTANTIATE_TEST_SUITE_P(Temporaries, AtomicFileFaults, ::testing::Values(true, false));

// Runs saves of ever new letters in a child process and kills it at a random moment of its first
// few saves.
void KillDuringSaves(const std::filesystem::path& path, int first_letter, Random& random) {
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (int i = first_letter;; ++i) {
      if (write(pipe_ends[1], "s", 1) != 1) _exit(1);  // a save starts
      Save(Env::Posix(), path, static_cast<char>('a' + i % 26), IfExists::kReplace);
    }
  }
  // The moment is counted in saves, not in seconds, and then blurred by a short random wait.
  char started = 0;
  for (uint64_t saves = 1 + random.Below(3); saves > 0; --saves) {
    ASSERT_EQ(read(pipe_ends[0], &started, 1), 1);
  }
  usleep(static_cast<useconds_t>(random.Below(1500)));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(AtomicFile, KilledAtAnyMomentLeavesOldOrNew) {
  const TempFolder folder;
  Save(Env::Posix(), folder / "a", 'a', IfExists::kReplace);
  Random random(11);
  std::set<char> seen;
  for (int round = 0; round < 200; ++round) {
    KillDuringSaves(folder / "a", round, random);
    const std::string content = Content(folder / "a");
    ASSERT_FALSE(content.empty());
    ASSERT_EQ(content, Saved(content[0])) << "round " << round;
    seen.insert(content[0]);
  }
  EXPECT_GT(seen.size(), 1U);  // the children did save
  Save(Env::Posix(), folder / "a", 'z', IfExists::kReplace);
  EXPECT_EQ(Env::Posix().List(folder.path()), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace bitpool
