#include "bitpool/training/checkpoint_file.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include "bitpool/hash/testing.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using nlohmann::json;
using testing::ExpectError;
using testing::FaultyEnv;
using testing::TempFolder;

const json kJob = {{"settings", {{"bits", 11}, {"mu", 0.1}}}, {"data", "a.bpf"}};

JointState SomeState(Index dimension, int bits, Index images, int iterations) {
  Random random(static_cast<uint64_t>(iterations));
  JointState state;
  state.vectors = random.NormalMatrix(dimension, images);
  state.codes = BinaryCodes::FromSigns(random.NormalMatrix(bits, images));
  state.encoder = {random.NormalMatrix(bits, dimension), random.NormalMatrix(bits, 1)};
  state.decoder = {random.NormalMatrix(dimension, bits), random.NormalMatrix(dimension, 1)};
  state.gamma = 1.0 / 3;
  for (int i = 0; i < iterations; ++i) {
    state.iterations.push_back({.objective = random.Normal(),
                                .reconstruction = random.Normal() * 1e-300,
                                .quantisation = random.Normal() * 1e300,
                                .aggregation = random.Normal() * 1e9,
                                .flipped = random.Uniform(),
                                .seconds = random.Uniform()});
  }
  return state;
}

bool SameNumber(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

void ExpectSameState(const JointState& a, const JointState& b) {
  EXPECT_TRUE(SameBits(a.vectors, b.vectors));
  EXPECT_EQ(a.codes.bits(), b.codes.bits());
  EXPECT_TRUE(std::ranges::equal(a.codes.rows(), b.codes.rows()));
  EXPECT_TRUE(SameBits(a.encoder.weights, b.encoder.weights));
  EXPECT_TRUE(SameBits(a.encoder.bias, b.encoder.bias));
  EXPECT_TRUE(SameBits(a.decoder.weights, b.decoder.weights));
  EXPECT_TRUE(SameBits(a.decoder.bias, b.decoder.bias));
  EXPECT_TRUE(SameNumber(a.gamma, b.gamma));
  ASSERT_EQ(a.iterations.size(), b.iterations.size());
  for (size_t i = 0; i < a.iterations.size(); ++i) {
    const TrainingIteration &x = a.iterations[i], &y = b.iterations[i];
    EXPECT_TRUE(SameNumber(x.objective, y.objective));
    EXPECT_TRUE(SameNumber(x.reconstruction, y.reconstruction));
    EXPECT_TRUE(SameNumber(x.quantisation, y.quantisation));
    EXPECT_TRUE(SameNumber(x.aggregation, y.aggregation));
    EXPECT_TRUE(SameNumber(x.flipped, y.flipped));
    EXPECT_TRUE(SameNumber(x.seconds, y.seconds));
  }
}

TEST(CheckpointFile, StateComesBackTheSame) {
  const TempFolder folder;
  for (const int iterations : {1, 50}) {  // the second replaces the first
    const JointState state = SomeState(5, 11, 20, iterations);
    SaveCheckpoint(Env::Posix(), folder / "c", state, kJob);
    ExpectSameState(LoadCheckpoint(Env::Posix(), folder / "c", kJob), state);
  }
}

TEST(CheckpointFile, DoublesComeBackToTheLastBit) {
  const TempFolder folder;
  using Limits = std::numeric_limits<double>;
  JointState state = SomeState(2, 3, 4, 1);
  Random random(7);
  std::vector<double> numbers = {0.0,
                                 -0.0,
                                 1.0,
                                 0.1,
                                 1.0 / 3,
                                 Limits::max(),
                                 -1e22,
                                 Limits::min(),
                                 Limits::denorm_min(),
                                 Limits::epsilon(),
                                 9007199254740993.0,
                                 5e-320};
  while (numbers.size() < 3000) {  // any bits that make a number
    const double number = std::bit_cast<double>(random.Next());
    if (std::isfinite(number)) numbers.push_back(number);
  }
  for (const double number : numbers) {
    state.iterations.push_back({.objective = number, .flipped = -number});
  }
  state.gamma = -0.0;
  SaveCheckpoint(Env::Posix(), folder / "c", state, kJob);
  ExpectSameState(LoadCheckpoint(Env::Posix(), folder / "c", kJob), state);
}

TEST(CheckpointFile, TrainingGoesOnAsIfNothingHadHappened) {
  const TempFolder folder;
  Random random(2);
  const MatrixF centres = ClusteredSamples(8, 60, 1);
  MemoryFeatureSet images(8);
  for (Index image = 0; image < 60; ++image) {
    MatrixF descriptors = random.NormalMatrix(8, 3);
    descriptors.colwise() += centres.col(image);
    images.Add(std::to_string(image), descriptors);
  }
  MemoryRecords records(8);
  ReduceImages(images, true, records, RunContext());
  const SahOptions options{.bits = 4, .iterations = 3, .gamma = 0.3, .min_flipped = 0};
  const auto keep_first = [&](const JointState& state) {
    if (state.iterations.size() > 1) return;
    SaveCheckpoint(Env::Posix(), folder / "c", state, kJob);
  };
  const auto whole = TrainSah(options, records, RunContext(), {.observer = keep_first});
  ASSERT_EQ(whole.summary.iterations.size(), 3U);
  const auto resumed = TrainSah(options, records, RunContext(),
                                {.resume = LoadCheckpoint(Env::Posix(), folder / "c", kJob)});
  EXPECT_EQ(resumed.summary.iterations.size(), 3U);
  EXPECT_TRUE(SameBits(resumed.model.decoder.weights, whole.model.decoder.weights));
  // A state whose decoder gives labels belongs to another training.
  JointState labelled = LoadCheckpoint(Env::Posix(), folder / "c", kJob);
  labelled.decoder = {MatrixF::Ones(3, 4), VectorF::Ones(3)};
  ExpectError(ErrorCode::kInvalidArgument, {"a decoder to 3", "a decoder to 8"},
              [&] { TrainSah(options, records, RunContext(), {.resume = labelled}); });
  EXPECT_TRUE(
      SameBits(resumed.model.encoder->Project(centres), whole.model.encoder->Project(centres)));
}

// With labels the decoder gives as many numbers as there are classes, not as the vectors have.
TEST(CheckpointFile, TheDecoderMayGiveLabels) {
  const TempFolder folder;
  JointState state = SomeState(5, 11, 20, 1);
  Random random(3);
  state.decoder = {random.NormalMatrix(3, 11), random.NormalMatrix(3, 1)};
  SaveCheckpoint(Env::Posix(), folder / "c", state, kJob);
  ExpectSameState(LoadCheckpoint(Env::Posix(), folder / "c", kJob), state);
}

TEST(CheckpointFile, AnotherJobIsRefused) {
  const TempFolder folder;
  const JointState state = SomeState(2, 3, 4, 1);
  const auto expect_refused = [&](const json& saved, const json& asked,
                                  const std::vector<std::string>& words) {
    SaveCheckpoint(Env::Posix(), folder / "c", state, saved);
    ExpectError(ErrorCode::kInvalidArgument, words,
                [&] { LoadCheckpoint(Env::Posix(), folder / "c", asked); });
  };
  json other = kJob;
  other["settings"]["mu"] = 0.2;
  other["zebra"] = 1;  // a later key that differs too
  expect_refused(kJob, other, {"made by another job: expected job.settings.mu = 0.2, found 0.1"});
  other = kJob;
  other["data"] = "b.bpf";
  expect_refused(kJob, other, {"job.data = \"b.bpf\", found \"a.bpf\""});
  other = kJob;
  other.erase("data");
  expect_refused(kJob, other, {"job.data = nothing, found \"a.bpf\""});
  expect_refused(other, kJob, {"job.data = \"a.bpf\", found nothing"});
  other["data"] = nullptr;
  expect_refused(kJob, other, {"job.data = null, found \"a.bpf\""});
  expect_refused(kJob, "rba", {"job = \"rba\", found {"});
}

// Paths are any bytes, and JSON is UTF-8.
TEST(CheckpointFile, AJobThatJsonCannotHoldIsStillTheSameJob) {
  const TempFolder folder;
  const json job = {{"data", "pictures-\xff.bpf"}, {"limit", std::nan("")}};
  const JointState state = SomeState(2, 3, 4, 1);
  SaveCheckpoint(Env::Posix(), folder / "c", state, job);
  ExpectSameState(LoadCheckpoint(Env::Posix(), folder / "c", job), state);
  ExpectError(ErrorCode::kInvalidArgument, {"job.data", "job"},
              [&] { LoadCheckpoint(Env::Posix(), folder / "c", kJob); });
}

TEST(CheckpointFile, EveryDamageIsRejected) {
  const TempFolder folder;
  SaveCheckpoint(Env::Posix(), folder / "c", SomeState(2, 3, 2, 1), kJob);
  std::ostringstream content;
  content << std::ifstream(folder / "c", std::ios::binary).rdbuf();
  testing::ExpectEveryDamageIsRejected(content.str(),
                                       [](const std::shared_ptr<const FileView>& view) {
                                         ParseCheckpoint(Container::Parse(view), kJob);
                                       });
}

// A complete file with correct checksums and the content of a small state, to be changed.
struct Forged {
  MatrixF vectors = MatrixF::Ones(3, 2);
  std::vector<uint64_t> code_dims = {2, 1};
  std::vector<uint8_t> codes = {0x0f, 0x1f};
  MatrixF encoder_weights = MatrixF::Ones(5, 3), encoder_bias = MatrixF::Ones(5, 1);
  MatrixF decoder_weights = MatrixF::Ones(3, 5), decoder_bias = MatrixF::Ones(3, 1);
  std::string kind = "checkpoint";
  json metadata = json::parse(R"({"job": {}, "bits": 5, "gamma": 2.5, "iterations": [
    {"objective": 1, "reconstruction": 2, "quantisation": 3, "aggregation": 4, "flipped": 5,
     "seconds": 6}]})");
};

