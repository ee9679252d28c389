#include "bitpool/dataset/feature_set.h"

#include <limits>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

TEST(MemoryFeatureSet, KeepsOrderNamesAndSizes) {
  MemoryFeatureSet set(3);
  set.Add("b.jpg", MatrixF::Constant(3, 2, 1.0F));
  set.Add("a.jpg", MatrixF::Constant(3, 5, 2.0F));
  set.Add("none.jpg", MatrixF(3, 0));
  EXPECT_EQ(set.size(), 3);
  EXPECT_EQ(set.name(1), "a.jpg");
  EXPECT_EQ(set.descriptor_count(0), 2);
  EXPECT_EQ(set.descriptor_count(2), 0);
  MatrixF read;
  set.Read(1, read);
  EXPECT_EQ(read, MatrixF::Constant(3, 5, 2.0F));
}

TEST(MemoryFeatureSet, RejectsBadDescriptorsByName) {
  MemoryFeatureSet set(3);
  ExpectError(ErrorCode::kInvalidArgument, {"\"a.jpg\"", "dimension 4, expected 3"},
              [&] { set.Add("a.jpg", MatrixF::Zero(4, 2)); });
  MatrixF bad = MatrixF::Zero(3, 2);
  bad(1, 1) = std::numeric_limits<float>::infinity();
  ExpectError(ErrorCode::kInvalidArgument, {"\"b.jpg\"", "finite"}, [&] { set.Add("b.jpg", bad); });
  EXPECT_EQ(set.size(), 0);
  ExpectError(ErrorCode::kInvalidArgument, {"dimension 0"}, [] { MemoryFeatureSet(0); });
}

TEST(FeatureSubset, GivesSomeImagesAndAWindowOfTheirDescriptors) {
  MemoryFeatureSet set(1);
  MatrixF ten(1, 10);
  for (Index i = 0; i < 10; ++i) ten(0, i) = static_cast<float>(i);
  set.Add("ten", ten);
  set.Add("none", MatrixF(1, 0));
  set.Add("one", MatrixF::Ones(1, 1));
  const FeatureSubset part(set, {2, 0, 1}, 0.4, 1);
  EXPECT_EQ(part.size(), 3);
  EXPECT_EQ(part.name(0), "one");
  EXPECT_EQ(part.descriptor_count(0), 1);
  EXPECT_EQ(part.descriptor_count(1), 6);
  EXPECT_EQ(part.descriptor_count(2), 0);
  MatrixF read;
  part.Read(1, read);
  EXPECT_EQ(read, ten.rightCols(6));
  part.Read(2, read);
  EXPECT_EQ(read.cols(), 0);
  FeatureSubset(set, {0}).Read(0, read);
  EXPECT_EQ(read, ten);
  ExpectError(ErrorCode::kInvalidArgument, {"image 3", "3 images"},
              [&] { FeatureSubset(set, {3}); });
  ExpectError(ErrorCode::kInvalidArgument, {"from < to"},
              [&] { FeatureSubset(set, {0}, 0.5, 0.5); });
}

}  // namespace
}  // namespace bitpool
