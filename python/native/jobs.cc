#include "jobs.h"

#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bitpool/base/error.h"

namespace bitpool::python {
namespace {

constexpr std::chrono::milliseconds kLookEvery(50);

std::atomic<uint64_t> fork_generation = 0;

// Threads do not survive a fork, and a pool that counts on them would wait for ever. A forked
// process has one thread, which needs no pool.
int ThreadsOf(int wanted) { return ForkGeneration() > 0 ? 1 : wanted; }

struct OwnedUpdate {
  std::string task, unit, note;
  uint64_t done = 0, total = 0;
  bool ended = false;
};

// Where the job's threads leave messages for the thread that waits.
class Mailbox : public ProgressSink {
 public:
  void Report(const ProgressUpdate& update) override {
    OwnedUpdate owned{.task = std::string(update.task),
                      .unit = std::string(update.unit),
                      .note = std::string(update.note),
                      .done = update.done,
                      .total = update.total,
                      .ended = update.ended};
    const std::lock_guard lock(mutex_);
    // Of a task that goes on, only the newest message matters.
    if (!updates_.empty() && !updates_.back().ended && updates_.back().task == owned.task) {
      updates_.back() = std::move(owned);
    } else {
      updates_.push_back(std::move(owned));
    }
  }

  void Finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    ended_.notify_one();
  }

  // True when the job has ended.
  bool WaitAWhile() {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, kLookEvery, [&] { return finished_; });
  }

  std::vector<OwnedUpdate> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(updates_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  bool finished_ = false;
  std::vector<OwnedUpdate> updates_;
};

// REQUIRES: the GIL. Throws error_already_set for Ctrl-C and for what a function of Python's threw.
void LookAtPython(const RunRequest& request, Mailbox& mailbox) {
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  for (const OwnedUpdate& update : mailbox.Take()) {
    if (request.progress.is_none()) continue;
    request.progress(update.task, update.unit, update.done, update.total, update.ended,
                     update.note);
  }
}

}  // namespace

uint64_t ForkGeneration() { return fork_generation.load(std::memory_order_relaxed); }

py::object RunWatched(const RunRequest& request,
                      const std::function<void(const RunContext&)>& job) {
  const auto mailbox = std::make_shared<Mailbox>();
  std::stop_source stop;
  const RunContext context({.threads = ThreadsOf(request.threads),
                            .seed = request.seed,
                            .stop = stop.get_token(),
                            .progress = request.progress.is_none() ? nullptr : mailbox});
  std::exception_ptr failure;
  py::object interruption = py::none();
  {
    const py::gil_scoped_release released;
    const std::jthread worker([&] {
      try {
        job(context);
      } catch (...) {
        failure = std::current_exception();
      }
      mailbox->Finish();
    });
    for (bool ended = false; !ended;) {
      ended = mailbox->WaitAWhile();
      const py::gil_scoped_acquire held;
      try {
        if (interruption.is_none()) LookAtPython(request, *mailbox);
      } catch (const py::error_already_set& raised) {
        interruption = raised.value();
        stop.request_stop();
      }
    }
  }
  if (failure && interruption.is_none()) std::rethrow_exception(failure);
  return interruption;
}

RunContext BriefContext(int threads) {
  static std::mutex mutex;
  static std::map<int, RunContext> kept;
  const std::lock_guard lock(mutex);
  const int usable = ThreadsOf(threads);
  const auto found = kept.find(usable);
  if (found != kept.end()) return found->second;
  return kept.emplace(usable, RunContext({.threads = usable})).first->second;
}

void BindJobs(py::module_& module) {
  pthread_atfork(nullptr, nullptr, [] { fork_generation.fetch_add(1); });
  py::class_<RunRequest>(module, "Run", "How a long call runs.")
      .def(py::init([](int n_threads, uint64_t seed, py::object progress) {
             return RunRequest{.threads = n_threads, .seed = seed, .progress = std::move(progress)};
           }),
           py::arg("n_threads") = 0, py::arg("seed") = 1, py::arg("progress") = py::none());
}

}  // namespace bitpool::python
