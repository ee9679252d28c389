#include "bitpool/linalg/sums.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/base/random.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Numbers whose sum depends on the order of the additions.
std::vector<double> Uneven(size_t count) {
  Random random(5);
  std::vector<double> numbers;
  for (size_t i = 0; i < count; ++i) numbers.push_back(std::exp(20 * random.Uniform() - 10));
  return numbers;
}

constexpr Index kChunk = 1024;

// The terms of the shard [first, end), of which every chunk adds its own number.
SumTerms<Sums> TermsOf(const std::vector<double>& numbers, Index first, Index end,
                       std::optional<double> initial = {}) {
  const Sums blank{{"number"}};
  std::optional<Sums> begin;
  if (initial) {
    begin = blank;
    begin->number("number") = *initial;
  }
  const auto total = static_cast<Index>(numbers.size()) * kChunk;
  TermBuilder<Sums> builder({.first = first, .count = end - first, .total = total}, blank, begin);
  for (Index at = first; at < end; at += kChunk) {
    builder.At(at).number("number") += numbers[static_cast<size_t>(at / kChunk)];
  }
  return builder.Take();
}

double MergeOf(const std::vector<double>& numbers, const std::vector<Index>& ends,
               std::optional<double> initial = {}) {
  TermMerger<Sums> merger;
  Index first = 0;
  for (const Index end : ends) {
    SumTerms<Sums> terms = TermsOf(numbers, first, end, initial);
    merger.Add(terms);
    first = end;
  }
  return merger.Take(Sums{{"number"}}).number("number");
}

// From left to right within blocks of 64 chunks, and then over the blocks.
double InOrder(const std::vector<double>& numbers, double initial) {
  double total = 0;
  for (size_t block = 0; block < numbers.size(); block += 64) {
    double sum = block == 0 ? initial : 0;
    for (size_t i = block; i < std::min(numbers.size(), block + 64); ++i) sum += numbers[i];
    total = block == 0 ? sum : total + sum;
  }
  return total;
}

TEST(SumTerms, AnyCutHasTheBitsOfTheWhole) {
  for (const size_t chunks : {1UL, 5UL, 64UL, 65UL, 127UL, 128UL, 200UL, 330UL}) {
    const std::vector<double> numbers = Uneven(chunks);
    const Index total = static_cast<Index>(chunks) * kChunk;
    for (const std::optional<double> initial : {std::optional<double>(), {0.1}}) {
      const double expected = InOrder(numbers, initial.value_or(0));
      EXPECT_EQ(MergeOf(numbers, {total}, initial), expected) << chunks;
      Random random(7);
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<Index> ends = {total};
        for (uint64_t cut = random.Below(7); cut > 0; --cut) {
          const auto aligned = static_cast<uint64_t>(total / kShardAlignment + 1);
          ends.push_back(static_cast<Index>(random.Below(aligned)) * kShardAlignment);
        }
        std::ranges::sort(ends);
        EXPECT_EQ(MergeOf(numbers, ends, initial), expected) << chunks;
      }
    }
  }
}

std::vector<Index> FirstsOf(Index first, Index end) {
  std::vector<Index> firsts;
  for (const auto& term : TermsOf(Uneven(330), first, end).terms) firsts.push_back(term.first);
  return firsts;
}

TEST(SumTerms, ShardsOfWholeBlocksKeepOneSumEach) {
  EXPECT_THAT(FirstsOf(kSumBlock, 2 * kSumBlock), ElementsAre(kSumBlock));
  EXPECT_THAT(FirstsOf(kSumBlock, 3 * kSumBlock + 2048),
              ElementsAre(kSumBlock, 2 * kSumBlock, 3 * kSumBlock));
  // For a shard that begins the whole, two are enough at any length.
  EXPECT_THAT(FirstsOf(0, 5 * kSumBlock), ElementsAre(0, 4 * kSumBlock));
  // The chunks of a block that began elsewhere are apart.
  EXPECT_THAT(FirstsOf(kSumBlock - 2048, kSumBlock + 4096),
              ElementsAre(kSumBlock - 2048, kSumBlock - 1024, kSumBlock));
  EXPECT_THAT(FirstsOf(2048, 2048), ElementsAre());
}

TEST(Sums, RefuseToMergeOthers) {
  Sums sums{{"a", 2, 3}, {"b"}};
  EXPECT_THAT(RefusalOf([&] { sums.Merge(Sums{{"a", 3, 2}, {"b"}}); }), HasSubstr("other sizes"));
  EXPECT_THAT(RefusalOf([&] { sums.Merge(Sums{{"a", 2, 3}, {"c"}}); }), HasSubstr("other sizes"));
  EXPECT_THAT(RefusalOf([&] { sums.Merge(Sums{{"a", 2, 3}}); }), HasSubstr("other sizes"));
}

