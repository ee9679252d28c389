#include "bitpool/samples/feature_set.h"

#include <algorithm>
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

TEST(FeatureSubset, HalvesShareNoDescriptor) {
  for (Index count = 2; count <= 9; ++count) {
    MemoryFeatureSet set(1);
    set.Add("image", MatrixF::Random(1, count));
    MatrixF whole, first, second;
    set.Read(0, whole);
    FeatureSubset(set, {0}, 0, 0.5).Read(0, first);
    FeatureSubset(set, {0}, 0.5, 1).Read(0, second);
    ASSERT_EQ(first.cols() + second.cols(), count);
    EXPECT_EQ(first, whole.leftCols(first.cols()));
    EXPECT_EQ(second, whole.rightCols(second.cols()));
  }
}

// Four sets one after the other, the second and the last empty.
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
  // Empty sets alone make a set without images.
  EXPECT_EQ(JoinedFeatureSet({std::make_shared<MemoryFeatureSet>(2)}).size(), 0);
}

// This many pictures with two views each; descriptor i of image n is 100 n + i.
MemoryFeatureSet WithViews(Index pictures) {
  MemoryFeatureSet set(1, 3);
  for (Index image = 0; image < 3 * pictures; ++image) {
    MatrixF descriptors(1, 1 + image % 4);
    for (Index i = 0; i < descriptors.cols(); ++i) {
      descriptors(0, i) = static_cast<float>(100 * image + i);
    }
    set.Add("image" + std::to_string(image), descriptors);
  }
  return set;
}

std::vector<std::string> NamesOf(const FeatureSet& set) {
  std::vector<std::string> names;
  for (Index image = 0; image < set.size(); ++image) names.push_back(set.name(image));
  return names;
}

TEST(MemoryFeatureSet, KnowsItsViews) {
  EXPECT_EQ(MemoryFeatureSet(2).images_per_picture(), 1);
  const MemoryFeatureSet set = WithViews(4);
  EXPECT_EQ(set.images_per_picture(), 3);
  EXPECT_EQ(set.pictures(), 4);
  EXPECT_EQ(set.size(), 12);
  for (const Index bad : {Index{0}, Index{-2}}) {
    ExpectError(ErrorCode::kInvalidArgument, {std::to_string(bad) + " images per picture"},
                [&] { MemoryFeatureSet(2, bad); });
  }
}

TEST(FeatureSubset, OfImagesForgetsViews) {
  const MemoryFeatureSet set = WithViews(4);
  EXPECT_EQ(FeatureSubset(set, {0, 1, 2}).images_per_picture(), 1);
}

TEST(FeatureSubset, OfPicturesKeepsTheirViews) {
  const MemoryFeatureSet set = WithViews(4);
  const FeatureSubset some = FeatureSubset::OfPictures(set, {3, 1});
  EXPECT_EQ(some.images_per_picture(), 3);
  EXPECT_EQ(some.pictures(), 2);
  EXPECT_EQ(NamesOf(some), (std::vector<std::string>{"image9", "image10", "image11", "image3",
                                                     "image4", "image5"}));
  MatrixF read;
  some.Read(5, read);
  EXPECT_EQ(read, (MatrixF(1, 2) << 500, 501).finished());
  // And once more, of these.
  const FeatureSubset last = FeatureSubset::OfPictures(some, {1});
  EXPECT_EQ(NamesOf(last), (std::vector<std::string>{"image3", "image4", "image5"}));
  EXPECT_EQ(FeatureSubset::OfPictures(set, {}).size(), 0);
  for (const Index bad : {Index{4}, Index{-1}}) {
    ExpectError(ErrorCode::kInvalidArgument, {"12 images"},
                [&] { FeatureSubset::OfPictures(set, {bad}); });
  }
}

TEST(FeatureSubset, WithoutViewsIsThePictures) {
  const MemoryFeatureSet set = WithViews(3);
  const FeatureSubset pictures = FeatureSubset::WithoutViews(set);
  EXPECT_EQ(pictures.images_per_picture(), 1);
  EXPECT_EQ(NamesOf(pictures), (std::vector<std::string>{"image0", "image3", "image6"}));
  const MemoryFeatureSet plain(2);
  EXPECT_EQ(FeatureSubset::WithoutViews(plain).size(), 0);
  const FeatureSubset some = FeatureSubset::OfPictures(set, {2, 0});
  EXPECT_EQ(NamesOf(FeatureSubset::WithoutViews(some)),
            (std::vector<std::string>{"image6", "image0"}));
}

TEST(FeatureSubset, WithViewsIsThePicturesWithTheFirstOfThem) {
  const MemoryFeatureSet set = WithViews(2);  // with two views each
  const FeatureSubset one = FeatureSubset::WithViews(set, 1);
  EXPECT_EQ(one.images_per_picture(), 2);
  EXPECT_EQ(NamesOf(one), (std::vector<std::string>{"image0", "image1", "image3", "image4"}));
  for (const Index views : {2, 3, 100}) {
    EXPECT_EQ(NamesOf(FeatureSubset::WithViews(set, views)), NamesOf(set)) << views;
    EXPECT_EQ(FeatureSubset::WithViews(set, views).images_per_picture(), 3);
  }
}

