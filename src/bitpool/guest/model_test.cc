// Uses the public headers only, as a guest does.
#include "bitpool/model.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/Core>
#include <atomic>
#include <filesystem>
#include <limits>
#include <random>

#include "bitpool/error.h"

namespace {

constexpr std::size_t kDimension = 24;

std::vector<float> Clusters(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < kDimension; ++d) {
      numbers.push_back(normal(random) + 4.0F * static_cast<float>((i + d) % 5 == 0));
    }
  }
  return numbers;
}

std::filesystem::path ModelFile(const char* name) {
  return std::filesystem::temp_directory_path() / (std::to_string(::getpid()) + name);
}

// Bit i of every code is 1 where number i is not negative.
void ExpectSigns(const bitpool::Codes& codes, const bitpool::OwnedVectors& numbers) {
  ASSERT_EQ(codes.size(), numbers.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    for (std::size_t bit = 0; bit < numbers.dimension(); ++bit) {
      EXPECT_EQ((codes[i][bit / 8] >> (bit % 8)) & 1, numbers[i][bit] >= 0 ? 1 : 0);
    }
  }
}

TEST(GuestModel, EveryUnsupervisedMethodTrainsEncodesAndProjects) {
  const std::vector<float> numbers = Clusters(600, 1);
  const bitpool::Vectors vectors(numbers, kDimension);
  for (const char* method : {"rba", "itq", "kmh", "sph", "ba", "pcah", "lsh"}) {
    SCOPED_TRACE(method);
    const bitpool::Model model = bitpool::Train(method, vectors, {.bits = 8});
    EXPECT_EQ(model.method(), method);
    EXPECT_EQ(model.bits(), 8);
    EXPECT_EQ(model.dimension(), kDimension);
    ExpectSigns(model.Encode(vectors), model.Project(vectors));
    EXPECT_EQ(model.Reconstruct(model.Encode(vectors)).dimension(), kDimension);
  }
}

TEST(GuestModel, LearnsFromClasses) {
  const std::vector<float> numbers = Clusters(500, 2);
  std::vector<std::int32_t> classes;
  for (int i = 0; i < 500; ++i) classes.push_back(i % 5);
  const bitpool::Model model = bitpool::Train("sdh", {numbers, kDimension}, classes, {.bits = 8});
  EXPECT_EQ(model.bits(), 8);
  EXPECT_THROW(bitpool::Train("sdh", bitpool::Vectors(numbers, kDimension)), bitpool::Error);
  classes.pop_back();
  EXPECT_THROW(bitpool::Train("sdh", {numbers, kDimension}, classes), bitpool::Error);
}

TEST(GuestModel, SavedAndOpenedGivesTheSameCodes) {
  const std::vector<float> numbers = Clusters(400, 3);
  const bitpool::Vectors vectors(numbers, kDimension);
  const bitpool::Model model = bitpool::Train("itq", vectors, {.bits = 16});
  EXPECT_FALSE(model.report().empty());
  const auto path = ModelFile("guest.bpm");
  model.Save(path);
  const bitpool::Codes again = bitpool::Model::Open(path).Encode(vectors);
  std::filesystem::remove(path);
  const bitpool::Codes codes = model.Encode(vectors);
  EXPECT_TRUE(std::equal(codes.rows().begin(), codes.rows().end(), again.rows().begin(),
                         again.rows().end()));
}

TEST(GuestModel, EncodesAndProjectsImages) {
  const auto golden = std::filesystem::path(BITPOOL_SOURCE_DIR) / "tests/golden/0.2.0";
  const auto path = ModelFile("images.bpm");
  const bitpool::Model model =
      bitpool::TrainOnFeatures("sah", golden / "features.bpf", path, {.bits = 6});
  const bitpool::OwnedVectors numbers = model.ProjectFeatures(golden / "features.bpf");
  EXPECT_EQ(numbers.size(), 20U);
  EXPECT_EQ(numbers.dimension(), 6U);
  ExpectSigns(model.EncodeFeatures(golden / "features.bpf"), numbers);
  const bitpool::OwnedVectors again =
      bitpool::Model::Open(path).ProjectFeatures(golden / "features.bpf");
  std::filesystem::remove(path);
  EXPECT_TRUE(std::equal(numbers.data(), numbers.data() + 120, again.data(), again.data() + 120));
  EXPECT_THROW(
      bitpool::Model::Open(golden / "model-linear.bpm").ProjectFeatures(golden / "features.bpf"),
      bitpool::Error);
  const std::vector<float> zeros(model.dimension());
  EXPECT_THROW(model.Encode({zeros, model.dimension()}), bitpool::Error);
  EXPECT_THROW(model.Project({zeros, model.dimension()}), bitpool::Error);
}

TEST(GuestModel, AMatrixIsVectors) {
  const std::vector<float> numbers = Clusters(300, 4);
  const Eigen::MatrixXf matrix = Eigen::Map<const Eigen::MatrixXf>(numbers.data(), kDimension, 300);
  const bitpool::Codes one = bitpool::Train("itq", matrix, {.bits = 8}).Encode(matrix);
  const bitpool::Vectors vectors(numbers, kDimension);
  const bitpool::Codes two = bitpool::Train("itq", vectors, {.bits = 8}).Encode(vectors);
  EXPECT_TRUE(std::ranges::equal(one.rows(), two.rows()));
}

TEST(GuestModel, TheSeedDecidesAndTheThreadsDoNot) {
  const std::vector<float> numbers = Clusters(700, 5);
  const bitpool::Vectors vectors(numbers, kDimension);
  const auto train = [&](const bitpool::Run& run) {
    return bitpool::Train("itq", vectors, {.bits = 12}, run).Encode(vectors);
  };
  EXPECT_TRUE(std::ranges::equal(train({.threads = 1}).rows(), train({.threads = 3}).rows()));
  EXPECT_FALSE(std::ranges::equal(train({.seed = 1}).rows(), train({.seed = 2}).rows()));
}

TEST(GuestModel, ProgressIsToldAndAStopEndsIt) {
  const std::vector<float> numbers = Clusters(500, 6);
  const bitpool::Vectors vectors(numbers, kDimension);
  std::atomic<int> told = 0;
  bitpool::Train("rba", vectors, {.bits = 8},
                 {.progress = [&](const bitpool::ProgressUpdate&) { ++told; }});
  EXPECT_GT(told, 0);
  std::stop_source stop;
  stop.request_stop();
  try {
    bitpool::Train("kmh", vectors, {.bits = 8}, {.stop = stop.get_token()});
    FAIL();
  } catch (const bitpool::Error& error) {
    EXPECT_EQ(error.code(), bitpool::ErrorCode::kCancelled);
  }
}

TEST(GuestModel, MistakesAreNamed) {
  std::vector<float> numbers = Clusters(50, 7);
  const auto message = [&](const auto& call) -> std::string {
    try {
      call();
    } catch (const bitpool::Error& error) {
      return error.what();
    }
    return "(no error)";
  };
  const bitpool::Vectors vectors(numbers, kDimension);
  EXPECT_NE(message([&] { bitpool::Train("magic", vectors); }).find("magic"), std::string::npos);
  EXPECT_NE(message([&] {
              bitpool::Train("itq", vectors, {.bits = 8, .constants = {{"gamma", 1}}});
            }).find("gamma"),
            std::string::npos);
  EXPECT_NE(message([&] { bitpool::Vectors(numbers, 7); }).find("dimension 7"), std::string::npos);
  numbers[30] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_NE(message([&] { bitpool::Train("itq", vectors, {.bits = 8}); }), "(no error)");
}

}  // namespace
