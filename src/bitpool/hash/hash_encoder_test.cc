#include "bitpool/hash/hash_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

LinearEncoder MakeEncoder(Index dimension, int bits, uint64_t seed = 3) {
  Random random(seed);
  return LinearEncoder({.weights = random.NormalMatrix(bits, dimension),
                        .bias = random.NormalMatrix(bits, 1).col(0)});
}

TEST(LinearEncoder, ProjectsAndRoundsToSigns) {
  const LinearEncoder encoder = MakeEncoder(7, 19);
  Random random(1);
  const MatrixF x = random.NormalMatrix(7, 30);
  const MatrixF h = encoder.Project(x);
  const BinaryCodes codes = encoder.Encode(x);
  ASSERT_EQ(codes.bits(), 19);
  for (Index column = 0; column < x.cols(); ++column) {
    for (Index bit = 0; bit < 19; ++bit) {
      double expected = encoder.map().bias[bit];
      for (Index i = 0; i < 7; ++i) expected += encoder.map().weights(bit, i) * x(i, column);
      EXPECT_NEAR(h(bit, column), expected, 1e-5);
      const int stored = codes.code(column)[static_cast<size_t>(bit / 8)] >> (bit % 8) & 1;
      EXPECT_EQ(stored, h(bit, column) >= 0 ? 1 : 0);
    }
  }
}

TEST(LinearEncoder, ZeroIsPositive) {
  const LinearEncoder encoder({.weights = MatrixF::Ones(1, 1), .bias = VectorF::Zero(1)});
  EXPECT_EQ(encoder.Encode(MatrixF::Zero(1, 1)).ToHex(0), "01");
}

TEST(LinearEncoder, RefusesWhatDoesNotFit) {
  const LinearEncoder encoder = MakeEncoder(7, 8);
  EXPECT_THAT(RefusalOf([&] { encoder.Project(MatrixF::Zero(6, 1)); }),
              ::testing::HasSubstr("dimension 6; the encoder was trained for dimension 7"));
  EXPECT_THAT(RefusalOf([] {
                LinearEncoder({MatrixF::Ones(2, 3), VectorF::Ones(3)});
              }),
              ::testing::HasSubstr("do not agree"));
  EXPECT_THAT(RefusalOf([] {
                LinearEncoder({MatrixF::Constant(1, 1, NAN), VectorF::Ones(1)});
              }),
              ::testing::HasSubstr("not finite"));
}

TEST(EncodeAll, IsTheSameAtAnyNumberOfThreadsAndAsAllAtOnce) {
  const LinearEncoder encoder = MakeEncoder(5, 12);
  Random random(2);
  const MatrixF x = random.NormalMatrix(5, 1500);
  const BinaryCodes once = encoder.Encode(x);
  for (const int threads : {1, 4}) {
    const BinaryCodes codes =
        EncodeAll(encoder, CopiedColumns(x), RunContext({.threads = threads}));
    EXPECT_TRUE(std::ranges::equal(codes.rows(), once.rows())) << threads;
  }
  EXPECT_EQ(EncodeAll(encoder, MatrixColumns(x.leftCols(0)), RunContext()).size(), 0);
}

TEST(EncodeAll, NamesTheColumnThatIsNotFinite) {
  const LinearEncoder encoder = MakeEncoder(2, 3);
  MatrixF x = MatrixF::Ones(2, 700);
  x(1, 600) = std::nanf("");
  EXPECT_THAT(RefusalOf([&] { EncodeAll(encoder, MatrixColumns(x), RunContext()); }),
              ::testing::HasSubstr("600"));
}

