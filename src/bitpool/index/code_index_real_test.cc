#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "bitpool/base/random.h"
#include "bitpool/codes/hamming_scan.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

BinaryCodes RandomSigns(Random& random, int bits, size_t count) {
  MatrixF values(bits, static_cast<Index>(count));
  for (Index i = 0; i < values.size(); ++i) values(i) = static_cast<float>(random.Uniform()) - 0.5F;
  return BinaryCodes::FromSigns(values);
}

// Weights of all sizes; with `ties`, few different ones.
MatrixF RandomWeights(Random& random, int bits, Index count, bool ties = false) {
  MatrixF weights(bits, count);
  for (Index i = 0; i < weights.size(); ++i) {
    weights(i) =
        ties ? static_cast<float>(random.Below(3)) - 1 : static_cast<float>(random.Normal());
  }
  return weights;
}

// What the index must answer, found the plain way.
class RealModel {
 public:
  void Put(int64_t id, std::span<const uint8_t> code) { codes_[id] = {code.begin(), code.end()}; }
  void Remove(int64_t id) { codes_.erase(id); }

  std::vector<ScoredNeighbour> All(const MatrixF& weights, Index query) const {
    std::vector<ScoredNeighbour> all;
    for (const auto& [id, code] : codes_) {
      ScoredNeighbour found = {.id = id, .score = 0, .distance = 0};
      for (Index i = 0; i < weights.rows(); ++i) {
        const double h = weights(i, query);
        const bool one = (code[static_cast<size_t>(i) / 8] >> (i % 8) & 1) != 0;
        found.score += one ? h : -h;
        found.distance += one != (h >= 0) ? 1 : 0;
      }
      all.push_back(found);
    }
    std::sort(all.begin(), all.end());
    return all;
  }

 private:
  std::map<int64_t, std::vector<uint8_t>> codes_;
};

constexpr RealSearchOptions kExactly = {.how = RealSearch::kExact};

void ExpectSameReal(const CodeIndex& index, const RealModel& model, const MatrixF& weights,
                    int64_t k, const RunContext& context) {
  const RealSearchResult result = index.SearchReal(weights, k, kExactly, context);
  for (Index q = 0; q < weights.cols(); ++q) {
    std::vector<ScoredNeighbour> expected = model.All(weights, q);
    expected.resize(static_cast<size_t>(k));
    const auto got = result.of(q);
    ASSERT_EQ(std::vector<ScoredNeighbour>(got.begin(), got.end()), expected)
        << "k " << k << ", query " << q << ", bits " << weights.rows();
  }
}

class RealSearchTest : public ::testing::TestWithParam<IndexKind> {};

TEST_P(RealSearchTest, EqualsTheDefinitionAtEveryLengthAndSize) {
  Random random(1);
  const RunContext two({.threads = 2});
  for (const int bits : {1, 7, 16, 33, 64, 128, 256, 300}) {
    for (const size_t count : {0, 1, 65, 4500}) {
      const BinaryCodes codes = RandomSigns(random, bits, count);
      CodeIndex index({.bits = bits, .kind = GetParam()});
      RealModel model;
      const std::vector<int64_t> ids = Count(count, 10);
      index.Add(codes, ids);
      for (size_t i = 0; i < count; ++i) model.Put(ids[i], codes.code(static_cast<Index>(i)));
      for (const bool ties : {false, true}) {
        const MatrixF weights = RandomWeights(random, bits, 3, ties);
        for (const int64_t k : {1, 20}) {
          ExpectSameReal(index, model, weights, k, OneThread());
          ExpectSameReal(index, model, weights, k, two);
        }
      }
      const MatrixF zeros = MatrixF::Zero(bits, 1);
      ExpectSameReal(index, model, zeros, 5, OneThread());
    }
  }
}

TEST_P(RealSearchTest, TheSameAtAnyNumberOfThreadsAndEveryInstructionSet) {
  Random random(2);
  const size_t count = 200000;
  const BinaryCodes codes = RandomSigns(random, 48, count);
  CodeIndex index({.bits = 48, .kind = GetParam()});
  index.Add(codes, Count(count));
  const MatrixF weights = RandomWeights(random, 48, 35);
  struct Case {
    const CodeIndex& index;
    const MatrixF& weights;
    RealSearchOptions options;
    std::vector<ScoredNeighbour> expected;
  };
  for (const RealSearch how : {RealSearch::kExact, RealSearch::kTwoStage}) {
    const RealSearchOptions options = {.how = how};
    Case one = {index, weights, options,
                index.SearchReal(weights, 12, options, OneThread()).neighbours};
    for (const int threads : {2, 3}) {
      const RunContext context({.threads = threads});
      EXPECT_EQ(index.SearchReal(weights, 12, options, context).neighbours, one.expected);
      const MatrixF single = weights.col(3);
      EXPECT_EQ(
          index.SearchReal(single, 12, options, context).neighbours,
          (std::vector<ScoredNeighbour>(one.expected.begin() + 36, one.expected.begin() + 48)));
    }
    ForEachScanTarget(
        [](const char* target, void* state) {
          const Case& same = *static_cast<Case*>(state);
          EXPECT_EQ(same.index.SearchReal(same.weights, 12, same.options, OneThread()).neighbours,
                    same.expected)
              << target;
        },
        &one);
  }
}

