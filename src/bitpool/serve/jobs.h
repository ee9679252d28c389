#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "bitpool/base/progress.h"
#include "bitpool/http/message.h"

namespace bitpool {

enum class JobState { kRunning, kDone, kFailed, kCancelled };

// A long piece of work that clients watch: how far it is, what failed, and in the end its result.
// Used from many threads.
class Job : public ProgressSink, public std::enable_shared_from_this<Job> {
 public:
  using Clock = std::chrono::steady_clock;

  // `now` tells the time for rates.
  Job(std::string id, std::string library, std::function<Clock::time_point()> now = Clock::now);

  const std::string& id() const { return id_; }
  const std::string& library() const { return library_; }
  bool running() const;
  std::stop_token stop_token() const { return stop_.get_token(); }
  void Cancel() { stop_.request_stop(); }

  // These notify the watchers; of progress, at most a few times a second.
  void Report(const ProgressUpdate& update) override;
  void NoteFailure(const std::string& path, const std::string& reason);
  void End(JobState state, nlohmann::json summary, const std::string& error);

  // As openapi.json has it.
  nlohmann::json ToJson() const;

  // The events after the one with this id, as server-sent events, up to the end of the job.
  std::shared_ptr<EventFeed> Watch(uint64_t after);

 private:
  friend class JobFeed;

  nlohmann::json Describe(bool failures) const;  // REQUIRES: mutex_ is held
  // Adds an event and returns the functions that wake those who wait for it. REQUIRES: mutex_ is
  // held
  std::vector<std::function<void()>> AddEvent(const std::string& name, const nlohmann::json& data);
  double Rate() const;

  const std::string id_;
  const std::string library_;
  const std::function<Clock::time_point()> now_;
  const std::string started_;
  std::stop_source stop_;

  mutable std::mutex mutex_;  // guards all below
  JobState state_ = JobState::kRunning;
  std::string ended_;
  std::string task_, unit_;
  uint64_t done_ = 0, total_ = 0;
  Clock::time_point task_started_, told_;
  nlohmann::json failures_ = nlohmann::json::array();
  uint64_t failed_ = 0;
  nlohmann::json summary_;
  std::string error_;
  uint64_t last_event_ = 0;
  uint64_t last_progress_ = 0;  // its event: the next one takes its place
  std::map<uint64_t, std::string> events_;
  std::map<const EventFeed*, std::function<void()>> waiting_;
};

// The jobs since the server was started, each on a thread of its own.
class JobBoard {
 public:
  // Does the job and returns its summary; throws Error when the job failed.
  using Work = std::function<nlohmann::json(Job& job)>;

  ~JobBoard() { StopAll(); }

  // The job of the library that is running, or a new one, which has failed already when the system
  // has no thread for it. Nothing after StopAll.
  std::shared_ptr<Job> Start(const std::string& library, Work work);
  std::shared_ptr<Job> Find(const std::string& id) const;          // null when there is none
  std::shared_ptr<Job> Running(const std::string& library) const;  // null when there is none
  std::vector<std::shared_ptr<Job>> List() const;                  // the newest first

  // Asks all to stop, and waits until they have.
  void StopAll();

 private:
  static constexpr size_t kMostKept = 100;
  // Throws where the system has no thread, or no memory for one.
  static std::thread Run(const std::shared_ptr<Job>& job, Work work);
  void ForgetOld();

  mutable std::mutex mutex_;
  bool stopped_ = false;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<Job>> jobs_;
  std::map<uint64_t, std::thread> threads_;
};

}  // namespace bitpool
