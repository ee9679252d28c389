#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "bitpool/base/random.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/library/library_update.h"

// An update that fails or is killed leaves a valid library, and the next one goes on from there.
namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::FakeEncode;
using testing::FakeEncoding;
using testing::FakePicture;
using testing::FaultyEnv;
using ::testing::HasSubstr;
using testing::LibraryContent;
using testing::PictureFolder;
using testing::ReadContent;

// Changes of every kind for a library that has been made before.
void MakeFirstState(PictureFolder& pictures) {
  for (int i = 0; i < 30; ++i) {
    pictures.Write(fmt::format("{:02}.jpg", i), i % 7 == 3 ? "bad" : FakePicture(i * 1000));
  }
}
void MakeSecondState(PictureFolder& pictures) {
  for (int i = 0; i < 30; i += 3) pictures.Write(fmt::format("{:02}.jpg", i), FakePicture(i + 500));
  for (int i = 1; i < 30; i += 6) pictures.Remove(fmt::format("{:02}.jpg", i));
  for (int i = 30; i < 60; ++i) pictures.Write(fmt::format("{:02}.jpg", i), FakePicture(i));
}

LibraryContent UndisturbedContent() {
  PictureFolder pictures;
  MakeFirstState(pictures);
  pictures.Update();
  MakeSecondState(pictures);
  pictures.Update();
  return ReadContent(pictures.Open());
}

TEST(UpdateLibrary, AnyFailureOfAFileOperationLeavesAValidLibrary) {
  const LibraryContent expected = UndisturbedContent();
  PictureFolder pictures;
  MakeFirstState(pictures);
  pictures.Update();
  MakeSecondState(pictures);
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 10;
  int failing = 1;
  bool failed = true;
  for (; failed; failing += 5) {
    const fs::path copy = pictures.base() / fmt::format("copy{}", failing);
    fs::copy(pictures.root(), copy, fs::copy_options::recursive);
    for (const FoundPicture& found : update.found) {
      fs::last_write_time(copy / found.path, fs::last_write_time(pictures.root() / found.path));
    }
    LibraryUpdate copied = update;
    copied.root = copy;
    FaultyEnv env(failing);
    const auto run = [&](Env& on) {
      LibraryWriter writer(on, copy / ".bitpool");
      return UpdateLibrary(writer, copied, RunContext({.threads = 1}));
    };
    try {
      run(env);
      failed = env.operations() >= failing;  // one that was made up for, as in mapping the index
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("injected"));
    }
    ReadContent(testing::OpenAt(copy / ".bitpool"));  // checks itself
    run(Env::Posix());
    EXPECT_EQ(ReadContent(testing::OpenAt(copy / ".bitpool")), expected);
    fs::remove_all(copy);
  }
  EXPECT_GT(failing, 50);
}

// Updates in a child process that reports every picture it encodes, and is killed after some of
// them and a short while.
void KillDuringUpdate(PictureFolder& pictures, Random& random) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 1 + random.Below(12);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    const auto tell = [&] { return write(ends[1], "x", 1); };
    update.encoding.encode = [&](auto bytes) {
      if (tell() != 1) _exit(1);
      return FakeEncode(bytes);
    };
    try {
      LibraryWriter writer(Env::Posix(), pictures.library());
      if (tell() != 1) _exit(1);
      UpdateLibrary(writer, update, RunContext({.threads = 1}));
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  char told = 0;
  for (uint64_t steps = random.Below(45); steps > 0; --steps) {
    if (read(ends[0], &told, 1) != 1) break;
  }
  usleep(static_cast<useconds_t>(random.Below(8000)));
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  close(ends[0]);
}

TEST(UpdateLibrary, KilledAtAnyMomentItGoesOnFromThere) {
  if (!testing::kForkedChildrenHaveThreads) GTEST_SKIP() << "needs a forked child with threads";
  const LibraryContent expected = UndisturbedContent();
  Random random(20);
  constexpr int kRounds = 50;  // of two kills each
  for (int round = 0; round < kRounds; ++round) {
    PictureFolder pictures;
    MakeFirstState(pictures);
    KillDuringUpdate(pictures, random);
    if (round % 2 == 0) {
      pictures.Update();
      ReadContent(pictures.Open());
    }
    MakeSecondState(pictures);
    KillDuringUpdate(pictures, random);
    if (fs::exists(LibraryFolder(pictures.library()).catalogue())) {
      try {
        ReadContent(pictures.Open());  // checks that index and catalogue agree
      } catch (const Error& error) {   // killed before anything was in it
        EXPECT_NE(round % 2, 0);
        EXPECT_TRUE(error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kCorrupt)
            << error.what();
      }
    }
    pictures.Update();
    EXPECT_EQ(ReadContent(pictures.Open()), expected) << "round " << round;
    EXPECT_EQ(pictures.Update().unchanged, expected.codes.size() + expected.failures.size());
    EXPECT_EQ(pictures.reads, 0);
  }
}

// Updates in a child process that is killed while it encodes one of the first pictures.
void KillWhileEncoding(PictureFolder& pictures, const std::string& coder, Random& random) {
  LibraryUpdate update = pictures.MakeUpdate(FakeEncoding(coder));
  update.batch = 1 + random.Below(6);
  const uint64_t last = 1 + random.Below(25);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    uint64_t encoded = 0;
    update.encoding.encode = [&](auto bytes) {
      if (++encoded == last) kill(getpid(), SIGKILL);
      return FakeEncode(bytes);
    };
    try {
      LibraryWriter writer(Env::Posix(), pictures.library());
      UpdateLibrary(writer, update, RunContext({.threads = 1}));
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

// The library answers with the codes of the old coder or with those of the new one, never with both
// or with a part.
TEST(UpdateLibrary, KilledWhileTheCoderChangesItAnswersWithOneOfThem) {
  if (!testing::kForkedChildrenHaveThreads) GTEST_SKIP() << "needs a forked child with threads";
  const LibraryContent expected = UndisturbedContent();
  Random random(21);
  int old_ones = 0, new_ones = 0;
  for (int round = 0; round < 20; ++round) {
    PictureFolder pictures;
    MakeFirstState(pictures);
    MakeSecondState(pictures);
    pictures.Update();
    for (int times = 0; times < 6; ++times) {
      KillWhileEncoding(pictures, "fake 2", random);
      const LibrarySnapshot library = pictures.Open();
      const LibraryContent content = ReadContent(library);
      EXPECT_EQ(content.codes, expected.codes);
      EXPECT_EQ(content.failures, expected.failures);
      (library.facts().coder == "fake 1" ? old_ones : new_ones) += 1;
    }
    pictures.Update(pictures.MakeUpdate(FakeEncoding("fake 2")), RunContext({.threads = 1}));
    EXPECT_EQ(pictures.Open().facts().coder, "fake 2");
    EXPECT_EQ(ReadContent(pictures.Open()), expected) << "round " << round;
  }
  EXPECT_GT(old_ones, 40);  // of 120
  EXPECT_GT(new_ones, 10);
}

}  // namespace
}  // namespace bitpool