// An encoder whose numbers depend on how many columns it gets, as those of a matrix product may,
// and here by so much that signs change.
class WidthDependentEncoder : public HashEncoder {
 public:
  Index dimension() const override { return 1; }
  int bits() const override { return 1; }
  std::string_view kind() const override { return "test"; }
  std::vector<NamedMatrix> Parameters() const override { return {}; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override {
    return block.array() + (block.cols() % 2 == 0 ? 1.0F : -1.0F);
  }
};

TEST(EncodeBatch, TheSignsOfTheNumbersAreTheCodesWhateverTheProductDoes) {
  const WidthDependentEncoder encoder;
  Random random(5);
  // More than a sink gets at once, and a last group of an odd number of columns.
  MatrixF x = random.NormalMatrix(1, 40 * kEncodingGroup + 7);
  x(0, 3) = 0.5F;
  const CopiedColumns source(x);
  EXPECT_NE(encoder.Encode(x.leftCols(7)).ToHex(3), encoder.Encode(x.leftCols(8)).ToHex(3))
      << "the encoder is not what the test is about";
  const EncodedVectors both = EncodeBatch(encoder, source, RunContext({.threads = 3}));
  ASSERT_EQ(both.codes.size(), x.cols());
  EXPECT_TRUE(
      std::ranges::equal(both.codes.rows(), BinaryCodes::FromSigns(both.projections).rows()));
  const BinaryCodes alone = EncodeAll(encoder, source, RunContext());
  EXPECT_TRUE(std::ranges::equal(both.codes.rows(), alone.rows()));
  EXPECT_FALSE(std::ranges::equal(encoder.Encode(x).rows(), alone.rows()))
      << "one product of all columns gives other signs here";
  Index next = 0;
  EncodeBatch(encoder, source, RunContext(), [&](Index first, const EncodedVectors& some) {
    EXPECT_EQ(first, next);
    next += some.codes.size();
    EXPECT_TRUE(
        SameBits(some.projections, MatrixF(both.projections.middleCols(first, some.codes.size()))));
    EXPECT_TRUE(
        std::ranges::equal(some.codes.rows(), BinaryCodes::FromSigns(some.projections).rows()));
  });
  EXPECT_EQ(next, x.cols());
  const EncodedVectors block = encoder.EncodeBlock(x.leftCols(7));
  EXPECT_TRUE(
      std::ranges::equal(block.codes.rows(), BinaryCodes::FromSigns(block.projections).rows()));
}

// It can happen with a linear encoder too: a matrix product rounds a column in another way when it
// has other neighbours. The bias is chosen so that the rounding decides a bit.
TEST(EncodeBatch, AnotherNumberOfColumnsMayGiveAnotherSign) {
  Random random(1);
  const MatrixF weights = random.NormalMatrix(24, 128), x = random.NormalMatrix(128, 2600);
  const auto encoder_with = [&](const VectorF& bias) {
    return LinearEncoder({.weights = weights, .bias = bias});
  };
  const LinearEncoder plain = encoder_with(VectorF::Zero(24));
  const MatrixF in_groups = EncodeBatch(plain, MatrixColumns(x), RunContext()).projections;
  // Which numbers of columns make a difference depends on the machine.
  for (const Index width : {2600, 1, 2, 3, 7, 100}) {
    Index bit = 0, column = 0;
    const MatrixF alone = plain.Project(x.leftCols(width));
    if (!((alone - in_groups.leftCols(width)).minCoeff(&bit, &column) < 0)) continue;
    VectorF bias = VectorF::Zero(24);
    bias[bit] = -in_groups(bit, column);
    const LinearEncoder encoder = encoder_with(bias);
    const EncodedVectors batch = EncodeBatch(encoder, MatrixColumns(x), RunContext());
    EXPECT_EQ(batch.projections(bit, column), 0);
    EXPECT_LT(encoder.Project(x.leftCols(width))(bit, column), 0);
    EXPECT_NE(encoder.Encode(x.leftCols(width)).ToHex(column), batch.codes.ToHex(column));
    EXPECT_TRUE(
        std::ranges::equal(batch.codes.rows(), BinaryCodes::FromSigns(batch.projections).rows()));
    return;
  }
  GTEST_SKIP() << "the products of this machine do not depend on the number of columns";
}

TEST(EncodeBatch, OfNothingIsNothing) {
  const LinearEncoder encoder = MakeEncoder(5, 12);
  const MatrixF none(5, 0);
  const EncodedVectors encoded = EncodeBatch(encoder, MatrixColumns(none), RunContext());
  EXPECT_EQ(encoded.codes.size(), 0);
  EXPECT_EQ(encoded.codes.bits(), 12);
  EncodeBatch(encoder, MatrixColumns(none), RunContext(),
              [](Index, const EncodedVectors&) { ADD_FAILURE() << "a batch of nothing"; });
}

TEST(EncodeBatch, NamesTheColumnThatIsNotFinite) {
  const LinearEncoder encoder = MakeEncoder(2, 3);
  MatrixF x = MatrixF::Ones(2, 20000);
  x(1, 19000) = std::nanf("");
  const auto sink = [](Index, const EncodedVectors&) {};
  EXPECT_THAT(RefusalOf([&] { EncodeBatch(encoder, MatrixColumns(x), RunContext(), sink); }),
              ::testing::HasSubstr("19000"));
}

}  // namespace
}  // namespace bitpool
