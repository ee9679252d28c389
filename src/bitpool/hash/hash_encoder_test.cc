#include "bitpool/hash/hash_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/hash/kernel_encoder.h"
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

TEST(EncodeAll, NamesTheColumnThatIsTooLargeForTheEncoder) {
  const LinearEncoder encoder({.weights = MatrixF::Constant(2, 1, 4), .bias = VectorF::Zero(2)});
  MatrixF x = MatrixF::Ones(1, 700);
  x(0, 600) = 3e38F;
  const MatrixColumns source(x);
  const auto refusal = ::testing::HasSubstr("column 600: its projection is not finite");
  EXPECT_THAT(RefusalOf([&] { EncodeAll(encoder, source, RunContext()); }), refusal);
  EXPECT_THAT(RefusalOf([&] { EncodeBatch(encoder, source, RunContext()); }), refusal);
  EXPECT_THAT(RefusalOf([&] { encoder.Encode(x); }), refusal);
}

// An encoder whose numbers depend on how many columns it gets, as those of a matrix product do, and
// here by so much that signs change.
class WidthDependentEncoder : public HashEncoder {
 public:
  Index dimension() const override { return 1; }
  int bits() const override { return 1; }
  std::string_view kind() const override { return "test"; }
  std::vector<NamedMatrix> Parameters() const override { return {}; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override {
    return block.array() + static_cast<float>(block.cols() % 97);
  }
};

// What encodes many columns gives the numbers and codes that each of them gets alone.
void ExpectTheSameAlone(const HashEncoder& encoder, const MatrixF& x) {
  const EncodedVectors both = EncodeBatch(encoder, MatrixColumns(x), RunContext({.threads = 3}));
  ASSERT_EQ(both.codes.size(), x.cols());
  EXPECT_TRUE(
      std::ranges::equal(both.codes.rows(), BinaryCodes::FromSigns(both.projections).rows()));
  const BinaryCodes codes = EncodeAll(encoder, MatrixColumns(x), RunContext());
  EXPECT_TRUE(std::ranges::equal(both.codes.rows(), codes.rows()));
  EXPECT_TRUE(SameBits(encoder.Project(x), both.projections));
  for (const Index width : {1, 2, 3, 4, 5, 12, 16, 17, 33, 100, 511}) {
    for (Index first = 0; first + width <= x.cols(); first += 101) {
      const EncodedVectors some = encoder.EncodeBlock(x.middleCols(first, width));
      EXPECT_TRUE(SameBits(some.projections, MatrixF(both.projections.middleCols(first, width))))
          << width << " from " << first;
      EXPECT_EQ(some.codes.ToHex(width - 1), codes.ToHex(first + width - 1));
    }
  }
}

TEST(EncodeBatch, EveryProductHasTheSameNumberOfColumns) {
  ExpectTheSameAlone(WidthDependentEncoder(), Random(1).NormalMatrix(1, 1300));
}

TEST(EncodeBatch, AVectorGetsTheSameNumbersWhicheverItIsEncodedWith) {
  Random random(1);
  const MatrixF x = random.NormalMatrix(128, 1300);
  const LinearEncoder linear = MakeEncoder(128, 24);
  const KernelEncoder kernel(
      random.NormalMatrix(128, 300), 10,
      {.weights = random.NormalMatrix(24, 300), .bias = random.NormalMatrix(24, 1).col(0)});
  const MatrixF alike = linear.Project(x.col(0).replicate(1, 480));
  if (!SameBits(alike, MatrixF(alike.col(0).replicate(1, 480)))) {
    GTEST_SKIP() << "the products of this machine depend on the place of a column";
  }
  ExpectTheSameAlone(linear, x);
  ExpectTheSameAlone(kernel, x);
}

TEST(EncodeBatch, ASinkGetsAllColumnsInOrder) {
  const LinearEncoder encoder = MakeEncoder(1, 9);
  // More than it gets at once.
  const MatrixF x = Random(5).NormalMatrix(1, 40 * kEncodingGroup + 7);
  const MatrixF projected = encoder.Project(x);
  Index next = 0;
  EncodeBatch(
      encoder, MatrixColumns(x), RunContext(), [&](Index first, const EncodedVectors& some) {
        EXPECT_EQ(first, next);
        next += some.codes.size();
        EXPECT_TRUE(
            SameBits(some.projections, MatrixF(projected.middleCols(first, some.codes.size()))));
        EXPECT_TRUE(
            std::ranges::equal(some.codes.rows(), BinaryCodes::FromSigns(some.projections).rows()));
      });
  EXPECT_EQ(next, x.cols());
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
