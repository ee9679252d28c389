#include "bitpool/base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace bitpool {
namespace {

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kLogEvery = std::chrono::seconds(10);

// 75 → "1:15", 3675 → "1:01:15".
std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(std::min(std::round(seconds), 359999.0));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string Bar(double share) {
  const auto filled = static_cast<size_t>(std::floor(std::clamp(share, 0.0, 1.0) * kBarWidth));
  return fmt::format("[{}{}]", std::string(filled, '#'), std::string(kBarWidth - filled, '.'));
}

}  // namespace

Progress::Progress(ProgressSink* sink, std::string task, std::string unit, uint64_t total)
    : sink_(sink), task_(std::move(task)), unit_(std::move(unit)), total_(total) {
  Report(0, false);
}

Progress::~Progress() {
  try {
    Report(done_, true);
  } catch (...) {  // without memory there is nothing to show, and it may be why the task ended
  }
}

void Progress::Advance(uint64_t steps) { Report(done_.fetch_add(steps) + steps, false); }

void Progress::Advance(uint64_t steps, std::string note) {
  {
    const std::lock_guard lock(mutex_);
    note_ = std::move(note);
  }
  Advance(steps);
}

void Progress::Report(uint64_t done, bool ended) {
  if (sink_ == nullptr) return;
  std::string note;
  {
    const std::lock_guard lock(mutex_);
    note = note_;
  }
  sink_->Report(
      {.task = task_, .unit = unit_, .done = done, .total = total_, .ended = ended, .note = note});
}

ProgressPrinter::ProgressPrinter(std::function<void(std::string_view)> write, bool terminal,
                                 std::function<Clock::time_point()> now)
    : write_(std::move(write)), terminal_(terminal), now_(std::move(now)) {}

void ProgressPrinter::Report(const ProgressUpdate& update) {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = now_();
  if (task_ != update.task) {
    task_ = update.task;
    started_ = shown_ = now;
    any_shown_ = false;
  }
  // A task that ends before it was ever shown stays silent: short jobs should not chatter.
  const bool due = update.ended
                       ? any_shown_
                       : now - shown_ >= (terminal_ ? Clock::duration(kRedraw) : kLogEvery);
  if (due) {
    const std::string line = Line(update, std::chrono::duration<double>(now - started_).count());
    write_(terminal_ ? fmt::format("\r\x1b[K{}{}", line, update.ended ? "\n" : "") : line + "\n");
    shown_ = now;
    any_shown_ = true;
  }
  if (update.ended) task_.clear();
}

std::string ProgressPrinter::Line(const ProgressUpdate& update, double seconds) const {
  const double rate = seconds > 0 ? static_cast<double>(update.done) / seconds : 0;
  std::string line(update.task);
  if (update.total > 0) {
    const double share = static_cast<double>(update.done) / static_cast<double>(update.total);
    if (terminal_) line += fmt::format(" {}", Bar(share));
    line += fmt::format(" {:.0f}%  {}/{} {}", std::floor(100 * share), update.done, update.total,
                        update.unit);
  } else {
    line += fmt::format("  {} {}", update.done, update.unit);
  }
  if (rate > 0) line += fmt::format("  {:.{}f}/s", rate, rate < 10 ? 1 : 0);
  if (update.ended) {
    line += fmt::format("  in {}", Duration(seconds));
  } else if (rate > 0 && update.total > update.done) {
    line +=
        fmt::format("  {} left", Duration(static_cast<double>(update.total - update.done) / rate));
  }
  if (!update.note.empty()) line += fmt::format("  {}", update.note);
  return line;
}

}  // namespace bitpool
