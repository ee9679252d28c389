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

}  // namespace
}  // namespace bitpool
