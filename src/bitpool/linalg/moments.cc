#include "bitpool/linalg/moments.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/linalg/moments_engine.h"

namespace bitpool {

using moments_internal::AddColumn;
using moments_internal::CheckSameSize;
using moments_internal::ColumnRun;
using moments_internal::CopyLowerToUpper;
using moments_internal::Join;
using moments_internal::kChunkColumns;
using moments_internal::kOneTargetEach;
using moments_internal::MomentsEngine;
using moments_internal::RequireCount;

Moments::Moments(Index dimension)
    : mean_(VectorD::Zero(dimension)), scatter_(MatrixD::Zero(dimension, dimension)) {}

Moments::Moments(Index count, VectorD mean, MatrixD scatter)
    : count_(count), mean_(std::move(mean)), scatter_(std::move(scatter)) {
  RequireCount(count_);
  CheckSameSize(mean_.size(), scatter_.rows(), "rows of the scatter");
  CheckSameSize(mean_.size(), scatter_.cols(), "columns of the scatter");
}

void Moments::Add(const MatrixFRef& block) {
  MomentsEngine(*this, MatrixColumns(block), {.size = block.cols()}).Run();
}

void Moments::Merge(const Moments& other) {
  CheckSameSize(dimension(), other.dimension(), "dimension of the moments to merge");
  if (other.count_ == 0) return;
  const Join join(count_, other.count_);
  const VectorD difference = other.mean_ - mean_;
  for (Index col = 0; col < scatter_.cols(); ++col) {
    AddColumn(other.scatter_.col(col).data(), difference.data(), join.correction * difference[col],
              col, scatter_.rows(), scatter_.col(col).data());
  }
  CopyLowerToUpper(scatter_);
  mean_ += join.step * difference;
  count_ += other.count_;
}

void Moments::Visit(FieldVisitor& fields) {
  fields.Visit("count", count_);
  fields.Visit("mean", mean_);
  fields.Visit("scatter", scatter_);
  *this = Moments(count_, std::move(mean_), std::move(scatter_));  // which checks them
}

MatrixD Moments::Covariance() const {
  if (count_ == 0) {
    throw Error(ErrorCode::kInvalidArgument, "the covariance of no samples is not defined");
  }
  return scatter_ / static_cast<double>(count_);
}

CrossScatter::CrossScatter(Index inputs, Index targets)
    : input_mean_(VectorD::Zero(inputs)),
      target_mean_(VectorD::Zero(targets)),
      scatter_(MatrixD::Zero(targets, inputs)) {}

CrossScatter::CrossScatter(Index count, VectorD input_mean, VectorD target_mean, MatrixD scatter)
    : count_(count),
      input_mean_(std::move(input_mean)),
      target_mean_(std::move(target_mean)),
      scatter_(std::move(scatter)) {
  RequireCount(count_);
  CheckSameSize(target_mean_.size(), scatter_.rows(), "rows of the scatter");
  CheckSameSize(input_mean_.size(), scatter_.cols(), "columns of the scatter");
}

void CrossScatter::Add(const MatrixFRef& inputs, const MatrixFRef& targets) {
  MomentsEngine(*this, MatrixColumns(inputs), MatrixColumns(targets), {.size = inputs.cols()})
      .Run();
}

void CrossScatter::Merge(const CrossScatter& other) {
  CheckSameSize(input_mean_.size(), other.input_mean_.size(), "dimension of the inputs to merge");
  CheckSameSize(target_mean_.size(), other.target_mean_.size(),
                "dimension of the targets to merge");
  if (other.count_ == 0) return;
  const Join join(count_, other.count_);
  const VectorD input_difference = other.input_mean_ - input_mean_;
  const VectorD target_difference = other.target_mean_ - target_mean_;
  for (Index col = 0; col < scatter_.cols(); ++col) {
    AddColumn(other.scatter_.col(col).data(), target_difference.data(),
              join.correction * input_difference[col], 0, scatter_.rows(),
              scatter_.col(col).data());
  }
  input_mean_ += join.step * input_difference;
  target_mean_ += join.step * target_difference;
  count_ += other.count_;
}

void CrossScatter::Visit(FieldVisitor& fields) {
  fields.Visit("count", count_);
  fields.Visit("input_mean", input_mean_);
  fields.Visit("target_mean", target_mean_);
  fields.Visit("scatter", scatter_);
  *this = CrossScatter(count_, std::move(input_mean_), std::move(target_mean_),
                       std::move(scatter_));  // which checks them
}

CrossMoments::CrossMoments(Index inputs, Index targets)
    : inputs_(inputs), cross_(inputs, targets) {}

void CrossMoments::Add(const MatrixFRef& inputs, const MatrixFRef& targets) {
  MomentsEngine(*this, MatrixColumns(inputs), MatrixColumns(targets), {.size = inputs.cols()})
      .Run();
}

void CrossMoments::Merge(const CrossMoments& other) {
  cross_.Merge(other.cross_);
  inputs_.Merge(other.inputs_);
}

void CrossMoments::Visit(FieldVisitor& fields) {
  PrefixedFields of_inputs(fields, "inputs."), of_cross(fields, "cross.");
  inputs_.Visit(of_inputs);
  cross_.Visit(of_cross);
  CheckSameSize(inputs_.dimension(), cross_.input_mean().size(), "dimension of the inputs");
  CheckSameSize(inputs_.count(), cross_.count(), "number of samples");
}

namespace {

// The terms of a shard, by make_engine(sums, run). Every term is made in the order of one thread.
template <class S, class MakeEngine>
SumTerms<S> SumRuns(const ShardPlace& place, Index columns, const S& blank,
                    const RunContext& context, const MakeEngine& make_engine) {
  place.Validate();
  CheckSameSize(place.count, columns, "columns of the shard");
  Progress progress =
      context.StartProgress("moments", "columns", static_cast<uint64_t>(place.count));
  const Index end = place.first + place.count;
  TermBuilder<S> builder(place, blank);
  // The chunks of a block that began in another shard are separate, so they are done in parallel.
  const Index leading = std::min(place.count, (kSumBlock - place.first % kSumBlock) % kSumBlock);
  std::vector<S> chunks(static_cast<size_t>((leading + kChunkColumns - 1) / kChunkColumns), blank);
  context.ParallelFor(chunks.size(), 1, [&](size_t i, size_t /*end*/) {
    const Index begin = static_cast<Index>(i) * kChunkColumns;
    const Index size = std::min(kChunkColumns, leading - begin);
    make_engine(chunks[i], ColumnRun{begin, size, place.first + begin}).Run();
    progress.Advance(static_cast<uint64_t>(size));
  });
  for (size_t i = 0; i < chunks.size(); ++i) {
    builder.At(place.first + static_cast<Index>(i) * kChunkColumns) = std::move(chunks[i]);
  }
  for (Index first = place.first + leading; first < end; first += kSumBlock) {
    const ColumnRun run{first - place.first, std::min(kSumBlock, end - first), first};
    make_engine(builder.At(first), run).Run(context, progress);
  }
  return builder.Take();
}

template <class S>
S Merged(SumTerms<S> terms, S blank) {
  TermMerger<S> merger;
  merger.Add(terms);
  return merger.Take(std::move(blank));
}

ShardPlace WholeOf(const ColumnSource& source) {
  return {.count = source.size(), .total = source.size()};
}

}  // namespace

SumTerms<Moments> ComputeMoments(const ShardPlace& place, const ColumnSource& source,
                                 const RunContext& context) {
  return SumRuns(
      place, source.size(), Moments(source.dimension()), context,
      [&](Moments& moments, const ColumnRun& run) { return MomentsEngine(moments, source, run); });
}

SumTerms<CrossScatter> ComputeCrossScatter(const ShardPlace& place, const ColumnSource& inputs,
                                           const ColumnSource& targets, const RunContext& context) {
  CheckSameSize(inputs.size(), targets.size(), kOneTargetEach);
  return SumRuns(place, inputs.size(), CrossScatter(inputs.dimension(), targets.dimension()),
                 context, [&](CrossScatter& cross, const ColumnRun& run) {
                   return MomentsEngine(cross, inputs, targets, run);
                 });
}

SumTerms<CrossMoments> ComputeCrossMoments(const ShardPlace& place, const ColumnSource& inputs,
                                           const ColumnSource& targets, const RunContext& context) {
  CheckSameSize(inputs.size(), targets.size(), kOneTargetEach);
  return SumRuns(place, inputs.size(), CrossMoments(inputs.dimension(), targets.dimension()),
                 context, [&](CrossMoments& moments, const ColumnRun& run) {
                   return MomentsEngine(moments, inputs, targets, run);
                 });
}

Moments ComputeMoments(const ColumnSource& source, const RunContext& context) {
  return Merged(ComputeMoments(WholeOf(source), source, context), Moments(source.dimension()));
}

CrossScatter ComputeCrossScatter(const ColumnSource& inputs, const ColumnSource& targets,
                                 const RunContext& context) {
  return Merged(ComputeCrossScatter(WholeOf(inputs), inputs, targets, context),
                CrossScatter(inputs.dimension(), targets.dimension()));
}

CrossMoments ComputeCrossMoments(const ColumnSource& inputs, const ColumnSource& targets,
                                 const RunContext& context) {
  return Merged(ComputeCrossMoments(WholeOf(inputs), inputs, targets, context),
                CrossMoments(inputs.dimension(), targets.dimension()));
}

SumTerms<Moments> MomentsPass::ComputeTerms(Shard& shard, const RunContext& context) const {
  return ComputeMoments(shard.place(), ShardColumns(shard, columns_), context);
}

SumTerms<CrossMoments> CrossMomentsPass::ComputeTerms(Shard& shard,
                                                      const RunContext& context) const {
  return ComputeCrossMoments(shard.place(), ShardColumns(shard, inputs_),
                             ShardColumns(shard, targets_), context);
}

}  // namespace bitpool
