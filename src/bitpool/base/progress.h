#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "bitpool/run.h"

namespace bitpool {

// Receives progress. Report is called from any thread.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  virtual void Report(const ProgressUpdate& update) = 0;
};

// One task that reports to a sink (or to nobody) as it advances, from any thread, and says when it
// ends.
class Progress {
 public:
  // REQUIRES: sink, when not null, outlives this.
  Progress(ProgressSink* sink, std::string task, std::string unit, uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Advance(uint64_t steps = 1);
  // The same, and from now on says how well it goes, such as "loss 3.21".
  void Advance(uint64_t steps, std::string note);

 private:
  void Report(uint64_t done, bool ended);

  ProgressSink* sink_;
  std::string task_;
  std::string unit_;
  uint64_t total_;
  std::atomic<uint64_t> done_ = 0;
  std::mutex mutex_;  // of note_
  std::string note_;
};

// Shows progress as text: on a terminal a bar with rate and time left, redrawn at most ten times a
// second; elsewhere (a log, a pipe) one line every ten seconds.
class ProgressPrinter : public ProgressSink {
 public:
  using Clock = std::chrono::steady_clock;

  // `write` gets the text to show; `now` tells the time.
  ProgressPrinter(std::function<void(std::string_view)> write, bool terminal,
                  std::function<Clock::time_point()> now = Clock::now);

  void Report(const ProgressUpdate& update) override;

 private:
  std::string Line(const ProgressUpdate& update, double seconds) const;

  std::function<void(std::string_view)> write_;
  bool terminal_;
  std::function<Clock::time_point()> now_;

  std::mutex mutex_;
  std::string task_;  // the task the times below belong to; empty between tasks
  Clock::time_point started_;
  Clock::time_point shown_;
  bool any_shown_ = false;
};

}  // namespace bitpool
