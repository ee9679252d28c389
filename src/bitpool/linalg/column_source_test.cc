#include "bitpool/linalg/column_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

TEST(ColumnSource, AMatrixIsNotCopied) {
  const MatrixF matrix = Random(1).NormalMatrix(5, 20);
  const MatrixColumns source(matrix);
  EXPECT_EQ(source.dimension(), 5);
  EXPECT_EQ(source.size(), 20);
  MatrixF buffer;
  const ColumnsView view = source.Read(7, 3, buffer);
  EXPECT_EQ(view.data(), matrix.col(7).data());
  EXPECT_EQ(MatrixF(view), matrix.middleCols(7, 3));
  EXPECT_EQ(MatrixFRef(view).data(), view.data());
  EXPECT_EQ(buffer.size(), 0);
}

TEST(ColumnSource, ABlockOfRowsKeepsItsStride) {
  const MatrixF matrix = Random(2).NormalMatrix(9, 6);
  const MatrixColumns source(matrix.middleRows(2, 4));
  MatrixF buffer;
  EXPECT_EQ(MatrixF(source.Read(1, 5, buffer)), matrix.block(2, 1, 4, 5));
  EXPECT_EQ(GatherColumns(source, {5, 0, 5}).col(2), matrix.block(2, 5, 4, 1));
}

TEST(ColumnSource, RefusesRangesOutside) {
  const MatrixF matrix = MatrixF::Zero(2, 4);
  const MatrixColumns source(matrix);
  MatrixF buffer;
  EXPECT_EQ(source.Read(4, 0, buffer).cols(), 0);
  EXPECT_THAT(RefusalOf([&] { source.Read(3, 2, buffer); }),
              HasSubstr("2 columns from number 3 on: the source has 4"));
  EXPECT_THROW(source.Read(-1, 1, buffer), Error);
  EXPECT_THROW(source.Read(0, -1, buffer), Error);
  EXPECT_THROW(source.Read(5, 0, buffer), Error);
  EXPECT_THROW(source.Read(1, std::numeric_limits<Index>::max(), buffer), Error);
  EXPECT_THROW(GatherColumns(source, {0, 4}), Error);
}

TEST(ColumnSource, EmptyMatrices) {
  const MatrixF none(3, 0);
  const MatrixColumns source(none);
  MatrixF buffer;
  EXPECT_EQ(source.Read(0, 0, buffer).rows(), 3);
  EXPECT_EQ(GatherColumns(source, {}).rows(), 3);
}

TEST(RequireFinite, NamesTheFirstBadValue) {
  MatrixF matrix = MatrixF::Ones(3, 5);
  RequireFinite(matrix, 0);
  matrix(1, 4) = std::numeric_limits<float>::quiet_NaN();
  matrix(2, 3) = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(RefusalOf([&] { RequireFinite(matrix, 100); }),
              HasSubstr("column 103, row 2: expected a finite number, got -inf"));
}

}  // namespace
}  // namespace bitpool
