#include "bitpool/serve/jobs.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {
namespace {

constexpr auto kBetweenReports = std::chrono::milliseconds(250);
constexpr size_t kMostFailures = 1000;

const char* NameOf(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return "running";
    case JobState::kDone:
      return "done";
    case JobState::kFailed:
      return "failed";
    case JobState::kCancelled:
      return "cancelled";
  }
  return "failed";
}

nlohmann::json OrNull(const std::string& text) {
  return text.empty() ? nlohmann::json() : nlohmann::json(text);
}

}  // namespace

// What one client has seen of a job.
class JobFeed : public EventFeed {
 public:
  JobFeed(std::shared_ptr<Job> job, uint64_t after) : job_(std::move(job)), seen_(after) {}
  ~JobFeed() override {
    std::function<void()> dropped;  // destroyed without the lock: it may hold the connection
    const std::lock_guard lock(job_->mutex_);
    if (auto node = job_->waiting_.extract(this)) dropped = std::move(node.mapped());
  }
  JobFeed(const JobFeed&) = delete;
  JobFeed& operator=(const JobFeed&) = delete;

  std::optional<std::string> Take() override {
    const std::lock_guard lock(job_->mutex_);
    std::string text;
    for (auto event = job_->events_.upper_bound(seen_); event != job_->events_.end(); ++event) {
      text += event->second;
      seen_ = event->first;
    }
    if (text.empty() && job_->state_ != JobState::kRunning) return std::nullopt;
    return text;
  }

  void WakeWhenMore(std::function<void()> wake) override {
    {
      const std::lock_guard lock(job_->mutex_);
      if (job_->last_event_ <= seen_ && job_->state_ == JobState::kRunning) {
        std::swap(job_->waiting_[this], wake);
        return;
      }
    }
    wake();
  }

 private:
  std::shared_ptr<Job> job_;
  uint64_t seen_;
};

Job::Job(std::string id, std::string library, std::function<Clock::time_point()> now)
    : id_(std::move(id)),
      library_(std::move(library)),
      now_(std::move(now)),
      started_(TimeNow()),
      task_started_(now_()),
      told_(task_started_) {}

bool Job::running() const {
  const std::lock_guard lock(mutex_);
  return state_ == JobState::kRunning;
}

double Job::Rate() const {
  const double seconds = std::chrono::duration<double>(told_ - task_started_).count();
  return seconds > 0 ? static_cast<double>(done_) / seconds : 0;
}

nlohmann::json Job::Describe(bool failures) const {
  const double rate = Rate();
  nlohmann::json left;
  if (state_ == JobState::kRunning && rate > 0 && total_ >= done_ && total_ > 0)
    left = static_cast<double>(total_ - done_) / rate;
  nlohmann::json json = {{"id", id_},           {"kind", "update"},
                         {"library", library_}, {"state", NameOf(state_)},
                         {"task", task_},       {"unit", unit_},
                         {"done", done_},       {"total", total_},
                         {"rate", rate},        {"seconds_left", std::move(left)},
                         {"failed", failed_},   {"failures", nlohmann::json::array()},
                         {"started", started_}, {"ended", OrNull(ended_)},
                         {"summary", summary_}, {"error", OrNull(error_)}};
  if (failures) json["failures"] = failures_;
  return json;
}

nlohmann::json Job::ToJson() const {
  const std::lock_guard lock(mutex_);
  return Describe(true);
}

std::vector<std::function<void()>> Job::AddEvent(const std::string& name,
                                                 const nlohmann::json& data) {
  ++last_event_;
  events_[last_event_] =
      fmt::format("id: {}\nevent: {}\ndata: {}\n\n", last_event_, name,
                  data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  std::vector<std::function<void()>> wakes;
  for (auto& [feed, wake] : waiting_) wakes.push_back(std::move(wake));
  waiting_.clear();
  return wakes;
}

void Job::Report(const ProgressUpdate& update) {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    const Clock::time_point now = now_();
    const bool another = update.task != task_;
    if (another) task_started_ = now;
    if (!another && !update.ended && now - told_ < kBetweenReports) return;
    task_ = update.task;
    unit_ = update.unit;
    done_ = update.done;
    total_ = update.total;
    told_ = now;
    events_.erase(last_progress_);
    last_progress_ = last_event_ + 1;
    wakes = AddEvent("progress", Describe(false));
  }
  for (const auto& wake : wakes) wake();
}

void Job::NoteFailure(const std::string& path, const std::string& reason) {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    ++failed_;
    if (failures_.size() >= kMostFailures) return;
    const nlohmann::json failure = {{"path", path}, {"reason", reason}};
    failures_.push_back(failure);
    wakes = AddEvent("failure", failure);
  }
  for (const auto& wake : wakes) wake();
}

void Job::End(JobState state, nlohmann::json summary, const std::string& error) {
  std::vector<std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    state_ = state;
    ended_ = TimeNow();
    summary_ = std::move(summary);
    error_ = error;
    wakes = AddEvent("end", Describe(true));
  }
  for (const auto& wake : wakes) wake();
}

std::shared_ptr<EventFeed> Job::Watch(uint64_t after) {
  return std::make_shared<JobFeed>(shared_from_this(), after);
}

std::shared_ptr<Job> JobBoard::Start(const std::string& library, Work work) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return nullptr;
  for (const auto& [number, job] : jobs_) {
    if (job->library() == library && job->running()) return job;
  }
  ForgetOld();
  const uint64_t number = ++last_;
  auto job = std::make_shared<Job>(std::to_string(number), library);
  jobs_[number] = job;
  try {
    threads_[number] = Run(job, std::move(work));
  } catch (const std::exception& error) {
    threads_.erase(number);
    job->End(JobState::kFailed, {},
             fmt::format("its thread could not be started: {}", error.what()));
  }
  return job;
}

std::thread JobBoard::Run(const std::shared_ptr<Job>& job, Work work) {
  return std::thread([job, work = std::move(work)] {
    try {
      nlohmann::json summary = work(*job);
      const bool stopped = job->stop_token().stop_requested();
      job->End(stopped ? JobState::kCancelled : JobState::kDone, std::move(summary), "");
    } catch (const Error& error) {
      const bool cancelled = error.code() == ErrorCode::kCancelled;
      job->End(cancelled ? JobState::kCancelled : JobState::kFailed, {},
               cancelled ? "" : error.what());
    } catch (const std::exception& error) {
      job->End(JobState::kFailed, {}, error.what());
    }
  });
}

// Jobs that ended long ago, and the threads of all that ended.
void JobBoard::ForgetOld() {
  for (auto& [number, job] : jobs_) {
    const auto thread = threads_.find(number);
    if (job->running() || thread == threads_.end()) continue;
    thread->second.join();
    threads_.erase(thread);
  }
  while (jobs_.size() >= kMostKept && !jobs_.begin()->second->running()) {
    jobs_.erase(jobs_.begin());
  }
}

std::shared_ptr<Job> JobBoard::Find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, job] : jobs_) {
    if (job->id() == id) return job;
  }
  return nullptr;
}

std::shared_ptr<Job> JobBoard::Running(const std::string& library) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, job] : jobs_) {
    if (job->library() == library && job->running()) return job;
  }
  return nullptr;
}

std::vector<std::shared_ptr<Job>> JobBoard::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Job>> jobs;
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job) jobs.push_back(job->second);
  return jobs;
}

void JobBoard::StopAll() {
  std::map<uint64_t, std::thread> threads;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    for (const auto& [number, job] : jobs_) job->Cancel();
    threads.swap(threads_);
  }
  for (auto& [number, thread] : threads) thread.join();
}

}  // namespace bitpool
