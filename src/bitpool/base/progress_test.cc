#include "bitpool/base/progress.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>
#include <vector>

namespace bitpool {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A printer with a clock that the test turns by hand.
class ProgressTest : public ::testing::Test {
 protected:
  ProgressPrinter Printer(bool terminal) {
    return ProgressPrinter([this](std::string_view text) { written_.emplace_back(text); }, terminal,
                           [this] { return now_; });
  }
  ProgressPrinter::Clock::time_point now_;
  std::vector<std::string> written_;
};

TEST_F(ProgressTest, TerminalShowsABarWithRateAndTimeLeft) {
  ProgressPrinter printer = Printer(true);
  Progress progress(&printer, "encoding", "images", 200);
  now_ += seconds(2);
  progress.Advance(50);
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0],
            "\r\x1b[Kencoding [######..................] 25%  50/200 images  25/s  0:06 left");
}

TEST_F(ProgressTest, TerminalRedrawsAtMostTenTimesASecond) {
  ProgressPrinter printer = Printer(true);
  Progress progress(&printer, "encoding", "images", 1000);
  for (int i = 0; i < 1000; ++i) {
    now_ += milliseconds(1);
    progress.Advance();
  }
  EXPECT_EQ(written_.size(), 10U);
}

TEST_F(ProgressTest, LogGetsALineEveryTenSecondsAndALastOne) {
  ProgressPrinter printer = Printer(false);
  {
    Progress progress(&printer, "training", "steps", 30);
    for (int i = 0; i < 30; ++i) {
      now_ += seconds(1);
      progress.Advance();
    }
  }
  ASSERT_EQ(written_.size(), 4U);
  EXPECT_EQ(written_[0], "training 33%  10/30 steps  1.0/s  0:20 left\n");
  EXPECT_EQ(written_[3], "training 100%  30/30 steps  1.0/s  in 0:30\n");
}

TEST_F(ProgressTest, ShortTasksAreSilent) {
  ProgressPrinter printer = Printer(false);
  {
    Progress progress(&printer, "training", "steps", 30);
    progress.Advance(30);
  }
  EXPECT_TRUE(written_.empty());
}

TEST_F(ProgressTest, UnknownTotalShowsTheCount) {
  ProgressPrinter printer = Printer(false);
  Progress progress(&printer, "reading", "rows", 0);
  now_ += seconds(4000);
  progress.Advance(8000000);
  EXPECT_EQ(written_.at(0), "reading  8000000 rows  2000/s\n");
}

TEST_F(ProgressTest, ANoteStandsBehindTheRest) {
  ProgressPrinter printer = Printer(false);
  {
    Progress progress(&printer, "contrast", "epochs", 30);
    now_ += seconds(10);
    progress.Advance(10, "loss 3.21");
    now_ += seconds(20);
    progress.Advance(20);
  }
  ASSERT_EQ(written_.size(), 3U);
  EXPECT_EQ(written_[0], "contrast 33%  10/30 epochs  1.0/s  0:20 left  loss 3.21\n");
  EXPECT_EQ(written_[2], "contrast 100%  30/30 epochs  1.0/s  in 0:30  loss 3.21\n");
}

TEST_F(ProgressTest, EachTaskHasItsOwnClock) {
  ProgressPrinter printer = Printer(false);
  {
    Progress first(&printer, "first", "rows", 10);
    now_ += seconds(15);
    first.Advance(10);
  }
  Progress second(&printer, "second", "rows", 100);
  now_ += seconds(9);
  second.Advance(10);
  EXPECT_EQ(written_.size(), 2U);  // nothing of the second yet
  now_ += seconds(4000);
  second.Advance(1);
  EXPECT_EQ(written_.at(2), "second 11%  11/100 rows  0.0/s  9:00:36 left\n");
}

// The end is reported from a destructor, often because an error is on its way out.
TEST(Progress, EndsAlsoWhereTheEndCannotBeTold) {
  class NoMemoryAtTheEnd : public ProgressSink {
   public:
    void Report(const ProgressUpdate& update) override {
      if (update.ended) throw std::bad_alloc();
    }
  } sink;
  EXPECT_THROW(
      {
        Progress progress(&sink, "encoding", "images", 2);
        progress.Advance();
        throw std::runtime_error("what it ended for");
      },
      std::runtime_error);
}

TEST(Progress, WorksWithoutASinkAndFromManyThreads) {
  struct Last : ProgressSink {
    void Report(const ProgressUpdate& update) override {
      const std::lock_guard lock(mutex);
      done = std::max(done, update.done);
    }
    std::mutex mutex;
    uint64_t done = 0;
  } last;
  Progress nobody(nullptr, "a", "b", 1);
  nobody.Advance();
  Progress progress(&last, "a", "b", 2000);
  std::thread other([&] {
    for (int i = 0; i < 1000; ++i) progress.Advance();
  });
  for (int i = 0; i < 1000; ++i) progress.Advance();
  other.join();
  EXPECT_EQ(last.done, 2000U);
}

}  // namespace
}  // namespace bitpool
