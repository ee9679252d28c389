#include "bitpool/dataset/program.h"

#include <thread>

#include "bitpool/io/env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(Program, RunsInItsFolder) {
  const TempFolder folder;
  RunProgram({"sh", "-c", "echo hello > made"}, folder.path(), RunContext({.threads = 1}));
  EXPECT_EQ(testing::ToString(Env::Posix().Map(folder / "made")->bytes()), "hello\n");
}

TEST(Program, FailuresSayWhy) {
  const TempFolder folder;
  const RunContext context({.threads = 1});
  ExpectError(ErrorCode::kIo, {"sh -c failed with status 3: the disk is on fire"}, [&] {
    RunProgram({"sh", "-c", "echo first; echo the disk is on fire >&2; exit 3"}, folder.path(),
               context);
  });
  ExpectError(ErrorCode::kNotFound, {"no-such-program"},
              [&] { RunProgram({"no-such-program"}, folder.path(), context); });
  ExpectError(ErrorCode::kIo, {"status -1"}, [&] {
    RunProgram({"sh", "-c", "kill -9 $$"}, folder.path(), context);
  });
}

TEST(Program, ALotOfOutputIsNoProblem) {
  const TempFolder folder;
  RunProgram({"sh", "-c", "seq 1 200000"}, folder.path(), RunContext({.threads = 1}));
}

TEST(Program, AStopEndsIt) {
  const TempFolder folder;
  std::stop_source source;
  const RunContext context({.threads = 1, .stop = source.get_token()});
  std::thread stopper([&] {
    while (!Env::Posix().Exists(folder / "started")) std::this_thread::yield();
    source.request_stop();
  });
  ExpectError(ErrorCode::kCancelled, {}, [&] {
    RunProgram({"sh", "-c", "touch started; exec sleep 1000"}, folder.path(), context);
  });
  stopper.join();
}

}  // namespace
}  // namespace bitpool