TEST_P(RealSearchTest, RemovedAndRepeated) {
  Random random(3);
  const BinaryCodes centres = RandomSigns(random, 64, 40);
  BinaryCodes codes(64);
  std::vector<int64_t> ids;
  RealModel model;
  for (int64_t i = 0; i < 12000; ++i) {
    std::vector<uint8_t> code(centres.code(i % 40).begin(), centres.code(i % 40).end());
    if (random.Below(3) != 0) code[random.Below(8)] ^= static_cast<uint8_t>(1 << random.Below(8));
    codes.Append(code);
    ids.push_back((i * 7919) % 100003);
    model.Put(ids.back(), code);
  }
  CodeIndex index({.bits = 64, .kind = GetParam()});
  index.Add(codes, ids);
  for (size_t i = 0; i < 12000; i += 5) {
    index.Remove(ids[i]);
    model.Remove(ids[i]);
  }
  for (const int64_t id : {3, 50000, 99999}) {  // later segments with smaller ids
    index.Replace(id, centres.code(1));
    model.Put(id, centres.code(1));
  }
  MatrixF weights = RandomWeights(random, 64, 4);
  for (Index q = 0; q < 3; ++q) {  // near a centre, so that the best have many ids
    for (Index i = 0; i < 64; ++i) {
      const bool one = (centres.code(q)[static_cast<size_t>(i) / 8] >> (i % 8) & 1) != 0;
      weights(i, q) = one ? std::abs(weights(i, q)) : -std::abs(weights(i, q));
    }
  }
  for (const int64_t k : {1, 10, 700}) ExpectSameReal(index, model, weights, k, OneThread());
}

// Two stages with enough candidates for all codes are exact; with few, scores are exact and only
// visible codes are returned.
TEST_P(RealSearchTest, TwoStages) {
  Random random(4);
  const BinaryCodes codes = RandomSigns(random, 32, 6000);
  CodeIndex index({.bits = 32, .kind = GetParam()});
  RealModel model;
  index.Add(codes, Count(6000));
  for (Index i = 0; i < 6000; ++i) model.Put(i, codes.code(i));
  const MatrixF weights = RandomWeights(random, 32, 6);
  const auto all =
      index.SearchReal(weights, 10, {.how = RealSearch::kTwoStage, .candidates = 600}, OneThread());
  EXPECT_EQ(all.neighbours, index.SearchReal(weights, 10, kExactly, OneThread()).neighbours);
  const auto few =
      index.SearchReal(weights, 10, {.how = RealSearch::kTwoStage, .candidates = 4}, OneThread());
  int same = 0;
  for (Index q = 0; q < 6; ++q) {
    const auto expected = model.All(weights, q);
    for (const ScoredNeighbour& found : few.of(q)) {
      const auto it = std::find_if(expected.begin(), expected.end(),
                                   [&](const auto& other) { return other.id == found.id; });
      ASSERT_NE(it, expected.end());
      EXPECT_EQ(*it, found);
      same += it - expected.begin() < 10 ? 1 : 0;
    }
  }
  EXPECT_GE(same, 20);  // of 60
}

TEST_P(RealSearchTest, MappedFilesAnswerTheSame) {
  const testing::TempFolder folder;
  Random random(5);
  const BinaryCodes codes = RandomSigns(random, 40, 5000);
  const auto index = MakeIndex(codes, GetParam(), OneThread());
  SaveIndex(Env::Posix(), folder / "codes.bpi", index->Snapshot(), IfExists::kFail);
  const auto mapped = OpenIndex(Env::Posix(), folder / "codes.bpi", false, OneThread());
  const MatrixF weights = RandomWeights(random, 40, 5);
  EXPECT_EQ(mapped->SearchReal(weights, 9, kExactly, OneThread()).neighbours,
            index->SearchReal(weights, 9, kExactly, OneThread()).neighbours);
}

TEST_P(RealSearchTest, RefusesWhatHasNoMeaning) {
  CodeIndex index({.bits = 16, .kind = GetParam()});
  index.Add(BinaryCodes(16, {1, 2, 3, 4}), Count(2));
  ExpectError(ErrorCode::kInvalidArgument, {"8 weights", "16 bits"},
              [&] { index.SearchReal(MatrixF::Ones(8, 1), 1, {}, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"k = -1"},
              [&] { index.SearchReal(MatrixF::Ones(16, 1), -1, {}, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"0 candidates"},
              [&] { index.SearchReal(MatrixF::Ones(16, 1), 1, {.candidates = 0}, OneThread()); });
  MatrixF weights = MatrixF::Ones(16, 3);
  weights(4, 2) = std::numeric_limits<float>::quiet_NaN();
  ExpectError(ErrorCode::kInvalidArgument, {"query 2"},
              [&] { index.SearchReal(weights, 1, {}, OneThread()); });
  EXPECT_TRUE(index.SearchReal(MatrixF(16, 0), 3, {}, OneThread()).neighbours.empty());
  EXPECT_TRUE(index.SearchReal(MatrixF::Ones(16, 3), 0, {}, OneThread()).neighbours.empty());
}

INSTANTIATE_TEST_SUITE_P(Kinds, RealSearchTest,
                         ::testing::Values(IndexKind::kFlat, IndexKind::kMultiIndex));

}  // namespace
}  // namespace bitpool
