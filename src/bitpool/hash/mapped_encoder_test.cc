#include "bitpool/hash/mapped_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

std::shared_ptr<const HashEncoder> Linear(int bits, Index dimension) {
  return std::make_shared<LinearEncoder>(LinearMap{
      .weights = Random(1).NormalMatrix(bits, dimension), .bias = Random(2).NormalMatrix(bits, 1)});
}

LinearMap SomeMap(Index to, Index from) {
  return {.weights = Random(3).NormalMatrix(to, from), .bias = Random(4).NormalMatrix(to, 1)};
}

TEST(MappedEncoder, EncodesWhatTheMapMakes) {
  const auto inner = Linear(7, 3);
  const LinearMap map = SomeMap(3, 5);
  const MappedEncoder encoder(map, inner);
  EXPECT_EQ(encoder.dimension(), 5);
  EXPECT_EQ(encoder.bits(), 7);
  EXPECT_EQ(encoder.kind(), "mapped_linear");
  const MatrixF x = Random(5).NormalMatrix(5, 40);
  const MatrixF mapped = (map.weights * x).colwise() + map.bias;
  EXPECT_TRUE(SameBits(encoder.Project(x), inner->Project(mapped)));
  EXPECT_THAT(RefusalOf([&] { encoder.Project(MatrixF::Zero(3, 1)); }),
              ::testing::HasSubstr("dimension 3"));
}

TEST(MappedEncoder, HasTheMapBehindTheParametersOfTheEncoder) {
  const auto inner = Linear(7, 3);
  const LinearMap map = SomeMap(3, 5);
  const std::vector<NamedMatrix> own = inner->Parameters();
  const std::vector<NamedMatrix> all = MappedEncoder(map, inner).Parameters();
  ASSERT_EQ(all.size(), own.size() + 2);
  for (size_t i = 0; i < own.size(); ++i) EXPECT_EQ(all[i].first, own[i].first);
  EXPECT_EQ(all[own.size()].first, "whitening_weights");
  EXPECT_TRUE(SameBits(all[own.size()].second, map.weights));
  EXPECT_EQ(all[own.size() + 1].first, "whitening_bias");
  EXPECT_TRUE(SameBits(all[own.size() + 1].second, MatrixF(map.bias)));
}

TEST(MappedEncoder, RefusesWhatDoesNotFit) {
  const auto refusal = [](const LinearMap& map) {
    return RefusalOf([&] { MappedEncoder(map, Linear(7, 3)); });
  };
  EXPECT_EQ(refusal(SomeMap(3, 5)), "(no error)");
  EXPECT_THAT(refusal(SomeMap(4, 5)), ::testing::HasSubstr("a map to 4 dimensions"));
  EXPECT_THAT(refusal({.weights = MatrixF::Ones(3, 5), .bias = VectorF::Ones(2)}),
              ::testing::HasSubstr("a bias of 2"));
  LinearMap bad = SomeMap(3, 5);
  bad.weights(2, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(bad), ::testing::HasSubstr("finite"));
  bad = SomeMap(3, 5);
  bad.bias(0) = std::numeric_limits<float>::infinity();
  EXPECT_THAT(refusal(bad), ::testing::HasSubstr("finite"));
}

}  // namespace
}  // namespace bitpool
