#include "bitpool/samples/feature_set.h"

#include <limits>
#include <memory>
#include <string>
#include <vector>

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

// Four sets behind each other, the second and the last empty.
JoinedFeatureSet JoinOfFour() {
  const auto first = std::make_shared<MemoryFeatureSet>(2);
  first->Add("a", MatrixF::Constant(2, 1, 1.0F));
  first->Add("b", MatrixF::Constant(2, 2, 2.0F));
  const auto third = std::make_shared<MemoryFeatureSet>(2);
  third->Add("c", MatrixF::Constant(2, 3, 3.0F));
  third->Add("a", MatrixF(2, 0));
  const auto empty = std::make_shared<MemoryFeatureSet>(2);
  return JoinedFeatureSet({first, empty, third, empty});
}

TEST(JoinedFeatureSet, IsTheImagesOfAllSetsInTheirOrder) {
  const JoinedFeatureSet joined = JoinOfFour();
  EXPECT_EQ(joined.size(), 4);
  EXPECT_EQ(joined.dimension(), 2);
  const std::vector<std::string> names = {"a", "b", "c", "a"};
  const std::vector<Index> counts = {1, 2, 3, 0};
  MatrixF read;
  for (Index image = 0; image < 4; ++image) {
    const auto i = static_cast<size_t>(image);
    EXPECT_EQ(joined.name(image), names[i]);
    EXPECT_EQ(joined.descriptor_count(image), counts[i]);
    joined.Read(image, read);
    EXPECT_EQ(read, MatrixF::Constant(2, counts[i], static_cast<float>(image + 1)));
  }
}

TEST(JoinedFeatureSet, RefusesImagesItDoesNotHave) {
  const JoinedFeatureSet joined = JoinOfFour();
  for (const Index image : {Index{-1}, Index{4}}) {
    const std::vector<std::string> words = {"image " + std::to_string(image), "4 images"};
    MatrixF read;
    ExpectError(ErrorCode::kInvalidArgument, words, [&] { joined.Read(image, read); });
    ExpectError(ErrorCode::kInvalidArgument, words, [&] { (void)joined.name(image); });
    ExpectError(ErrorCode::kInvalidArgument, words, [&] { (void)joined.descriptor_count(image); });
  }
}

TEST(JoinedFeatureSet, RefusesSetsThatCannotBeJoined) {
  ExpectError(ErrorCode::kInvalidArgument, {"no feature sets"}, [] { JoinedFeatureSet({}); });
  ExpectError(ErrorCode::kInvalidArgument, {"dimension 2 and 3"}, [] {
    JoinedFeatureSet(
        {std::make_shared<MemoryFeatureSet>(2), std::make_shared<MemoryFeatureSet>(3)});
  });
  // Only empty sets are a set without images.
  EXPECT_EQ(JoinedFeatureSet({std::make_shared<MemoryFeatureSet>(2)}).size(), 0);
}

}  // namespace
}  // namespace bitpool
