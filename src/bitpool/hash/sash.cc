#include "bitpool/hash/sash.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/alternation_passes.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

constexpr const char* kPooled = "pooled";  // φ₀
constexpr const char* kMapped = "mapped";  // Pφ₀ + p

constexpr size_t kSashColumns = 2048;  // multiplied at once, in double precision
static_assert(kShardAlignment % kSashColumns == 0);

// Σ φ₀φ₀ᵀ and Σ φφ₀ᵀ, of pooled and learned vectors.
class ProductsPass : public SumPass<Sums> {
 public:
  ProductsPass() = default;
  ProductsPass(std::string pooled, std::string learned)
      : pooled_(std::move(pooled)), learned_(std::move(learned)) {}

  std::string_view name() const override { return "products"; }
  void Visit(FieldVisitor& fields) override {
    fields.Visit("pooled", pooled_);
    fields.Visit("learned", learned_);
  }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    const ShardColumns pooled(shard, pooled_), learned(shard, learned_);
    const ShardPlace& place = shard.place();
    struct Products {
      Index first = 0;
      MatrixD gram, cross;
    };
    TermBuilder<Sums> builder(place, {{"gram", pooled.dimension(), pooled.dimension()},
                                      {"cross", learned.dimension(), pooled.dimension()}});
    context.pool().OrderedReduce(
        static_cast<size_t>(place.count), kSashColumns, Products{},
        [&](Products& products, size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin), count = static_cast<Index>(end - begin);
          MatrixF buffer;
          const MatrixD x = pooled.Read(first, count, buffer).cast<double>();
          const MatrixD y = learned.Read(first, count, buffer).cast<double>();
          products.first = place.first + first;
          products.gram = x * x.transpose();
          products.cross = y * x.transpose();
        },
        [&](const Products& products) {
          Sums& sums = builder.At(products.first);
          sums["gram"] += products.gram;
          sums["cross"] += products.cross;
        });
    return builder.Take();
  }

  std::string pooled_, learned_;
};

// eq:mapping itself: P = ΦΦ₀ᵀ(Φ₀Φ₀ᵀ + αI)⁻¹, without a bias.
LinearMap FindLiteralMapping(double alpha, const Sums& products) {
  MatrixD gram = products["gram"];
  gram.diagonal().array() += alpha;
  const MatrixD mapping = gram.llt().solve(products["cross"].transpose()).transpose();
  return {.weights = mapping.cast<float>(), .bias = VectorF::Zero(mapping.rows())};
}

LinearMap FindMapping(const SashOptions& options, Shards& shards, const std::string& pooled,
                      const std::string& learned, const RunContext& context) {
  if (options.joint.rba.scale == ConstantScale::kLiteral) {
    ProductsPass pass(pooled, learned);
    return FindLiteralMapping(
        options.alpha, RunSums<Sums>(shards, pass, {{"gram", 0, 0}, {"cross", 0, 0}}, context));
  }
  CrossMomentsPass pass(pooled, learned);
  const CrossMoments moments = RunSums(shards, pass, CrossMoments(), context);
  const double variance =
      moments.inputs().Covariance().trace() / static_cast<double>(moments.inputs().dimension());
  return SolveRidge(moments, options.alpha * variance * static_cast<double>(moments.count()));
}

}  // namespace

SashOptions SashOptions::Paper(int bits) {
  SashOptions options;
  options.joint = SahOptions::Paper(bits);
  options.joint.rba.lambda = 1e-4;
  options.joint.rba.beta = 1e-3;
  options.joint.gamma = 1;
  options.alpha = 0.5;
  return options;
}

void SashOptions::Validate() const {
  joint.Validate();
  kernel.Validate();
  if (!(alpha > 0 && std::isfinite(alpha))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("alpha of SASH: expected a positive number, got {}", alpha));
  }
}

LinearMap FindMapping(const SashOptions& options, const MatrixF& pooled, const MatrixF& learned,
                      const RunContext& context) {
  const MatrixColumns from(pooled), to(learned);
  Shard shard({.count = pooled.cols(), .total = pooled.cols()});
  shard.Give("from", from);
  shard.Give("to", to);
  LocalShards shards({&shard});
  return FindMapping(options, shards, "from", "to", context);
}

