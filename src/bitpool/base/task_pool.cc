#include "bitpool/base/task_pool.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <optional>

#include "bitpool/base/blas.h"

namespace bitpool {
namespace {

// Every program that computes has a pool, and so the right OpenBLAS.
[[gnu::used]] void (*const kPrepareBlas)() = &PrepareBlas;

}  // namespace

struct TaskPool::Arena {
  explicit Arena(int threads) : arena(threads) {
    // oneTBB keeps to the number of cores, and complains on standard error, unless it is told that
    // more are wanted.
    if (threads > tbb::info::default_concurrency()) {
      allowance.emplace(tbb::global_control::max_allowed_parallelism, threads);
    }
  }
  std::optional<tbb::global_control> allowance;
  tbb::task_arena arena;
};

TaskPool::TaskPool(int threads)
    : threads_(threads > 0 ? threads : tbb::info::default_concurrency()),
      arena_(std::make_unique<Arena>(threads_)) {}

TaskPool::~TaskPool() = default;

void TaskPool::RunChunks(size_t chunks, void (*run)(void*, size_t) noexcept, void* state) {
  if (threads_ == 1 || chunks <= 1) {
    for (size_t chunk = 0; chunk < chunks; ++chunk) run(state, chunk);
    return;
  }
  arena_->arena.execute([&] {
    // Isolated: a thread that waits for a nested loop must not pick up a piece of the outer one,
    // whose buffers it holds.
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(size_t{0}, chunks, [&](size_t chunk) { run(state, chunk); }); });
  });
}

}  // namespace bitpool
