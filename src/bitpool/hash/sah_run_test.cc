#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/feature_set_testing.h"
#include "bitpool/hash/sah_testing.h"
#include "bitpool/hash/testing.h"

// How a training by SAH proceeds, whatever it learns: threads, stops, resuming, and edge cases of
// the data.
namespace bitpool {
namespace {

TEST(Sah, SameModelAtAnyNumberOfThreads) {
  const MemoryFeatureSet images = RectifiedImages(kSahDimension, 90, 500);
  const auto one = TrainSah(SahOptionsFor(9), images, RunContext({.threads = 1}));
  const auto four = TrainSah(SahOptionsFor(9), images, RunContext({.threads = 4}));
  EXPECT_TRUE(SameModel(one, four));
  ASSERT_EQ(one.summary.iterations.size(), four.summary.iterations.size());
  EXPECT_EQ(one.summary.iterations.back().objective, four.summary.iterations.back().objective);
}

// Asks for a stop when the pass with this number over the images begins: 0 is generalised max
// pooling, 1 the first iteration.
class StopAtPass : public ProgressSink {
 public:
  StopAtPass(int pass, std::stop_source stop) : pass_(pass), stop_(std::move(stop)) {}

  void Report(const ProgressUpdate& update) override {
    if (update.task == "pooling" && update.done == 0 && !update.ended && pass_-- == 0) {
      stop_.request_stop();
    }
  }

 private:
  int pass_;
  std::stop_source stop_;
};

RunContext StoppedAtPass(int pass) {
  const std::stop_source stop;
  return RunContext({.threads = 2,
                     .seed = 1,
                     .stop = stop.get_token(),
                     .progress = std::make_shared<StopAtPass>(pass, stop)});
}

TEST(Sah, InterruptedLeavesTheModelOfTheLastIteration) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 100, 600), true);
  SahOptions options = SahOptionsFor(8);
  for (const int complete : {1, 2}) {
    options.iterations = 4;
    const auto trained = TrainSah(options, records, StoppedAtPass(complete + 1));
    EXPECT_TRUE(trained.summary.interrupted);
    EXPECT_FALSE(trained.summary.converged);
    options.iterations = complete;
    const auto expected = TrainSah(options, records, RunContext());
    EXPECT_FALSE(expected.summary.interrupted);
    EXPECT_EQ(trained.summary.iterations.size(), static_cast<size_t>(complete));
    EXPECT_TRUE(SameModel(trained, expected));
  }
}

TEST(Sah, InterruptedBeforeThereIsAModelIsAnError) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 100, 600), true);
  const auto expect_cancelled = [&](const RunContext& context) {
    try {
      TrainSah(SahOptionsFor(8), records, context);
      ADD_FAILURE() << "was not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kCancelled);
    }
  };
  expect_cancelled(StoppedAtPass(0));
  expect_cancelled(StoppedAtPass(1));
  expect_cancelled(StoppedContext("pooling", 50));
  expect_cancelled(StoppedContext("pooling", 100));
}

TEST(Sah, GoesOnWhereItStopped) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 100, 700), true);
  SahOptions options = SahOptionsFor(8);
  options.gamma = 2;
  std::vector<JointState> states;
  const auto whole =
      TrainSah(options, records, RunContext(),
               {.observer = [&](const JointState& state) { states.push_back(state); }});
  ASSERT_EQ(states.size(), 4U);
  for (size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(states[i].iterations.size(), i + 1);
    std::vector<JointState> rest;
    const auto resumed = TrainSah(
        options, records, RunContext(),
        {.resume = states[i], .observer = [&](const JointState& state) { rest.push_back(state); }});
    EXPECT_TRUE(SameModel(whole, resumed)) << i;
    EXPECT_EQ(resumed.summary.iterations.size(), 4U);
    EXPECT_EQ(rest.size(), states.size() - 1 - i);
    EXPECT_EQ(resumed.summary.iterations.back().objective,
              whole.summary.iterations.back().objective);
  }
  // A stop right after a resume leaves what was there.
  const auto stopped = TrainSah(options, records, StoppedAtPass(0), {.resume = states[1]});
  EXPECT_TRUE(stopped.summary.interrupted);
  EXPECT_EQ(stopped.summary.iterations.size(), 2U);
  EXPECT_TRUE(SameBits(EncoderOf(stopped).weights, states[1].encoder.weights));
}

