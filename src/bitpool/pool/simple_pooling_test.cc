#include "bitpool/pool/simple_pooling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "bitpool/linalg/testing.h"
#include "bitpool/pool/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

TEST(SimplePooling, AgreesWithLoops) {
  for (const Index dimension : {1, 3, 50}) {
    for (const Index count : {1, 2, 9, 700}) {
      const MatrixF v = RectifiedFeatures(dimension, count, static_cast<uint64_t>(count));
      const VectorF sums = SumPooling(v);
      const VectorF means = MeanPooling(v);
      const VectorF maxima = MaxPooling(v);
      ASSERT_EQ(maxima.size(), dimension);
      for (Index row = 0; row < dimension; ++row) {
        double sum = 0;
        float largest = 0;
        for (Index column = 0; column < count; ++column) {
          sum += static_cast<double>(v(row, column));
          largest = std::max(largest, v(row, column));
        }
        EXPECT_NEAR(static_cast<double>(sums[row]), sum, 1e-5 * (sum + 1));
        EXPECT_NEAR(static_cast<double>(means[row]), sum / static_cast<double>(count), 1e-6);
        EXPECT_EQ(maxima[row], largest);
      }
    }
  }
}

TEST(SimplePooling, MaxIsForFeaturesThatAreNotNegative) {
  MatrixF v = RectifiedFeatures(4, 5, 1);
  v(2, 3) = -0.25F;
  EXPECT_THAT(RefusalOf([&] { MaxPooling(v); }), HasSubstr("column 3, row 2"));
  v(2, 3) = -0.0F;
  EXPECT_NO_THROW(MaxPooling(v));
}

TEST(SimplePooling, RefusesNothingAndNotANumber) {
  const MatrixF none(4, 0);
  EXPECT_THAT(RefusalOf([&] { SumPooling(none); }), HasSubstr("no descriptors"));
  EXPECT_THAT(RefusalOf([&] { MeanPooling(none); }), HasSubstr("no descriptors"));
  EXPECT_THAT(RefusalOf([&] { MaxPooling(none); }), HasSubstr("no descriptors"));
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    MatrixF v = RectifiedFeatures(20, 30, 1);
    v(17, 29) = bad;
    EXPECT_THAT(RefusalOf([&] { SumPooling(v); }), HasSubstr("column 29, row 17"));
    EXPECT_THAT(RefusalOf([&] { MeanPooling(v); }), HasSubstr("column 29, row 17"));
    EXPECT_THAT(RefusalOf([&] { MaxPooling(v); }), HasSubstr("column 29, row 17"));
    EXPECT_THAT(RefusalOf([&] { NormaliseColumns(v); }), HasSubstr("column 29, row 17"));
  }
  const MatrixF huge = MatrixF::Constant(2, 3, 3e38F);
  EXPECT_THAT(RefusalOf([&] { SumPooling(huge); }), HasSubstr("too large"));
}

TEST(NormaliseColumns, GivesLengthOneAndKeepsZero) {
  MatrixF v(2, 5);
  v << 3, 0, 1e-30F, 3e38F, -1e-40F,  //
      4, 0, 1e-30F, 0, 0;
  NormaliseColumns(v);
  const float half = std::sqrt(0.5F);
  MatrixF expected(2, 5);
  expected << 0.6F, 0, half, 1, -1,  //
      0.8F, 0, half, 0, 0;
  EXPECT_LT((v - expected).cwiseAbs().maxCoeff(), 1e-6F);
  EXPECT_TRUE(v.col(1).isZero(0));
  MatrixF none(3, 0);
  EXPECT_NO_THROW(NormaliseColumns(none));
}

}  // namespace
}  // namespace bitpool
