#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/hash/alternation.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/pool/pooling_system.h"

// The passes of the loop that SAH and SASH share, over shards of images.
namespace bitpool {

// Φ⁰.
class InitialPoolPass : public SumPass<Sums> {
 public:
  InitialPoolPass() = default;
  InitialPoolPass(const SahOptions& options, std::string to);

  std::string_view name() const override { return "pool-initially"; }
  void Visit(FieldVisitor& fields) override;

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override;

  SahOptions options_;  // of which only μ and the tolerance matter
  std::string to_;
};

// Φ from the hash functions, beginning with the previous Φ. Sums up ‖Vᵀφ − 1‖² + μ‖φ‖²
// ("aggregation"), and the bits of the codes that differ between the vectors before and after
// ("flipped").
class PoolPass : public SumPass<Sums> {
 public:
  PoolPass() = default;
  struct Columns {
    std::string from, to;
    std::string labels = {};  // empty: there are none
  };
  // The metric is that of reconstructions without labels, as in Coupling.
  PoolPass(const JointState& maps, const SahOptions& options, Columns columns, MatrixF metric);

  std::string_view name() const override { return "pool"; }
  void Visit(FieldVisitor& fields) override;
  static Sums Blank() { return {{"aggregation"}, {"flipped"}}; }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override;
  SumTerms<Sums> SumUp(const ShardPlace& place, const MatrixF& before, const MatrixF& after,
                       const VectorD& aggregation, const RunContext& context) const;

  LinearMap encoder_, decoder_;
  PoolingOptions system_;
  Columns columns_;
  MatrixF metric_;
};

// Notes what a linear map makes of columns.
class MapPass : public SumPass<Sums> {
 public:
  MapPass() = default;
  MapPass(LinearMap map, std::string from, std::string to)
      : map_(std::move(map)), from_(std::move(from)), to_(std::move(to)) {}

  std::string_view name() const override { return "map"; }
  void Visit(FieldVisitor& fields) override;

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override;

  LinearMap map_;
  std::string from_, to_;
};

}  // namespace bitpool
