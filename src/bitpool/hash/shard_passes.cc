#include "bitpool/hash/shard_passes.h"

#include <fmt/format.h>

#include "bitpool/base/error.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/hash/hash_model.h"

namespace bitpool {

void VisitLinearMap(FieldVisitor& fields, const std::string& name, LinearMap& map) {
  fields.Visit(name + ".weights", map.weights);
  fields.Visit(name + ".bias", map.bias);
  if (map.weights.rows() == map.bias.size()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: {} rows of weights and {} values of bias", name, map.weights.rows(),
                          map.bias.size()));
}

void EncodePass::Visit(FieldVisitor& fields) {
  VisitLinearMap(fields, "encoder", encoder_);
  fields.Visit("columns", columns_);
  fields.Visit("codes", codes_);
}

SumTerms<Sums> EncodePass::ComputeTerms(Shard& shard, const RunContext& context) const {
  const BinaryCodes codes =
      EncodeAll(LinearEncoder(encoder_), ShardColumns(shard, columns_), context);
  shard.Bytes(codes_).assign(codes.rows().begin(), codes.rows().end());
  return {};
}

void CodeMomentsPass::Visit(FieldVisitor& fields) {
  VisitLinearMap(fields, "encoder", encoder_);
  fields.Visit("columns", columns_);
}

SumTerms<CrossMoments> CodeMomentsPass::ComputeTerms(Shard& shard,
                                                     const RunContext& context) const {
  const ShardColumns columns(shard, columns_);
  const BinaryCodes codes = EncodeAll(LinearEncoder(encoder_), columns, context);
  return ComputeCrossMoments(shard.place(), CodeColumns(codes), columns, context);
}

LinearMap FitDecoder(const LinearMap& encoder, Shards& shards, const std::string& columns,
                     const RunContext& context) {
  CodeMomentsPass pass(encoder, columns);
  return SolveRidge(
      RunSums(shards, pass, CrossMoments(encoder.weights.rows(), encoder.weights.cols()), context),
      0);
}

ColumnsView CodeColumns::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  buffer = SignsOf(codes_, first, count);
  return ViewOf(buffer);
}

std::vector<uint8_t>& NotedCodes(Shard& shard, const std::string& name, int bits) {
  std::vector<uint8_t>& rows = shard.Bytes(name);
  const size_t expected = static_cast<size_t>(shard.place().count) * BytesPerCode(bits);
  if (rows.size() != expected) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes \"{}\" of a shard: expected {} bytes, got {}", name, expected,
                            rows.size()));
  }
  return rows;
}

std::unique_ptr<Pass> MakeHashPass(std::string_view name) {
  if (name == EncodePass().name()) return std::make_unique<EncodePass>();
  if (name == CodeMomentsPass().name()) return std::make_unique<CodeMomentsPass>();
  for (const auto make :
       {MakeItqPass, MakeAutoencoderPass, MakeAlternationPass, MakeSashPass, MakeViewPass}) {
    if (std::unique_ptr<Pass> pass = make(name)) return pass;
  }
  return nullptr;
}

}  // namespace bitpool
