#include "bitpool/http/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

namespace bitpool {
namespace {

TEST(WorkQueueTest, RefusesWhatIsTooMuchAndDoesTheRest) {
  std::atomic<int> done = 0;
  {
    std::promise<void> started, go_on;  // outlive the work that uses them
    WorkQueue queue(1, 2);
    ASSERT_TRUE(queue.TryPost([&] {
      started.set_value();
      go_on.get_future().wait();
      ++done;
    }));
    started.get_future().wait();
    EXPECT_TRUE(queue.TryPost([&] { ++done; }));
    EXPECT_TRUE(queue.TryPost([&] { ++done; }));
    EXPECT_FALSE(queue.TryPost([&] { done += 100; }));
    EXPECT_TRUE(queue.Post([&] { ++done; }));  // has no limit
    EXPECT_EQ(queue.waiting(), 3U);
    go_on.set_value();
  }
  EXPECT_EQ(done, 4);
}

TEST(WorkQueueTest, TakesNothingAfterItsEnd) {
  WorkQueue queue(2, 10);
  queue.Finish();
  queue.Finish();
  EXPECT_FALSE(queue.TryPost([] {}));
  EXPECT_FALSE(queue.Post([] {}));
}

TEST(WorkQueueTest, ManyThreads) {
  std::atomic<int> done = 0;
  {
    WorkQueue queue(4, 10'000);
    std::vector<std::thread> posters;
    for (int i = 0; i < 4; ++i) {
      posters.emplace_back([&] {
        for (int j = 0; j < 1000; ++j) ASSERT_TRUE(queue.TryPost([&] { ++done; }));
      });
    }
    for (std::thread& poster : posters) poster.join();
  }
  EXPECT_EQ(done, 4000);
}

}  // namespace
}  // namespace bitpool