namespace {

// P and p from where the loop ended; has the shards note φ₀.
LinearMap MapFromPooled(const SashOptions& options, Shards& shards, const JointState& state,
                        const RunContext& context) {
  PoolInitialVectors(options.joint, shards, kPooled, context);
  return FindMapping(options, shards, kPooled, VectorsAfter(state.iterations.size()), context);
}

HashModel ModelWithoutMaps(const SashOptions& options) {
  HashModel model;
  model.method = "sash";
  model.pooling = {.normalise = options.joint.normalise, .mu = options.joint.mu, .gamma = 0};
  return model;
}

// The linear model from where the loop ended.
HashModel Finish(const SashOptions& options, Shards& shards, const JointState& state,
                 const RunContext& context) {
  LinearMap encoder = Compose(MapFromPooled(options, shards, state, context), state.encoder);
  HashModel model = ModelWithoutMaps(options);
  model.decoder = FitDecoder(encoder, shards, kPooled, context);
  model.encoder = std::make_shared<LinearEncoder>(std::move(encoder));
  return model;
}

// The model with a kernel, for all images in one shard. With a whitening the kernel is one of
// whitened vectors.
HashModel FinishWithKernel(const SashOptions& options, Shard& shard, const LabelTargets& targets,
                           const JointState& state, const ViewWhitening* whitening,
                           const RunContext& context, TrainingSummary& summary) {
  const RunContext always = context.WithoutStop();
  LocalShards shards({&shard});
  LinearMap mapping = MapFromPooled(options, shards, state, always);
  if (whitening != nullptr) mapping = Compose(mapping, whitening->forward);
  MapPass map(mapping, kPooled, kMapped);
  RunSums<Sums>(shards, map, {}, always);
  HashModel model = ModelWithoutMaps(options);
  model.encoder = std::make_shared<MappedEncoder>(
      std::move(mapping),
      LearnKernelCodes(options.kernel, options.joint.bits, options.joint.rba,
                       ShardColumns(shard, kMapped), targets, context, summary));
  model.decoder = FitDecoder(*model.encoder, ShardColumns(shard, kPooled), always);
  return model;
}

}  // namespace

Trained<HashModel> TrainSash(const SashOptions& options, Shards& shards,
                             const RunContext& context) {
  options.Validate();
  if (options.kernel.anchors > 0) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("anchors: SASH over shards is linear; expected 0, got {}",
                            options.kernel.anchors));
  }
  const Stopwatch watch;
  TrainingSummary summary;
  const JointState state = Alternate(options.joint, shards, kSashLabels, context, {}, summary);
  HashModel model = Finish(options, shards, state, context.WithoutStop());
  summary.seconds = watch.seconds();
  return {.model = std::move(model), .summary = std::move(summary)};
}

Trained<HashModel> TrainSash(const SashOptions& options, const RecordStore& records,
                             const Labels& labels, const RunContext& context, JointRun run,
                             const ViewWhitening* whitening) {
  options.Validate();
  const Stopwatch watch;
  const LabelTargets targets(labels, records.size());
  TrainingSummary summary;
  JointState state =
      Alternate(options.joint, records, &targets, context, std::move(run), summary, whitening);
  ImageShard shard({.count = records.size(), .total = records.size()}, records);
  shard.Matrix(VectorsAfter(state.iterations.size())) = std::move(state.vectors);
  LocalShards shards({&shard});
  HashModel model =
      options.kernel.anchors > 0
          ? FinishWithKernel(options, shard, targets, state, whitening, context, summary)
          : Finish(options, shards, state, context.WithoutStop());
  summary.seconds = watch.seconds();
  return {.model = std::move(model), .summary = std::move(summary)};
}

Trained<HashModel> TrainSash(const SashOptions& options, const FeatureSet& features,
                             const Labels& labels, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const Labels kept = LabelsOfRecords(features, labels);
  MemoryRecords records(features.dimension());
  std::vector<std::string> skipped =
      ReduceImages(features, options.joint.normalise, records, context);
  Trained<HashModel> trained = TrainSash(options, records, kept, context, {});
  trained.summary.skipped = std::move(skipped);
  trained.summary.seconds = watch.seconds();
  return trained;
}

Labels LabelsOfRecords(const FeatureSet& features, const Labels& labels) {
  if (labels.size() != features.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} images", labels.size(), features.size()));
  }
  std::vector<Index> images;
  for (Index image = 0; image < features.size(); ++image) {
    if (features.descriptor_count(image) > 0) images.push_back(image);
  }
  return labels.Select(images);
}

std::unique_ptr<Pass> MakeSashPass(std::string_view name) {
  if (name == ProductsPass().name()) return std::make_unique<ProductsPass>();
  return nullptr;
}

}  // namespace bitpool
