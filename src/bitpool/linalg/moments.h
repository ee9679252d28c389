#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/sums.h"

// First and second moments of data that is seen once, block by block.
//
// A block is cut into chunks; each is centred by its own mean, multiplied in single precision, and
// added to sums in double precision with the correction of Chan, Golub and LeVeque for the
// difference of the means. A mean that is large compared with the spread therefore costs no
// precision, and the sums of parts (shards, machines) merge into those of the whole. The relative
// error of a scatter is that of single precision products, about 1e-6 of its largest entry.
//
// All values must be finite and small enough for their squares to fit into single precision (below
// about 1e18); otherwise kInvalidArgument is thrown, which names the column where one is to blame,
// and the object must then be discarded.

namespace bitpool {

namespace moments_internal {
class MomentsEngine;
}  // namespace moments_internal

class Moments {
 public:
  explicit Moments(Index dimension = 0);

  // From parts that were stored. Throws kInvalidArgument when their sizes do not agree.
  Moments(Index count, VectorD mean, MatrixD scatter);

  // Adds samples. How they are divided among calls makes no difference except for rounding.
  void Add(const MatrixFRef& block);
  void Merge(const Moments& other);
  void Visit(FieldVisitor& fields);

  Index dimension() const { return mean_.size(); }
  Index count() const { return count_; }
  const VectorD& mean() const { return mean_; }        // zero without samples
  const MatrixD& scatter() const { return scatter_; }  // Σ (x − mean)(x − mean)ᵀ, all of it

  // scatter / count, the covariance of exactly these samples (not the n − 1 estimate), so that one
  // sample has covariance zero. Throws kInvalidArgument without samples.
  MatrixD Covariance() const;

 private:
  friend class moments_internal::MomentsEngine;
  Index count_ = 0;
  VectorD mean_;
  MatrixD scatter_;
};

// How targets t vary together with inputs x. Cheaper than CrossMoments where the moments of the
// inputs are known already, as in a loop that changes only the targets.
class CrossScatter {
 public:
  explicit CrossScatter(Index inputs = 0, Index targets = 0);

  // From parts that were summed elsewhere. Throws kInvalidArgument when their sizes do not agree.
  CrossScatter(Index count, VectorD input_mean, VectorD target_mean, MatrixD scatter);

  // Column i of one belongs to column i of the other.
  void Add(const MatrixFRef& inputs, const MatrixFRef& targets);
  void Merge(const CrossScatter& other);
  void Visit(FieldVisitor& fields);

  Index count() const { return count_; }
  const VectorD& input_mean() const { return input_mean_; }
  const VectorD& target_mean() const { return target_mean_; }
  const MatrixD& scatter() const { return scatter_; }  // Σ (t − mean)(x − mean)ᵀ, targets × inputs

 private:
  friend class moments_internal::MomentsEngine;
  Index count_ = 0;
  VectorD input_mean_;
  VectorD target_mean_;
  MatrixD scatter_;
};

// All that a regression of targets on inputs needs.
class CrossMoments {
 public:
  explicit CrossMoments(Index inputs = 0, Index targets = 0);

  void Add(const MatrixFRef& inputs, const MatrixFRef& targets);
  void Merge(const CrossMoments& other);
  void Visit(FieldVisitor& fields);

  Index count() const { return inputs_.count(); }
  const Moments& inputs() const { return inputs_; }
  const CrossScatter& cross() const { return cross_; }

 private:
  friend class moments_internal::MomentsEngine;
  Moments inputs_;
  CrossScatter cross_;
};

// The moments of a whole source in one pass, in parallel, with the same bits at any number of
// threads, and however the source is cut into shards (see sums.h). Memory does not grow with the
// number of columns, and is not multiplied by the number of threads. Target: at most 1.3 times the
// time of the bare ssyrk at 512 dimensions (benchmarks/linalg_benchmark.cc).
Moments ComputeMoments(const ColumnSource& source, const RunContext& context);
CrossScatter ComputeCrossScatter(const ColumnSource& inputs, const ColumnSource& targets,
                                 const RunContext& context);
CrossMoments ComputeCrossMoments(const ColumnSource& inputs, const ColumnSource& targets,
                                 const RunContext& context);

// The same for a shard at this place. Throw kInvalidArgument for another number of columns.
SumTerms<Moments> ComputeMoments(const ShardPlace& place, const ColumnSource& source,
                                 const RunContext& context);
SumTerms<CrossScatter> ComputeCrossScatter(const ShardPlace& place, const ColumnSource& inputs,
                                           const ColumnSource& targets, const RunContext& context);
SumTerms<CrossMoments> ComputeCrossMoments(const ShardPlace& place, const ColumnSource& inputs,
                                           const ColumnSource& targets, const RunContext& context);

// The same as passes over shards, for columns by name.
class MomentsPass : public SumPass<Moments> {
 public:
  explicit MomentsPass(std::string columns = kInputs) : columns_(std::move(columns)) {}
  std::string_view name() const override { return "moments"; }
  void Visit(FieldVisitor& fields) override { fields.Visit("columns", columns_); }

 private:
  SumTerms<Moments> ComputeTerms(Shard& shard, const RunContext& context) const override;

  std::string columns_;
};

class CrossMomentsPass : public SumPass<CrossMoments> {
 public:
  CrossMomentsPass() = default;
  CrossMomentsPass(std::string inputs, std::string targets)
      : inputs_(std::move(inputs)), targets_(std::move(targets)) {}
  std::string_view name() const override { return "cross-moments"; }
  void Visit(FieldVisitor& fields) override {
    fields.Visit("inputs", inputs_);
    fields.Visit("targets", targets_);
  }

 private:
  SumTerms<CrossMoments> ComputeTerms(Shard& shard, const RunContext& context) const override;

  std::string inputs_, targets_;
};

}  // namespace bitpool
