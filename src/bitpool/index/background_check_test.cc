#include "bitpool/index/background_check.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace bitpool {
namespace {

TEST(BackgroundCheck, RunsOnceFromTheFirstTouch) {
  std::atomic<int> runs = 0;
  {
    BackgroundCheck check([&](const std::stop_token&) { ++runs; });
    EXPECT_EQ(runs, 0);
    for (int i = 0; i < 5; ++i) check.Touch();
  }
  EXPECT_EQ(runs, 1);
}

TEST(BackgroundCheck, WhatItFindsComesOut) {
  BackgroundCheck check([](const std::stop_token&) { throw std::runtime_error("damaged"); });
  const auto touch_until_it_throws = [&] {
    while (true) check.Touch();
  };
  EXPECT_THROW(touch_until_it_throws(), std::runtime_error);
  EXPECT_THROW(check.Touch(), std::runtime_error);
}

TEST(BackgroundCheck, MayBeWaitedFor) {
  std::atomic<bool> may_end = false, ended = false;
  BackgroundCheck check([&](const std::stop_token&) {
    while (!may_end) std::this_thread::yield();
    ended = true;
  });
  check.Touch();
  EXPECT_FALSE(ended);
  may_end = true;
  check.Wait();
  EXPECT_TRUE(ended);
  BackgroundCheck damaged([](const std::stop_token&) { throw std::runtime_error("damaged"); });
  EXPECT_THROW(damaged.Wait(), std::runtime_error);
  EXPECT_THROW(damaged.Wait(), std::runtime_error);
}

TEST(BackgroundCheck, EndsWhenItIsNoLongerNeeded) {
  BackgroundCheck check([](const std::stop_token& stop) {
    while (!stop.stop_requested()) std::this_thread::yield();
  });
  check.Touch();
}

}  // namespace
}  // namespace bitpool
