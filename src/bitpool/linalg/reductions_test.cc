#include "bitpool/linalg/reductions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

TEST(Reductions, AgreeWithPlainLoopsAtEveryLength) {
  Random random(1);
  for (Index size = 0; size < 70; ++size) {
    const VectorF a = random.NormalMatrix(size, 1), b = random.NormalMatrix(size, 1);
    double dot = 0, distance = 0;
    for (Index i = 0; i < size; ++i) {
      const double x = a[i], y = b[i];
      dot += x * y;
      distance += (x - y) * (x - y);
    }
    EXPECT_NEAR(Dot(a.data(), b.data(), size), dot, 1e-12);
    EXPECT_NEAR(SquaredDistance(a.data(), b.data(), size), distance, 1e-12);
    EXPECT_EQ(SquaredDistance(a.data(), a.data(), size), 0);
  }
}

TEST(Reductions, DoNotDependOnWhereTheDataStarts) {
  const VectorF a = Random(2).NormalMatrix(101, 1), b = Random(3).NormalMatrix(101, 1);
  const double dot = Dot(a.data(), b.data(), 101);
  const double distance = SquaredDistance(a.data(), b.data(), 101);
  for (size_t shift = 1; shift < 9; ++shift) {
    std::vector<float> moved(120);
    std::copy(a.begin(), a.end(), moved.begin() + static_cast<std::ptrdiff_t>(shift));
    EXPECT_EQ(Dot(moved.data() + shift, b.data(), 101), dot);
    EXPECT_EQ(SquaredDistance(moved.data() + shift, b.data(), 101), distance);
  }
}

TEST(Reductions, DoNotOverflow) {
  const VectorF large = VectorF::Constant(9, 1e30F), small = VectorF::Constant(9, 1e-30F);
  EXPECT_NEAR(Dot(large.data(), large.data(), 9), 9e60, 1e55);
  EXPECT_NEAR(Dot(small.data(), small.data(), 9), 9e-60, 1e-65);
}

}  // namespace
}  // namespace bitpool
