#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/shards.h"

// Whitening by views over shards.
namespace bitpool {

// The name of the vectors of pictures and their views that a ViewShard is given.
inline constexpr const char* kImageVectors = "images";

// Some pictures with all of their views, whose inputs are the whitened vectors: they can be read
// once LearnWhitening has told the shards how to whiten. Only the whitening is remembered, so that
// notes stay small; vectors are whitened whenever they are read.
class ViewShard : public Shard {
 public:
  // The place is that of the images among all images, which must outlive this. It must begin at a
  // multiple of kShardAlignment pictures.
  ViewShard(ShardPlace place, const ColumnSource& images);

 private:
  class Whitened : public ColumnSource {
   public:
    Whitened(const Shard& shard, const ColumnSource& images) : shard_(shard), images_(images) {}
    Index dimension() const override { return images_.dimension(); }
    Index size() const override { return images_.size(); }

   private:
    ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

    const Shard& shard_;
    const ColumnSource& images_;
  };

  Whitened whitened_;
};

// The whitening of pictures in shards, each a ViewShard, which whiten their inputs from then on. It
// has the same bits as the one that is learned from all vectors in one process. Throws
// kInvalidArgument as FindWhitening.
ViewWhitening LearnWhitening(const WhiteningOptions& options, Shards& shards, Index per_picture,
                             const RunContext& context);

}  // namespace bitpool
