#include "bitpool/hash/view_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"

namespace bitpool {

ColumnsView PictureColumns::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  if (count == 0) return images_.vectors.Read(0, 0, buffer);
  const Index each = images_.per_picture;
  const ColumnsView all = images_.vectors.Read(first * each, (count - 1) * each + 1, buffer);
  return {all.data(), all.rows(), count, Eigen::OuterStride<>(all.outerStride() * each)};
}

ColumnsView PictureMeans::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  const Index each = images_.per_picture;
  MatrixF own;
  const ColumnsView all = images_.vectors.Read(first * each, count * each, own);
  buffer.resize(all.rows(), count);
  for (Index picture = 0; picture < count; ++picture) {
    // One image after the other: a reduction along rows may go in another order depending on where
    // the columns lie.
    auto mean = buffer.col(picture);
    mean = all.col(picture * each);
    for (Index i = 1; i < each; ++i) mean += all.col(picture * each + i);
    mean /= static_cast<float>(each);
  }
  return ViewOf(buffer);
}

ColumnsView FirstImages::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  buffer.resize(dimension(), count);
  MatrixF own;
  for (Index done = 0; done < count;) {
    const Index picture = (first + done) / count_, within = (first + done) % count_;
    const Index take = std::min(count_ - within, count - done);
    buffer.middleCols(done, take) =
        images_.vectors.Read(picture * images_.per_picture + within, take, own);
    done += take;
  }
  return ViewOf(buffer);
}

MatrixF MapColumns(const MatrixF& weights, const VectorF& bias, const MatrixFRef& block,
                   Index first) {
  MatrixF mapped(weights.rows(), block.cols());
  for (Index done = 0; done < block.cols();) {
    const Index take = std::min(kMappedGroup - (first + done) % kMappedGroup, block.cols() - done);
    mapped.middleCols(done, take).noalias() = weights * block.middleCols(done, take);
    done += take;
  }
  mapped.colwise() += bias;
  return mapped;
}

MappedColumns::MappedColumns(const ColumnSource& source, LinearMap map)
    : source_(source), map_(std::move(map)) {
  if (map_.weights.cols() != source.dimension()) {
    throw Error(ErrorCode::kInvalidArgument, fmt::format("a map of {} dimensions for vectors of {}",
                                                         map_.weights.cols(), source.dimension()));
  }
}

ColumnsView MappedColumns::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  MatrixF own;
  const ColumnsView block = source_.Read(first, count, own);
  buffer = MapColumns(map_.weights, map_.bias, block, first);
  return ViewOf(buffer);
}

}  // namespace bitpool