TEST(JoinedFeatureSet, KeepsViewsWhereAllAgree) {
  const auto first = std::make_shared<MemoryFeatureSet>(WithViews(2));
  const auto second = std::make_shared<MemoryFeatureSet>(WithViews(1));
  const JoinedFeatureSet joined({first, second});
  EXPECT_EQ(joined.images_per_picture(), 3);
  EXPECT_EQ(joined.pictures(), 3);
  EXPECT_EQ(JoinOfFour().images_per_picture(), 1);
  ExpectError(ErrorCode::kInvalidArgument, {"3 and 1 images per picture"}, [&] {
    JoinedFeatureSet({first, std::make_shared<MemoryFeatureSet>(1)});
  });
}

// Images of one dimension with this many descriptors: 0, 1, 2 …
MemoryFeatureSet Counting(const std::vector<Index>& counts) {
  MemoryFeatureSet set(1);
  for (const Index count : counts) {
    MatrixF descriptors(1, count);
    for (Index i = 0; i < count; ++i) descriptors(0, i) = static_cast<float>(i);
    set.Add("image" + std::to_string(set.size()), descriptors);
  }
  return set;
}

std::vector<float> ValuesOf(const FeatureSet& set, Index image) {
  MatrixF read;
  set.Read(image, read);
  EXPECT_EQ(read.cols(), set.descriptor_count(image));
  return {read.data(), read.data() + read.size()};
}

TEST(DescriptorParts, AreDisjointAndCompleteBehindTheirImage) {
  const MemoryFeatureSet images = Counting({12, 20, 3, 13});
  const DescriptorParts parts(images, 3, 1);
  EXPECT_EQ(parts.size(), 16);
  EXPECT_EQ(parts.pictures(), 4);
  EXPECT_EQ(parts.images_per_picture(), 4);
  EXPECT_EQ(parts.dimension(), 1);
  EXPECT_EQ(parts.name(4), "image1");
  EXPECT_EQ(parts.name(7), "image1#3");
  for (Index picture = 0; picture < 4; ++picture) {
    const std::vector<float> whole = ValuesOf(images, picture);
    EXPECT_EQ(ValuesOf(parts, 4 * picture), whole);
    std::vector<float> together;
    for (Index part = 1; part <= 3; ++part) {
      const std::vector<float> values = ValuesOf(parts, 4 * picture + part);
      EXPECT_GE(values.size(), whole.size() / 3);
      EXPECT_LE(values.size(), whole.size() / 3 + 1);
      EXPECT_TRUE(std::ranges::is_sorted(values)) << "in the order they have in the image";
      together.insert(together.end(), values.begin(), values.end());
    }
    std::ranges::sort(together);
    EXPECT_EQ(together, whole);
  }
}

TEST(DescriptorParts, AreRandomAndTheSameForTheSameSeed) {
  const MemoryFeatureSet images = Counting({30, 30});
  const DescriptorParts parts(images, 2, 5), again(images, 2, 5), other(images, 2, 6);
  for (const Index image : {5, 1, 4, 2, 2, 0, 3}) {  // in any order
    EXPECT_EQ(ValuesOf(parts, image), ValuesOf(again, image));
  }
  EXPECT_NE(ValuesOf(parts, 1), ValuesOf(other, 1));
  EXPECT_NE(ValuesOf(parts, 1), ValuesOf(parts, 4)) << "images are parted each in its own way";
  const std::vector<float> values = ValuesOf(parts, 1);
  EXPECT_LT(values.front(), 10);
  EXPECT_GE(values.back(), 20) << "not a window of them";
}

TEST(DescriptorParts, OfTooFewDescriptorsAreTheWholeImage) {
  const MemoryFeatureSet images = Counting({2, 0, 3});
  const DescriptorParts parts(images, 3, 1);
  for (Index part = 0; part <= 3; ++part) {
    EXPECT_EQ(ValuesOf(parts, part), (std::vector<float>{0, 1}));
    EXPECT_EQ(parts.descriptor_count(4 + part), 0);
    EXPECT_TRUE(ValuesOf(parts, 4 + part).empty());
  }
  for (Index part = 1; part <= 3; ++part) EXPECT_EQ(parts.descriptor_count(8 + part), 1);
}

TEST(DescriptorParts, RefusesWhatHasNoMeaning) {
  const MemoryFeatureSet images = Counting({4});
  for (const Index bad : {Index{1}, Index{0}, Index{-3}}) {
    ExpectError(ErrorCode::kInvalidArgument, {"expected 2 or more", std::to_string(bad)},
                [&] { DescriptorParts(images, bad, 1); });
  }
  const MemoryFeatureSet views = WithViews(2);
  ExpectError(ErrorCode::kInvalidArgument, {"without views"},
              [&] { DescriptorParts(views, 2, 1); });
}

}  // namespace
}  // namespace bitpool