TEST(Moments, AnyCutHasTheBitsOfTheWhole) {
  // A mean that is large compared with the spread makes the corrections matter.
  constexpr Index kTotal = kSumBlock + 9000;
  MatrixF x = Random(1).NormalMatrix(3, kTotal);
  MatrixF t = Random(2).NormalMatrix(2, kTotal);
  x.row(1).array() += 100;
  t.row(0) += x.row(2);
  const RunContext context({.threads = 2});
  const CrossMoments whole = ComputeCrossMoments(MatrixColumns(x), MatrixColumns(t), context);
  for (const std::vector<Index>& ends : {std::vector<Index>{2048, kTotal},
                                         {kSumBlock, kTotal},
                                         {2048, 4096, kSumBlock + 2048, kTotal}}) {
    TermMerger<CrossMoments> both;
    TermMerger<Moments> alone;
    TermMerger<CrossScatter> cross;
    Index first = 0;
    for (const Index end : ends) {
      const ShardPlace place{.first = first, .count = end - first, .total = kTotal};
      const MatrixColumns inputs(x.middleCols(first, end - first));
      const MatrixColumns targets(t.middleCols(first, end - first));
      auto of_both = ComputeCrossMoments(place, inputs, targets, context);
      auto of_inputs = ComputeMoments(place, inputs, context);
      auto of_cross = ComputeCrossScatter(place, inputs, targets, context);
      both.Add(of_both);
      alone.Add(of_inputs);
      cross.Add(of_cross);
      first = end;
    }
    const CrossMoments merged = both.Take(CrossMoments());
    EXPECT_EQ(merged.count(), kTotal);
    EXPECT_TRUE(SameBits(merged.inputs().scatter(), whole.inputs().scatter()));
    EXPECT_TRUE(SameBits(merged.inputs().mean(), whole.inputs().mean()));
    EXPECT_TRUE(SameBits(merged.cross().scatter(), whole.cross().scatter()));
    EXPECT_TRUE(SameBits(merged.cross().target_mean(), whole.cross().target_mean()));
    EXPECT_TRUE(SameBits(alone.Take(Moments()).scatter(), whole.inputs().scatter()));
    EXPECT_TRUE(SameBits(cross.Take(CrossScatter()).scatter(), whole.cross().scatter()));
  }
}

TEST(Moments, ErrorsNameTheColumnOfTheWhole) {
  MatrixF x = MatrixF::Zero(2, 3000);
  x(1, 2500) = std::numeric_limits<float>::infinity();
  const ShardPlace place{.first = 2048, .count = 3000, .total = 5048};
  EXPECT_THAT(RefusalOf([&] { (void)ComputeMoments(place, MatrixColumns(x), RunContext()); }),
              HasSubstr("4548"));
}

TEST(ShardPlace, IsInsideAndAligned) {
  ShardPlace{.first = 2048, .count = 0, .total = 5000}.Validate();
  ShardPlace{.first = 4096, .count = 904, .total = 5000}.Validate();
  ShardPlace{.first = 5000, .count = 0, .total = 5000}.Validate();
  EXPECT_THAT(RefusalOf([] { ShardPlace{.first = 100, .count = 4900, .total = 5000}.Validate(); }),
              HasSubstr("multiple of 2048"));
  EXPECT_THAT(RefusalOf([] { ShardPlace{.first = 0, .count = 100, .total = 5000}.Validate(); }),
              HasSubstr("multiple of 2048"));
  EXPECT_THAT(RefusalOf([] { ShardPlace{.first = 4096, .count = 905, .total = 5000}.Validate(); }),
              HasSubstr("not inside"));
}

TEST(Shard, HasColumnsByName) {
  const MatrixF x = Random(1).NormalMatrix(2, 5);
  const MatrixColumns source(x);
  Shard shard(source);
  shard.Matrix("noted") = 2 * x;
  MatrixF buffer;
  EXPECT_EQ(MatrixF(ShardColumns(shard, kInputs).Read(0, 5, buffer)), x);
  EXPECT_EQ(MatrixF(ShardColumns(shard, "noted").Read(0, 5, buffer)), 2 * x);
  EXPECT_THAT(RefusalOf([&] { ShardColumns(shard, "none"); }), HasSubstr("0 columns \"none\""));
  const MatrixF fewer = x.leftCols(4);
  const MatrixColumns other(fewer);
  EXPECT_THAT(RefusalOf([&] { shard.Give("other", other); }), HasSubstr("expected 5"));
}

}  // namespace
}  // namespace bitpool