// Writes it and reads it back.
JointState Reopen(const Forged& forged) {
  const TempFolder folder;
  ContainerWriter writer(Env::Posix(), folder / "c", forged.kind, IfExists::kReplace);
  const auto add = [&](const char* name, const MatrixF& matrix) {
    writer.Add<float>(name,
                      {static_cast<uint64_t>(matrix.cols()), static_cast<uint64_t>(matrix.rows())},
                      {matrix.data(), static_cast<size_t>(matrix.size())});
  };
  add("vectors", forged.vectors);
  writer.Add<uint8_t>("codes", forged.code_dims, forged.codes);
  add("encoder_weights", forged.encoder_weights);
  add("encoder_bias", forged.encoder_bias);
  add("decoder_weights", forged.decoder_weights);
  add("decoder_bias", forged.decoder_bias);
  writer.Commit(forged.metadata);
  return LoadCheckpoint(Env::Posix(), folder / "c", json::object());
}

TEST(CheckpointFile, FileIsAsDocumented) {
  const JointState state = Reopen({});
  EXPECT_EQ(state.vectors, MatrixF::Ones(3, 2));
  EXPECT_EQ(state.codes.bits(), 5);
  EXPECT_EQ(state.codes.ToHex(1), "1f");
  EXPECT_EQ(state.encoder.weights, MatrixF::Ones(5, 3));
  EXPECT_EQ(state.decoder.bias, VectorF::Ones(3));
  EXPECT_EQ(state.gamma, 2.5);
  ASSERT_EQ(state.iterations.size(), 1U);
  EXPECT_EQ(state.iterations[0].aggregation, 4);
  EXPECT_EQ(state.iterations[0].seconds, 6);
}