TEST(Sah, RefusesToGoOnWithOtherImagesOrBits) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 40, 700), true);
  const MemoryRecords fewer = RecordsOf(RectifiedImages(kSahDimension, 39, 700), true);
  const MemoryRecords wider = RecordsOf(RectifiedImages(kSahDimension + 4, 40, 700), true);
  const JointState state = StatesOf(SahOptionsFor(6), records).front();
  const auto refusal = [&](const SahOptions& options, const RecordStore& others) {
    return RefusalOf([&] { TrainSah(options, others, RunContext(), {.resume = state}); });
  };
  EXPECT_EQ(refusal(SahOptionsFor(6), records), "(no error)");
  EXPECT_THAT(refusal(SahOptionsFor(6), fewer), ::testing::HasSubstr("expected 39 images"));
  EXPECT_THAT(refusal(SahOptionsFor(6), wider), ::testing::HasSubstr("dimension 20"));
  EXPECT_THAT(refusal(SahOptionsFor(7), records), ::testing::HasSubstr("7 bits"));
}

TEST(Sah, StopsWhenBitsStopChanging) {
  const MemoryRecords records = RecordsOf(RectifiedImages(kSahDimension, 100, 800), true);
  SahOptions options = SahOptionsFor(8);
  options.iterations = 50;
  options.min_flipped = 1;
  const auto first = TrainSah(options, records, RunContext());
  EXPECT_TRUE(first.summary.converged);
  EXPECT_EQ(first.summary.iterations.size(), 1U);
  options.min_flipped = 0.01;
  const auto trained = TrainSah(options, records, RunContext());
  EXPECT_TRUE(trained.summary.converged);
  EXPECT_GT(trained.summary.iterations.size(), 1U);
  EXPECT_LT(trained.summary.iterations.size(), 50U);
  for (const TrainingIteration& record : trained.summary.iterations) {
    EXPECT_EQ(record.flipped <= 0.01, &record == &trained.summary.iterations.back());
  }
  // Running out of iterations is not convergence.
  options.iterations = 1;
  EXPECT_FALSE(TrainSah(options, records, RunContext()).summary.converged);
}

TEST(Sah, EdgesOfTheData) {
  const RunContext context;
  const MemoryFeatureSet few = RectifiedImages(kSahDimension, 5, 900);
  EXPECT_EQ(TrainSah(SahOptionsFor(8), few, context).model.bits(), 8);
  EXPECT_EQ(TrainSah(SahOptionsFor(1), few, context).model.bits(), 1);
  EXPECT_EQ(
      TrainSah(SahOptionsFor(40), RectifiedImages(kSahDimension, 60, 900), context).model.bits(),
      40);

  MemoryFeatureSet alike(kSahDimension);
  for (int i = 0; i < 5; ++i) alike.Add("alike", RectifiedFeatures(kSahDimension, 6, 1));
  EXPECT_THAT(RefusalOf([&] { TrainSah(SahOptionsFor(4), alike, context); }),
              ::testing::HasSubstr("all alike"));
  EXPECT_THAT(
      RefusalOf([&] { TrainSah(SahOptionsFor(4), RectifiedImages(kSahDimension, 1, 1), context); }),
      ::testing::HasSubstr("1 training samples"));
  EXPECT_THAT(
      RefusalOf([&] { TrainSah(SahOptionsFor(4), MemoryFeatureSet(kSahDimension), context); }),
      ::testing::HasSubstr("0 training samples"));
  const FaultyFeatures bad(few, {3}, {});
  EXPECT_THAT(RefusalOf([&] { TrainSah(SahOptionsFor(4), bad, context); }),
              ::testing::StartsWith("image 3: "));
}

TEST(Sah, LeavesOutImagesWithoutDescriptors) {
  const MemoryFeatureSet good = RectifiedImages(kSahDimension, 40, 1000);
  MemoryFeatureSet rest(kSahDimension);
  for (Index i = 0; i < good.size(); ++i) {
    if (i != 4 && i != 17) rest.Add(good.name(i), DescriptorsOf(good, i));
  }
  const auto trained = TrainSah(SahOptionsFor(6), FaultyFeatures(good, {}, {4, 17}), RunContext());
  EXPECT_THAT(trained.summary.skipped, ::testing::ElementsAre("image 4", "image 17"));
  EXPECT_EQ(trained.summary.samples, 38);
  const auto expected = TrainSah(SahOptionsFor(6), rest, RunContext());
  EXPECT_THAT(expected.summary.skipped, ::testing::IsEmpty());
  EXPECT_TRUE(SameModel(trained, expected));
}

}  // namespace
}  // namespace bitpool
