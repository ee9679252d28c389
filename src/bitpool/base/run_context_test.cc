#include "bitpool/base/run_context.h"

#include <gtest/gtest.h>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

TEST(RunContext, RejectsNegativeThreads) {
  EXPECT_THROW(RunContext({.threads = -1}), Error);
  EXPECT_THROW(RunContext({.threads = kMostThreads + 1}), Error);
  EXPECT_EQ(RunContext({.threads = 3}).threads(), 3);
}

TEST(RunContext, StopEndsALoopAsCancelled) {
  std::stop_source source;
  const RunContext context({.threads = 2, .stop = source.get_token()});
  EXPECT_FALSE(context.stopped());
  std::atomic<size_t> calls = 0;
  try {
    context.ParallelFor(100000, 1, [&](size_t, size_t) {
      if (++calls == 10) source.request_stop();
    });
    FAIL() << "the loop ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_LT(calls, 100000U);
}

TEST(RunContext, RandomDependsOnSeedAndStream) {
  const RunContext a({.seed = 1}), b({.seed = 1}), c({.seed = 2});
  EXPECT_EQ(a.MakeRandom(5).Next(), b.MakeRandom(5).Next());
  EXPECT_NE(a.MakeRandom(5).Next(), a.MakeRandom(6).Next());
  EXPECT_NE(a.MakeRandom(5).Next(), c.MakeRandom(5).Next());
}

TEST(RunContext, ProgressReachesTheSink) {
  struct Count : ProgressSink {
    void Report(const ProgressUpdate& update) override { last = update.done; }
    uint64_t last = 0;
  };
  const auto sink = std::make_shared<Count>();
  const RunContext context({.progress = sink});
  context.StartProgress("a", "b", 3).Advance(2);
  EXPECT_EQ(sink->last, 2U);
}

TEST(RunContext, CopiesWithOneThingChangedShareTheThreads) {
  const std::stop_source stop;
  const RunContext context({.threads = 2, .seed = 5, .stop = stop.get_token()});
  std::stop_source(stop).request_stop();
  EXPECT_THROW(context.WithSeed(7).ThrowIfStopped(), Error);
  EXPECT_NO_THROW(context.WithoutStop().ThrowIfStopped());
  EXPECT_EQ(context.WithSeed(7).seed(), 7U);
  EXPECT_EQ(context.WithoutProgress().seed(), 5U);
  EXPECT_EQ(&context.pool(), &context.WithoutProgress().pool());
}

}  // namespace
}  // namespace bitpool
