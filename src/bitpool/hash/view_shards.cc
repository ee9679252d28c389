#include "bitpool/hash/view_shards.h"

#include <fmt/format.h>

#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/hash/view_batches.h"
#include "bitpool/hash/view_columns.h"
#include "bitpool/hash/view_sums.h"

namespace bitpool {
namespace {

// Under which names a shard remembers how to whiten.
constexpr const char* kWeights = "whitening.weights";
constexpr const char* kBias = "whitening.bias";

// The sums of views. Places are counted in pictures.
class ViewSumsPass : public SumPass<Sums> {
 public:
  explicit ViewSumsPass(Index per_picture = 1) : per_picture_(per_picture) {}

  std::string_view name() const override { return "view-sums"; }
  void Visit(FieldVisitor& fields) override { fields.Visit("per_picture", per_picture_); }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    const ShardColumns images(shard, kImageVectors);
    const ShardPlace& place = shard.place();
    if (per_picture_ < 1 || place.first % per_picture_ != 0 || place.count % per_picture_ != 0) {
      throw Error(
          ErrorCode::kInvalidArgument,
          fmt::format("a shard of {} images from image {} on: expected whole pictures of {}",
                      place.count, place.first, per_picture_));
    }
    return SumViews({.first = place.first / per_picture_,
                     .count = place.count / per_picture_,
                     .total = place.total / per_picture_},
                    {.vectors = images, .per_picture = per_picture_}, context);
  }

  Index per_picture_;
};

// Has the shards remember how to whiten.
class WhitenPass : public SumPass<Sums> {
 public:
  WhitenPass() = default;
  explicit WhitenPass(LinearMap map) : map_(std::move(map)) {}

  std::string_view name() const override { return "whiten"; }
  void Visit(FieldVisitor& fields) override { VisitLinearMap(fields, "map", map_); }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& /*context*/) const override {
    shard.Matrix(kWeights) = map_.weights;
    shard.Matrix(kBias) = map_.bias;
    return {};
  }

  LinearMap map_;
};

}  // namespace

ViewShard::ViewShard(ShardPlace place, const ColumnSource& images)
    : Shard(place), whitened_(*this, images) {
  Give(kImageVectors, images);
  Give(kInputs, whitened_);
}

ColumnsView ViewShard::Whitened::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  const MatrixF* const weights = shard_.noted(kWeights);
  const MatrixF* const bias = shard_.noted(kBias);
  if (weights == nullptr || bias == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "a shard of views that was not told how to whiten");
  }
  MatrixF own;
  const ColumnsView block = images_.Read(first, count, own);
  buffer = MapColumns(*weights, bias->col(0), block, first);
  return ViewOf(buffer);
}

ViewWhitening LearnWhitening(const WhiteningOptions& options, Shards& shards, Index per_picture,
                             const RunContext& context) {
  options.Validate();
  RequireViews(shards.size(), per_picture);
  ViewSumsPass views(per_picture);
  ViewWhitening whitening =
      FindWhitening(options, RunSums(shards, views, BlankViewSums(0), context), per_picture);
  WhitenPass whiten(whitening.forward);
  RunSums<Sums>(shards, whiten, {}, context);
  return whitening;
}

std::unique_ptr<Pass> MakeViewPass(std::string_view name) {
  if (name == ViewSumsPass().name()) return std::make_unique<ViewSumsPass>();
  if (name == WhitenPass().name()) return std::make_unique<WhitenPass>();
  return nullptr;
}

}  // namespace bitpool