TEST(CheckpointFile, SizesMustAgreeAndNumbersBeFinite) {
  const auto expect_corrupt = [](const std::vector<std::string>& words,
                                 const std::function<void(Forged&)>& change) {
    Forged forged;
    change(forged);
    ExpectError(ErrorCode::kCorrupt, words, [&] { Reopen(forged); });
  };
  const auto section = [](const char* name) { return fmt::format("section \"{}\"", name); };
  const float infinity = std::numeric_limits<float>::infinity();

  expect_corrupt({section("vectors"), "not finite"},
                 [&](Forged& f) { f.vectors(2, 1) = infinity; });
  expect_corrupt({section("vectors")}, [](Forged& f) { f.vectors.resize(3, 0); });
  expect_corrupt({section("codes"), "3 codes"}, [](Forged& f) { f.vectors = MatrixF::Ones(3, 3); });
  expect_corrupt({section("codes"), "2 codes of 1"}, [](Forged& f) { f.code_dims = {1, 2}; });
  expect_corrupt({section("codes"), "code 1", "beyond"}, [](Forged& f) { f.codes[1] = 0x20; });
  expect_corrupt({section("encoder_weights"), "5 × 2"},
                 [](Forged& f) { f.vectors = MatrixF::Ones(2, 2); });
  expect_corrupt({section("encoder_weights"), "not finite"},
                 [](Forged& f) { f.encoder_weights(0, 0) = std::nanf(""); });
  expect_corrupt({section("encoder_bias"), "5 numbers"},
                 [](Forged& f) { f.encoder_bias = MatrixF::Ones(4, 1); });
  expect_corrupt({section("encoder_bias"), "vector"},
                 [](Forged& f) { f.encoder_bias = MatrixF::Ones(5, 2); });
  expect_corrupt({section("decoder_weights"), "5 columns, got 3"}, [](Forged& f) {
    f.decoder_weights = MatrixF::Ones(5, 3);
    f.decoder_bias = MatrixF::Ones(5, 1);
  });
  expect_corrupt({section("decoder_bias"), "not finite"},
                 [&](Forged& f) { f.decoder_bias(1, 0) = -infinity; });
  for (const json& bits : {json(), json(0), json(-1), json(2.5), json(4097), json(1e300)}) {
    expect_corrupt({section("metadata"), "bits"}, [&](Forged& f) { f.metadata["bits"] = bits; });
  }
  expect_corrupt({section("codes")}, [](Forged& f) { f.metadata["bits"] = 9; });
  expect_corrupt({section("metadata"), "gamma"},
                 [](Forged& f) { f.metadata["gamma"] = std::nan(""); });
  expect_corrupt({section("metadata"), "job"}, [](Forged& f) { f.metadata.erase("job"); });
  expect_corrupt({section("metadata"), "iterations"},
                 [](Forged& f) { f.metadata["iterations"] = 4; });
  expect_corrupt({section("metadata"), "objective"},
                 [](Forged& f) { f.metadata["iterations"][0] = 4; });
  expect_corrupt({section("metadata"), "flipped"},
                 [](Forged& f) { f.metadata["iterations"][0].erase("flipped"); });
  Forged model;
  model.kind = "model";
  ExpectError(ErrorCode::kInvalidArgument, {"checkpoint", "model"}, [&] { Reopen(model); });
}

TEST(CheckpointFile, AnyFailureLeavesAWholeCheckpoint) {
  const JointState old = SomeState(3, 4, 5, 1), next = SomeState(3, 4, 5, 2);
  const auto replace = [&](Env& env, const TempFolder& folder) {
    SaveCheckpoint(Env::Posix(), folder / "c", old, kJob);
    SaveCheckpoint(env, folder / "c", next, kJob);
  };
  FaultyEnv counting(0);
  replace(counting, TempFolder());
  for (int failing = 1; failing <= counting.operations(); ++failing) {
    const TempFolder folder;
    FaultyEnv env(failing);
    ExpectError(ErrorCode::kIo, {"injected"}, [&] { replace(env, folder); });
    // Only the last step, the sync of the folder, comes after the new one has taken its place.
    ExpectSameState(LoadCheckpoint(Env::Posix(), folder / "c", kJob),
                    failing < counting.operations() ? old : next);
    EXPECT_EQ(Env::Posix().List(folder.path()), std::vector<std::string>{"c"});
  }
}

}  // namespace
}  // namespace bitpool
