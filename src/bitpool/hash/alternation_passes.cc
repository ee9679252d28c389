#include "bitpool/hash/alternation_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "bitpool/base/error.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/pool/coupling.h"

namespace bitpool {
namespace {

constexpr size_t kColumnsPerTask = 1024;
static_assert(kShardAlignment % kColumnsPerTask == 0);

const RecordStore& RecordsOf(const Shard& shard) {
  if (const auto* images = dynamic_cast<const ImageShard*>(&shard)) return images->records();
  throw Error(ErrorCode::kInvalidArgument, "a shard without records of images");
}

// y of an image, in the labels' memory or in `buffer`; empty without labels.
std::span<const float> LabelOf(const std::optional<ShardColumns>& labels, Index image,
                               MatrixF& buffer) {
  if (!labels) return {};
  const ColumnsView column = labels->Read(image, 1, buffer);
  return {column.data(), static_cast<size_t>(column.size())};
}

}  // namespace

InitialPoolPass::InitialPoolPass(const SahOptions& options, std::string to) : to_(std::move(to)) {
  options_.mu = options.mu;
  options_.tolerance = options.tolerance;
}

void InitialPoolPass::Visit(FieldVisitor& fields) {
  fields.Visit("mu", options_.mu);
  fields.Visit("tolerance", options_.tolerance);
  fields.Visit("to", to_);
}

SumTerms<Sums> InitialPoolPass::ComputeTerms(Shard& shard, const RunContext& context) const {
  shard.Matrix(to_) = InitialVectors(options_, RecordsOf(shard), context);
  return {};
}

PoolPass::PoolPass(const JointState& maps, const SahOptions& options, Columns columns,
                   MatrixF metric)
    : encoder_(maps.encoder),
      decoder_(maps.decoder),
      system_{.mu = options.mu, .gamma = maps.gamma, .tolerance = options.tolerance},
      columns_(std::move(columns)),
      metric_(std::move(metric)) {}

void PoolPass::Visit(FieldVisitor& fields) {
  VisitLinearMap(fields, "encoder", encoder_);
  VisitLinearMap(fields, "decoder", decoder_);
  fields.Visit("mu", system_.mu);
  fields.Visit("gamma", system_.gamma);
  fields.Visit("tolerance", system_.tolerance);
  fields.Visit("labels", columns_.labels);
  fields.Visit("from", columns_.from);
  fields.Visit("to", columns_.to);
  fields.Visit("metric", metric_);
}

SumTerms<Sums> PoolPass::ComputeTerms(Shard& shard, const RunContext& context) const {
  const PoolingSystem system(columns_.labels.empty()
                                 ? Coupling::Autoencoder(encoder_, decoder_, metric_)
                                 : Coupling::Labels(encoder_, decoder_),
                             system_);
  const RecordStore& records = RecordsOf(shard);
  const MatrixF& before = shard.Matrix(columns_.from);
  if (before.cols() != records.size() || before.rows() != system.dimension()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} vectors of dimension {} for {} images and maps of dimension {}",
                            before.cols(), before.rows(), records.size(), system.dimension()));
  }
  std::optional<ShardColumns> labels;
  if (!columns_.labels.empty()) labels.emplace(shard, columns_.labels);
  MatrixF after(before.rows(), before.cols());
  VectorD aggregation(records.size());
  ForEachRecord(records, context, [&](Index image, const ImageRecord& record) {
    MatrixF label;
    const auto start = before.col(image);
    const VectorF vector =
        record.Solve(system, {.label = LabelOf(labels, image, label),
                              .start = {start.data(), static_cast<size_t>(start.size())}});
    after.col(image) = vector;
    aggregation[image] =
        record.Inequality(vector) + system_.mu * vector.cast<double>().squaredNorm();
  });
  SumTerms<Sums> terms = SumUp(shard.place(), before, after, aggregation, context);
  shard.Matrix(columns_.to) = std::move(after);
  return terms;
}

SumTerms<Sums> PoolPass::SumUp(const ShardPlace& place, const MatrixF& before, const MatrixF& after,
                               const VectorD& aggregation, const RunContext& context) const {
  const LinearEncoder encoder(encoder_);
  const RunContext quiet = context.WithoutProgress();
  const BinaryCodes old = EncodeAll(encoder, MatrixColumns(before), quiet);
  const BinaryCodes now = EncodeAll(encoder, MatrixColumns(after), quiet);
  const auto chunk = static_cast<Index>(kColumnsPerTask);
  TermBuilder<Sums> builder(place, Blank());
  for (Index first = 0; first < place.count; first += chunk) {
    const Index count = std::min(chunk, place.count - first);
    const size_t begin = static_cast<size_t>(first) * old.bytes_per_code();
    const size_t bytes = static_cast<size_t>(count) * old.bytes_per_code();
    Sums& sums = builder.At(place.first + first);
    sums.number("aggregation") += aggregation.segment(first, count).sum();
    sums.number("flipped") +=
        HammingDistance(old.rows().subspan(begin, bytes), now.rows().subspan(begin, bytes));
  }
  return builder.Take();
}

void MapPass::Visit(FieldVisitor& fields) {
  VisitLinearMap(fields, "map", map_);
  fields.Visit("from", from_);
  fields.Visit("to", to_);
}

SumTerms<Sums> MapPass::ComputeTerms(Shard& shard, const RunContext& context) const {
  const ShardColumns source(shard, from_);
  if (source.dimension() != map_.weights.cols() && source.size() > 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("columns \"{}\" of dimension {}; expected {}", from_,
                            source.dimension(), map_.weights.cols()));
  }
  MatrixF mapped(map_.weights.rows(), source.size());
  context.ParallelFor(
      static_cast<size_t>(source.size()), kColumnsPerTask, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
        MatrixF buffer;
        mapped.middleCols(first, count) =
            (map_.weights * source.Read(first, count, buffer)).colwise() + map_.bias;
      });
  shard.Matrix(to_) = std::move(mapped);
  return {};
}

std::unique_ptr<Pass> MakeAlternationPass(std::string_view name) {
  if (name == InitialPoolPass().name()) return std::make_unique<InitialPoolPass>();
  if (name == PoolPass().name()) return std::make_unique<PoolPass>();
  if (name == MapPass().name()) return std::make_unique<MapPass>();
  return nullptr;
}

}  // namespace bitpool
