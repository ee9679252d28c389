#include <fstream>
#include <optional>
#include <sstream>

#include "bitpool/hash/itq.h"
#include "bitpool/hash/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/checkpoint_file.h"

namespace bitpool {
namespace {

using nlohmann::json;
using testing::ExpectError;
using testing::TempFolder;

const json kContrastJob = {{"settings", {{"bits", 6}, {"tau", 0.1}}}, {"data", "a.bpf"}};

ContrastOptions Options(Index hidden) {
  ContrastOptions options;
  options.epochs = 4;
  options.batch = 20;
  options.hidden = hidden;
  return options;
}

struct Training {
  MatrixF x = ClusteredSamples(8, 120, 1);
  MatrixColumns source{x};
  LinearMap start;

  Training() {
    TrainingSummary unused;
    start = FindItqEncoder({.bits = 6}, source, ComputeMoments(source, RunContext()), RunContext(),
                           unused);
  }
  Trained<HashModel> Run(Index hidden, ContrastRun run) const {
    return TrainContrast(Options(hidden), {source, 3}, start, RunContext(), std::move(run));
  }
};

// The state after two epochs.
ContrastState HalfWay(const Training& training, Index hidden) {
  std::optional<ContrastState> half;
  training.Run(hidden, {.observer = [&](const ContrastState& state) {
                 if (state.iterations.size() == 2) half = state;
               }});
  return half.value();
}

TEST(ContrastCheckpoint, TrainingGoesOnAsIfNothingHadHappened) {
  const TempFolder folder;
  const Training training;
  for (const Index hidden : {0, 5}) {
    SaveCheckpoint(Env::Posix(), folder / "c", HalfWay(training, hidden), kContrastJob);
    const Trained<HashModel> whole = training.Run(hidden, {});
    const Trained<HashModel> resumed = training.Run(
        hidden, {.resume = LoadContrastCheckpoint(Env::Posix(), folder / "c", kContrastJob)});
    EXPECT_TRUE(SameBits(whole.model.encoder->Project(training.x),
                         resumed.model.encoder->Project(training.x)));
    ASSERT_EQ(resumed.summary.iterations.size(), 4U);
    EXPECT_EQ(whole.summary.iterations[1].objective, resumed.summary.iterations[1].objective);
  }
}

TEST(ContrastCheckpoint, AnotherJobIsRefused) {
  const TempFolder folder;
  SaveCheckpoint(Env::Posix(), folder / "c", HalfWay(Training(), 0), kContrastJob);
  json other = kContrastJob;
  other["settings"]["tau"] = 0.3;
  ExpectError(ErrorCode::kInvalidArgument, {"job.settings.tau = 0.3, found 0.1"},
              [&] { LoadContrastCheckpoint(Env::Posix(), folder / "c", other); });
  ExpectError(ErrorCode::kInvalidArgument, {"expected a file of kind"},
              [&] { LoadCheckpoint(Env::Posix(), folder / "c", kContrastJob); });
}

TEST(ContrastCheckpoint, EveryDamageIsRejected) {
  const TempFolder folder;
  ContrastState state = HalfWay(Training(), 2);
  SaveCheckpoint(Env::Posix(), folder / "c", state, kContrastJob);
  std::ostringstream text;
  text << std::ifstream(folder / "c", std::ios::binary).rdbuf();
  testing::ExpectEveryDamageIsRejected(text.str(), [](const std::shared_ptr<const FileView>& view) {
    ParseContrastCheckpoint(Container::Parse(view), kContrastJob);
  });
}

TEST(ContrastCheckpoint, SizesMustAgree) {
  const TempFolder folder;
  const ContrastState good = HalfWay(Training(), 2);
  const auto expect_damage = [&](const char* section, const auto& change) {
    ContrastState state = good;
    change(state);
    SaveCheckpoint(Env::Posix(), folder / "c", state, kContrastJob);
    ExpectError(ErrorCode::kCorrupt, {section},
                [&] { LoadContrastCheckpoint(Env::Posix(), folder / "c", kContrastJob); });
  };
  expect_damage("map_bias", [](ContrastState& state) { state.map.linear.bias.setOnes(5); });
  expect_damage("mean_weights", [](ContrastState& state) {
    state.mean.linear.weights.setOnes(6, 7);
    state.mean.hidden.weights.setOnes(2, 7);
  });
  expect_damage("square_hidden_weights",
                [](ContrastState& state) { state.square.hidden.weights.setOnes(2, 7); });
  expect_damage("square_output", [](ContrastState& state) { state.square.output.setOnes(5, 2); });
}

}  // namespace
}  // namespace bitpool
