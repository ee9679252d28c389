#include "bitpool/hash/baselines/column_sample.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

MatrixF Numbered(Index count) {
  MatrixF data(2, count);
  for (Index i = 0; i < count; ++i) data.col(i) = VectorF::Constant(2, static_cast<float>(i));
  return data;
}

TEST(ColumnSample, DifferentColumnsInTheirOrder) {
  const MatrixF data = Numbered(100);
  const MatrixColumns source(data);
  const ColumnSample sample(source, 30, Random(1));
  ASSERT_EQ(sample.size(), 30);
  ASSERT_EQ(sample.dimension(), 2);
  MatrixF buffer;
  const MatrixF all = sample.Read(0, 30, buffer);
  for (Index i = 1; i < 30; ++i) EXPECT_LT(all(0, i - 1), all(0, i));
  EXPECT_GT(all(0, 29) - all(0, 0), 50);  // not just the first ones
  const MatrixF part = sample.Read(7, 5, buffer);
  EXPECT_EQ(part, all.middleCols(7, 5));
  EXPECT_EQ(sample.Read(30, 0, buffer).cols(), 0);
  EXPECT_THROW(sample.Read(26, 5, buffer), Error);
  MatrixF other_buffer;
  const ColumnSample other(source, 30, Random(2));
  EXPECT_NE(MatrixF(other.Read(0, 30, other_buffer)), all);
}

TEST(ColumnSample, AllColumnsAreNotCopied) {
  const MatrixF data = Numbered(10);
  const MatrixColumns source(data);
  MatrixF buffer;
  for (const Index count : {10, 1000}) {
    const ColumnSample sample(source, count, Random(1));
    ASSERT_EQ(sample.size(), 10);
    EXPECT_EQ(sample.Read(3, 4, buffer).data(), data.col(3).data());
  }
}

TEST(ColumnSample, SamplesInMemory) {
  EXPECT_EQ(SamplesInMemory(0, 1000, 8), 1000);
  EXPECT_EQ(SamplesInMemory(300, 1000, 8), 300);
  EXPECT_EQ(SamplesInMemory(3000, 1000, 8), 1000);
  EXPECT_EQ(SamplesInMemory(0, 1000, Index{1} << 20), 512);
  EXPECT_EQ(SamplesInMemory(600, 1000, Index{1} << 20), 512);
}

}  // namespace
}  // namespace bitpool
