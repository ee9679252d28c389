#include "bitpool/serve/jobs.h"

#include <gmock/gmock.h>
#include <pthread.h>

#include <future>
#include <memory>
#include <string>
#include <thread>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A job whose clock the test turns.
class JobTest : public ::testing::Test {
 protected:
  void Report(uint64_t done, double seconds) {
    now += std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
    job->Report({.task = "encoding", .unit = "pictures", .done = done, .total = 100});
  }
  Job::Clock::time_point now = {};
  std::shared_ptr<Job> job = std::make_shared<Job>("7", "photos", [this] { return now; });
};

TEST_F(JobTest, TellsRateAndTimeLeft) {
  Report(0, 1);
  Report(20, 2);
  const nlohmann::json told = job->ToJson();
  EXPECT_EQ(told["state"], "running");
  EXPECT_DOUBLE_EQ(told["rate"], 10);
  EXPECT_DOUBLE_EQ(told["seconds_left"], 8);
}

TEST_F(JobTest, ProgressIsToldSomeTimesASecond) {
  const auto feed = job->Watch(0);
  Report(1, 1);
  EXPECT_THAT(feed->Take().value(), HasSubstr("\"done\":1"));
  Report(2, 0.1);
  EXPECT_EQ(feed->Take(), "");
  Report(3, 0.3);
  EXPECT_THAT(feed->Take().value(), HasSubstr("\"done\":3"));
}

TEST_F(JobTest, WhoComesBackGoesOnAfterTheLastEvent) {
  Report(1, 1);
  job->NoteFailure("a.jpg", "is cut off");
  Report(2, 1);
  job->NoteFailure("b.jpg", "is empty");
  const std::string all = job->Watch(0)->Take().value();
  EXPECT_THAT(all, Not(HasSubstr("\"done\":1,")));  // old progress is of no use
  EXPECT_THAT(all, HasSubstr("id: 2\nevent: failure\ndata: {\"path\":\"a.jpg\""));
  const std::string rest = job->Watch(3)->Take().value();
  EXPECT_THAT(rest, Not(HasSubstr("a.jpg")));
  EXPECT_THAT(rest, HasSubstr("b.jpg"));
}

TEST_F(JobTest, WatchersAreWoken) {
  const auto feed = job->Watch(0);
  int woken = 0;
  feed->WakeWhenMore([&] { ++woken; });
  EXPECT_EQ(woken, 0);
  job->NoteFailure("a.jpg", "is cut off");
  EXPECT_EQ(woken, 1);
  job->NoteFailure("b.jpg", "is cut off");
  EXPECT_EQ(woken, 1);
  feed->WakeWhenMore([&] { ++woken; });  // there is something already
  EXPECT_EQ(woken, 2);
  feed->Take();
  job->End(JobState::kDone, {{"added", 3}}, "");
  EXPECT_THAT(feed->Take().value(), HasSubstr("event: end"));
  EXPECT_EQ(feed->Take(), std::nullopt);
}

TEST(JobBoardTest, OneAtATimeForALibrary) {
  JobBoard board;
  std::promise<void> go_on;
  const auto work = [&](Job& /*job*/) {
    go_on.get_future().wait();
    return nlohmann::json{{"added", 1}};
  };
  const auto first = board.Start("a", work);
  EXPECT_EQ(board.Start("a", work), first);
  EXPECT_EQ(board.Running("a"), first);
  EXPECT_EQ(board.Running("b"), nullptr);
  EXPECT_EQ(board.Find(first->id()), first);
  EXPECT_EQ(board.Find("99"), nullptr);
  go_on.set_value();
  board.StopAll();
  EXPECT_FALSE(first->running());
  EXPECT_EQ(board.Start("a", work), nullptr);
}

// No address space has room for the stack of a new thread while this exists.
class NoThreadsLeft {
 public:
  NoThreadsLeft() {
    pthread_getattr_default_np(&usual_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    EXPECT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 60), 0);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreadsLeft() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }
  NoThreadsLeft(const NoThreadsLeft&) = delete;
  NoThreadsLeft& operator=(const NoThreadsLeft&) = delete;

 private:
  pthread_attr_t usual_;
};

TEST(JobBoardTest, AJobWithoutAThreadHasFailedAndBlocksNoOther) {
  JobBoard board;
  const auto work = [](Job& /*job*/) { return nlohmann::json{{"added", 1}}; };
  std::shared_ptr<Job> failed;
  {
    const NoThreadsLeft none_left;
    failed = board.Start("a", work);
  }
  EXPECT_EQ(failed->ToJson()["state"], "failed");
  EXPECT_THAT(failed->ToJson()["error"].get<std::string>(), HasSubstr("thread"));
  const auto next = board.Start("a", work);
  EXPECT_NE(next, failed);
  while (next->running()) std::this_thread::yield();
  EXPECT_EQ(next->ToJson()["state"], "done");
}

TEST(JobBoardTest, EndsAreTold) {
  JobBoard board;
  const auto failing = board.Start(
      "a", [](Job& /*job*/) -> nlohmann::json { throw Error(ErrorCode::kIo, "disk", "is full"); });
  const auto stopping = board.Start("b", [](Job& job) {
    while (!job.stop_token().stop_requested()) std::this_thread::yield();
    return nlohmann::json{{"added", 2}};
  });
  stopping->Cancel();
  while (failing->running() || stopping->running()) std::this_thread::yield();
  EXPECT_EQ(failing->ToJson()["state"], "failed");
  EXPECT_EQ(failing->ToJson()["error"], "disk: is full");
  EXPECT_EQ(stopping->ToJson()["state"], "cancelled");
  EXPECT_EQ(stopping->ToJson()["summary"]["added"], 2);
}

}  // namespace
}  // namespace bitpool
