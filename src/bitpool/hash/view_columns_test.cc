#include "bitpool/hash/view_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// A source must give `expected` in whatever pieces it is read, and nothing beyond.
void ExpectColumns(const ColumnSource& source, const MatrixF& expected) {
  ASSERT_EQ(source.dimension(), expected.rows());
  ASSERT_EQ(source.size(), expected.cols());
  MatrixF buffer;
  for (Index first = 0; first <= source.size(); ++first) {
    for (Index count = 0; count <= source.size() - first; ++count) {
      const MatrixF read = source.Read(first, count, buffer);
      ASSERT_EQ(read, expected.middleCols(first, count)) << first << " " << count;
    }
  }
  EXPECT_THAT(RefusalOf([&] { source.Read(source.size(), 1, buffer); }),
              ::testing::HasSubstr("columns from number"));
}

// Calls check(images) with five pictures of this many images, as a matrix and as a file has them.
template <class Check>
void ForPictures(Index per_picture, const Check& check) {
  const MatrixF all = Random(1).NormalMatrix(4, 5 * per_picture);
  const MatrixColumns in_memory(all);
  check(all, ViewVectors{.vectors = in_memory, .per_picture = per_picture});
  const CopiedColumns copied(all);
  check(all, ViewVectors{.vectors = copied, .per_picture = per_picture});
}

TEST(ViewVectors, CountsPictures) {
  ForPictures(3,
              [](const MatrixF&, const ViewVectors& images) { EXPECT_EQ(images.pictures(), 5); });
}

TEST(PictureColumns, AreTheFirstOfEachPicture) {
  for (const Index each : {1, 2, 3}) {
    ForPictures(each, [&](const MatrixF& all, const ViewVectors& images) {
      MatrixF expected(4, 5);
      for (Index i = 0; i < 5; ++i) expected.col(i) = all.col(each * i);
      ExpectColumns(PictureColumns(images), expected);
    });
  }
}

TEST(PictureMeans, AreTheMeansOfEachPicture) {
  for (const Index each : {1, 2, 3}) {
    ForPictures(each, [&](const MatrixF& all, const ViewVectors& images) {
      const PictureMeans means(images);
      ASSERT_EQ(means.size(), 5);
      MatrixF buffer;
      MatrixF expected(4, 5);
      for (Index i = 0; i < 5; ++i) {
        VectorD sum = VectorD::Zero(4);
        for (Index k = 0; k < each; ++k) sum += all.col(each * i + k).cast<double>();
        expected.col(i) = (sum / static_cast<double>(each)).cast<float>();
      }
      const MatrixF whole = means.Read(0, 5, buffer);
      EXPECT_TRUE(whole.isApprox(expected, 1e-6F));
      ExpectColumns(means, whole);
    });
  }
}

TEST(FirstImages, AreThePictureAndItsFirstViews) {
  for (const Index count : {1, 2, 3, 4}) {
    ForPictures(4, [&](const MatrixF& all, const ViewVectors& images) {
      MatrixF expected(4, 5 * count);
      for (Index i = 0; i < 5; ++i) {
        expected.middleCols(count * i, count) = all.middleCols(4 * i, count);
      }
      ExpectColumns(FirstImages(images, count), expected);
    });
  }
}

TEST(MappedColumns, AreMultipliedAndMoved) {
  const LinearMap map{.weights = Random(2).NormalMatrix(3, 4),
                      .bias = Random(3).NormalMatrix(3, 1)};
  ForPictures(1, [&](const MatrixF& all, const ViewVectors& images) {
    const MappedColumns mapped(images.vectors, map);
    EXPECT_EQ(mapped.dimension(), 3);
    ASSERT_EQ(mapped.size(), 5);
    const MatrixD expected =
        (map.weights.cast<double>() * all.cast<double>()).colwise() + map.bias.cast<double>();
    MatrixF buffer;
    for (Index first = 0; first < 5; ++first) {
      const MatrixD read = mapped.Read(first, 5 - first, buffer).cast<double>();
      EXPECT_TRUE(read.isApprox(expected.rightCols(5 - first), 1e-5));
    }
    EXPECT_EQ(mapped.Read(2, 0, buffer).cols(), 0);
    EXPECT_THAT(RefusalOf([&] { mapped.Read(5, 1, buffer); }), ::testing::HasSubstr("has 5"));
    EXPECT_THAT(RefusalOf([&] {
                  MappedColumns(images.vectors, {.weights = MatrixF::Zero(2, 5), .bias = {}});
                }),
                ::testing::HasSubstr("a map of 5 dimensions for vectors of 4"));
  });
}

TEST(MappedColumns, HaveTheSameBitsInAnyPiecesOfWholeGroups) {
  const MatrixF x = Random(4).NormalMatrix(7, 3 * kMappedGroup + 5);
  const MatrixColumns source(x);
  const MappedColumns mapped(
      source, {.weights = Random(5).NormalMatrix(6, 7), .bias = Random(6).NormalMatrix(6, 1)});
  MatrixF buffer;
  const MatrixF whole = mapped.Read(0, x.cols(), buffer);
  for (const Index piece : {kMappedGroup, 2 * kMappedGroup}) {
    for (Index first = 0; first < x.cols(); first += piece) {
      const Index count = std::min(piece, x.cols() - first);
      EXPECT_EQ(mapped.Read(first, count, buffer), whole.middleCols(first, count)) << first;
    }
  }
}

}  // namespace
}  // namespace bitpool
