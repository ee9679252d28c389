#pragma once

#include <utility>

#include "bitpool/hash/view_vectors.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/ridge.h"

// Columns that are made of others while they are read. What they are made of must outlive them.
namespace bitpool {

// The pictures alone, without their views.
class PictureColumns : public ColumnSource {
 public:
  explicit PictureColumns(const ViewVectors& images) : images_(images) {}
  Index dimension() const override { return images_.vectors.dimension(); }
  Index size() const override { return images_.pictures(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  ViewVectors images_;
};

// Of every picture the mean of its images.
class PictureMeans : public ColumnSource {
 public:
  explicit PictureMeans(const ViewVectors& images) : images_(images) {}
  Index dimension() const override { return images_.vectors.dimension(); }
  Index size() const override { return images_.pictures(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  ViewVectors images_;
};

// Only this many images of every picture, the first.
class FirstImages : public ColumnSource {
 public:
  // REQUIRES: 1 <= count <= images.per_picture
  FirstImages(const ViewVectors& images, Index count) : images_(images), count_(count) {}
  Index dimension() const override { return images_.vectors.dimension(); }
  Index size() const override { return images_.pictures() * count_; }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  ViewVectors images_;
  Index count_;
};

// weights · x + bias of the columns of a block, the first of which is column `first` of its source.
// The last digits of a column depend on how many columns a product has, so columns are multiplied
// in groups of kMappedGroup, counted from the beginning of the source: whoever reads whole groups
// gets the same numbers, whatever the pieces.
inline constexpr Index kMappedGroup = 512;
MatrixF MapColumns(const MatrixF& weights, const VectorF& bias, const MatrixFRef& block,
                   Index first);

// The same of every column of a source. Parts of groups are the same but for rounding.
class MappedColumns : public ColumnSource {
 public:
  // Throws kInvalidArgument when the map takes vectors of another dimension.
  MappedColumns(const ColumnSource& source, LinearMap map);
  Index dimension() const override { return map_.weights.rows(); }
  Index size() const override { return source_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  const ColumnSource& source_;
  LinearMap map_;
};

}  // namespace bitpool
