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
              testing::HasSubstr("dimension 6; the encoder was trained for dimension 7"));
  EXPECT_THAT(RefusalOf([] {
                LinearEncoder({MatrixF::Ones(2, 3), VectorF::Ones(3)});
              }),
              testing::HasSubstr("do not agree"));
  EXPECT_THAT(RefusalOf([] {
                LinearEncoder({MatrixF::Constant(1, 1, NAN), VectorF::Ones(1)});
              }),
              testing::HasSubstr("not finite"));
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
              testing::HasSubstr("600"));
}

}  // namespace
}  // namespace bitpool
