#include "bitpool/pool/column_products.h"

#include <gtest/gtest.h>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pool/testing.h"

namespace bitpool {
namespace {

TEST(ColumnProducts, AgreeWithPlainSums) {
  // Rows around the vector length, columns around the block and the part that is added in float.
  for (const Index rows : {1, 2, 15, 16, 17, 31, 32, 33, 100}) {
    for (const Index cols : {1, 2, 7, 8, 9, 15, 16, 17, 255, 256, 257, 600}) {
      Random random(static_cast<uint64_t>(1000 * rows + cols));
      const MatrixF v = random.NormalMatrix(rows, cols);
      const VectorF in = random.NormalMatrix(rows, 1);
      const VectorF weights = random.NormalMatrix(cols, 1);
      const VectorF base = random.NormalMatrix(rows, 1);
      const MatrixD exact = v.cast<double>();
      const double size = exact.squaredNorm() + 1;

      EXPECT_LT((SumColumns(v).cast<double>() - exact.rowwise().sum()).norm(), 1e-6 * size);

      VectorF out = VectorF::Constant(rows, 7);
      MultiplyByGram(v, in, out);
      const VectorD dots = exact.transpose() * in.cast<double>();
      EXPECT_LT((out.cast<double>() - exact * dots).norm(), 1e-6 * size) << rows << " " << cols;

      out = base;
      AddWeightedGram(v, weights, in, out);
      const VectorD expected =
          base.cast<double>() + exact * dots.cwiseProduct(weights.cast<double>());
      EXPECT_LT((out.cast<double>() - expected).norm(), 1e-6 * size) << rows << " " << cols;
    }
  }
}

// Whether a compiler fuses a product with a sum depends on its flags, and results must not. The
// products are −(1 + 2e) and (1 + e)², which rounds to 1 + 2e: their sum is zero, and e² if fused.
TEST(ColumnProducts, RoundProductsBeforeTheyAreSummed) {
  constexpr float kE = 1.0F / 4096;
  for (const Index distance : {1, 16}) {  // of the two rows: in the rest, and in one lane
    MatrixF column = MatrixF::Zero(2 * distance, 1);
    VectorF in = VectorF::Zero(2 * distance), out(2 * distance);
    column(0, 0) = -1;
    in[0] = 1 + 2 * kE;
    column(distance, 0) = in[distance] = 1 + kE;
    MultiplyByGram(column, in, out);
    EXPECT_EQ(out.cwiseAbs().maxCoeff(), 0) << distance;
  }
}

TEST(ColumnProducts, ReadBlocksOfLargerMatricesAtAnyAddress) {
  const MatrixF large = RectifiedFeatures(70, 400, 1);
  const VectorF in = VectorF::LinSpaced(50, -1, 2);
  const MatrixF copy = large.block(3, 5, 50, 300);
  VectorF expected(50);
  MultiplyByGram(copy, in, expected);
  VectorF out(50);
  MultiplyByGram(large.block(3, 5, 50, 300), in, out);
  EXPECT_TRUE(SameBits(out, expected));
  EXPECT_TRUE(SameBits(SumColumns(large.block(3, 5, 50, 300)), SumColumns(copy)));
}

TEST(ColumnProducts, ErrorsDoNotGrowWithTheNumberOfColumns) {
  // A plain sum in single precision would be wrong by about 1e-4 here.
  const MatrixF v = MatrixF::Constant(3, 200000, 0.1F);
  const VectorF sum = SumColumns(v);
  EXPECT_NEAR(sum[1] / (200000 * 0.1F), 1, 5e-6);
  VectorF out(3);
  MultiplyByGram(v, VectorF::Ones(3), out);
  EXPECT_NEAR(out[2] / (200000 * 0.03F), 1, 5e-6);
}

TEST(ColumnProducts, WithoutColumnsTheyAreZero) {
  EXPECT_EQ(SumColumns(MatrixF(4, 0)), VectorF::Zero(4));
  VectorF out = VectorF::Ones(4);
  MultiplyByGram(MatrixF(4, 0), VectorF::Ones(4), out);
  EXPECT_EQ(out, VectorF::Zero(4));
}

}  // namespace
}  // namespace bitpool
