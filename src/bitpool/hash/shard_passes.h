#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/ridge.h"
#include "bitpool/linalg/shards.h"
#include "bitpool/linalg/sums.h"

// The passes that the hashing methods share. Each method's own are beside it.
namespace bitpool {

void VisitLinearMap(FieldVisitor& fields, const std::string& name, LinearMap& map);

// The codes of columns by a linear encoder, noted under a name.
class EncodePass : public SumPass<Sums> {
 public:
  EncodePass() = default;
  EncodePass(LinearMap encoder, std::string columns, std::string codes)
      : encoder_(std::move(encoder)), columns_(std::move(columns)), codes_(std::move(codes)) {}

  std::string_view name() const override { return "encode"; }
  void Visit(FieldVisitor& fields) override;

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override;

  LinearMap encoder_;
  std::string columns_, codes_;
};

// All that the regression of columns on their codes by a linear encoder needs.
class CodeMomentsPass : public SumPass<CrossMoments> {
 public:
  CodeMomentsPass() = default;
  CodeMomentsPass(LinearMap encoder, std::string columns)
      : encoder_(std::move(encoder)), columns_(std::move(columns)) {}

  std::string_view name() const override { return "code-moments"; }
  void Visit(FieldVisitor& fields) override;

 private:
  SumTerms<CrossMoments> ComputeTerms(Shard& shard, const RunContext& context) const override;

  LinearMap encoder_;
  std::string columns_;
};

// FitDecoder (see hash_model.h) for columns in shards.
LinearMap FitDecoder(const LinearMap& encoder, Shards& shards, const std::string& columns,
                     const RunContext& context);

// The codes as the columns of −1 and +1 that a regression takes. The codes must outlive this.
class CodeColumns : public ColumnSource {
 public:
  explicit CodeColumns(const BinaryCodes& codes) : codes_(codes) {}
  Index dimension() const override { return codes_.bits(); }
  Index size() const override { return codes_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override;

  const BinaryCodes& codes_;
};

// Codes of a shard's samples that were noted under a name. Throws kInvalidArgument when there are
// not as many as samples.
std::vector<uint8_t>& NotedCodes(Shard& shard, const std::string& name, int bits);

// An empty pass of this room by its name, to be read into; null when there is none.
std::unique_ptr<Pass> MakeHashPass(std::string_view name);

// Those of single methods, likewise.
std::unique_ptr<Pass> MakeItqPass(std::string_view name);
std::unique_ptr<Pass> MakeAutoencoderPass(std::string_view name);
std::unique_ptr<Pass> MakeAlternationPass(std::string_view name);
std::unique_ptr<Pass> MakeSashPass(std::string_view name);
std::unique_ptr<Pass> MakeViewPass(std::string_view name);

}  // namespace bitpool
