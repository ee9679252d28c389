#include "bitpool/linalg/kept_columns.h"

#include <gtest/gtest.h>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// Twice the columns of a matrix, counting how often it is read.
class Doubled : public ColumnSource {
 public:
  Doubled(const MatrixF& matrix, int& reads) : matrix_(matrix), reads_(reads) {}
  Index dimension() const override { return matrix_.rows(); }
  Index size() const override { return matrix_.cols(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    ++reads_;
    buffer = 2 * matrix_.middleCols(first, count);
    return ViewOf(buffer);
  }

  const MatrixF& matrix_;
  int& reads_;
};

TEST(KeepIfSmall, ComputesOnceWhatFitsAndAnewWhatDoesNot) {
  const MatrixF matrix = Random(1).NormalMatrix(3, 2500);
  const size_t bytes = sizeof(float) * 3 * 2500;
  for (const size_t memory : {bytes, bytes - 1}) {
    int reads = 0;
    const auto columns =
        KeepIfSmall(std::make_unique<Doubled>(matrix, reads), memory, RunContext({.threads = 1}));
    const int before = reads;
    MatrixF buffer;
    const MatrixF some = columns->Read(1000, 700, buffer);
    EXPECT_TRUE(SameBits(some, MatrixF(2 * matrix.middleCols(1000, 700))));
    EXPECT_EQ(before, memory == bytes ? 3 : 0);
    EXPECT_EQ(reads - before, memory == bytes ? 0 : 1);
  }
}

}  // namespace
}  // namespace bitpool
