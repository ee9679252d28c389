#include "bitpool/base/task_pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>

namespace bitpool {
namespace {

TEST(TaskPool, CoversEveryNumberOnce) {
  for (const int threads : {1, 2, 5}) {
    TaskPool pool(threads);
    for (const size_t count : {0, 1, 6, 7, 8, 1000}) {
      std::vector<int> visits(count);
      pool.ParallelFor(count, 7, [&](size_t begin, size_t end) {
        EXPECT_LE(end - begin, 7U);
        for (size_t i = begin; i < end; ++i) ++visits[i];
      });
      EXPECT_EQ(visits, std::vector<int>(count, 1));
    }
  }
}

TEST(TaskPool, ZeroMeansTheMachinesThreads) { EXPECT_GE(TaskPool().threads(), 1); }

TEST(TaskPool, TheLowestFailureComesOut) {
  for (const int threads : {1, 2, 4}) {
    TaskPool pool(threads);
    for (int repeat = 0; repeat < 50; ++repeat) {
      try {
        pool.ParallelFor(200, 1, [](size_t begin, size_t) {
          if (begin >= 120 || begin == 77) throw std::runtime_error(std::to_string(begin));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "77");
      }
    }
  }
}

TEST(TaskPool, UsableAfterAFailure) {
  TaskPool pool(2);
  EXPECT_THROW(pool.ParallelFor(10, 1, [](size_t, size_t) { throw std::runtime_error("x"); }),
               std::runtime_error);
  std::atomic<int> calls = 0;
  pool.ParallelFor(10, 1, [&](size_t, size_t) { ++calls; });
  EXPECT_EQ(calls, 10);
}

TEST(TaskPool, LoopsNest) {
  TaskPool pool(3);
  std::atomic<size_t> sum = 0;
  pool.ParallelFor(20, 1, [&](size_t outer, size_t) {
    pool.ParallelFor(30, 4, [&](size_t begin, size_t end) {
      for (size_t inner = begin; inner < end; ++inner) sum += outer * inner;
    });
  });
  EXPECT_EQ(sum, 190U * 435U);
}

TEST(TaskPool, OnePoolServesManyThreads) {
  TaskPool pool(2);
  std::vector<size_t> sums(4);
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < sums.size(); ++caller) {
    callers.emplace_back([&, caller] {
      std::vector<size_t> values(5000);
      pool.ParallelFor(values.size(), 100, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) values[i] = i + caller;
      });
      sums[caller] = std::accumulate(values.begin(), values.end(), size_t{0});
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (size_t caller = 0; caller < sums.size(); ++caller)
    EXPECT_EQ(sums[caller], 4999U * 2500U + 5000U * caller);
}

// A sum of numbers of very different size, whose last bits depend on the order of the additions.
float OrderedSum(int threads) {
  TaskPool pool(threads);
  float total = 0;
  pool.OrderedReduce(
      100003, 97, 0.0F,
      [](float& partial, size_t begin, size_t end) {
        partial = 0;
        for (size_t i = begin; i < end; ++i) partial += std::exp(static_cast<float>(i % 41)) / 1e9F;
      },
      [&](const float& partial) { total += partial; });
  return total;
}

TEST(TaskPool, OrderedReduceDoesNotDependOnThreads) {
  const float one = OrderedSum(1);
  EXPECT_GT(one, 0);
  for (const int threads : {2, 3, 8}) EXPECT_EQ(OrderedSum(threads), one);
}

TEST(TaskPool, OrderedReduceOfNothing) {
  TaskPool pool(2);
  pool.OrderedReduce(
      0, 5, 0, [](int&, size_t, size_t) { FAIL(); }, [](int) { FAIL(); });
}

}  // namespace
}  // namespace bitpool
