#include "bitpool/hash/itq.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/sign_bits.h"
#include "bitpool/hash/shard_passes.h"
#include "bitpool/linalg/pca.h"
#include "bitpool/linalg/procrustes.h"

namespace bitpool {
namespace {

constexpr uint64_t kSampleStream = 1, kRotationStream = 2;
// Columns a thread works on at once: the projections and their rotation stay in its cache.
constexpr size_t kItqColumns = 512;
// From this share of changed bits on, one matrix product is faster than adding column by column.
constexpr double kManyFlips = 0.1;
static_assert(kShardAlignment % kItqColumns == 0);

// Where the projections of a shard's samples are noted, and their codes.
constexpr const char* kProjected = "itq.projected";
constexpr const char* kItqCodes = "itq.codes";

// Which samples of a shard find the rotation: a share of every chunk, so that the source is read
// once and in order, and it does not matter where the other shards begin.
class UsedSamples {
 public:
  UsedSamples(const ShardPlace& place, double share) : place_(place) {
    const Index chunks = (place.count + kChunk - 1) / kChunk;
    starts_.push_back(0);
    for (Index chunk = 0; chunk < chunks; ++chunk) {
      const Index begin = place.first + FirstOf(chunk), end = begin + SizeOf(chunk);
      const Index used =
          share >= 1 ? end - begin : UsedBefore(share, end) - UsedBefore(share, begin);
      starts_.push_back(starts_.back() + used);
    }
  }

  Index chunks() const { return static_cast<Index>(starts_.size()) - 1; }
  Index size() const { return starts_.back(); }
  // Of a chunk: its samples in the shard, its number in the whole, and its used ones among all
  // used ones of the shard.
  Index FirstOf(Index chunk) const { return chunk * kChunk; }
  Index SizeOf(Index chunk) const { return std::min(kChunk, place_.count - FirstOf(chunk)); }
  Index Number(Index chunk) const { return (place_.first + FirstOf(chunk)) / kChunk; }
  Index Start(Index chunk) const { return starts_[static_cast<size_t>(chunk)]; }
  Index UsedOf(Index chunk) const { return Start(chunk + 1) - Start(chunk); }

 private:
  static constexpr auto kChunk = static_cast<Index>(kItqColumns);

  // How many of the first samples of the whole are used: a share, however small, and at least one.
  static Index UsedBefore(double share, Index samples) {
    return samples == 0 ? 0 : 1 + static_cast<Index>(share * static_cast<double>(samples - 1));
  }

  ShardPlace place_;
  std::vector<Index> starts_;
};

double ShareOf(const ItqOptions& options, Index rows, Index samples) {
  const double wanted = static_cast<double>(options.memory) / (4.0 * static_cast<double>(rows));
  return wanted / static_cast<double>(samples);
}

Sums BlankProjection() { return {{"samples"}, {"squares"}}; }

// V of the used samples of a shard, which is noted; sums up how many they are, and ‖V‖².
SumTerms<Sums> ProjectSamples(const ItqProjection& project, Index rows, const std::string& columns,
                              double share, const Random& random, Shard& shard,
                              const RunContext& context) {
  const ShardColumns source(shard, columns);
  const ShardPlace& place = shard.place();
  const UsedSamples samples(place, share);
  MatrixF projected(rows, samples.size());
  std::vector<double> squares(static_cast<size_t>(samples.chunks()));
  Progress progress =
      context.StartProgress("projecting", "vectors", static_cast<uint64_t>(place.count));
  context.ParallelFor(squares.size(), 1, [&](size_t i, size_t /*end*/) {
    const auto chunk = static_cast<Index>(i);
    const Index size = samples.SizeOf(chunk), used = samples.UsedOf(chunk);
    progress.Advance(static_cast<uint64_t>(size));
    if (used == 0) return;
    MatrixF buffer;
    const ColumnsView block = source.Read(samples.FirstOf(chunk), size, buffer);
    auto out = projected.middleCols(samples.Start(chunk), used);
    if (used == size) {
      out = project(block);
    } else {
      Random mine = random.Fork(static_cast<uint64_t>(samples.Number(chunk)));
      std::vector<uint64_t> chosen =
          mine.Sample(static_cast<uint64_t>(size), static_cast<uint64_t>(used));
      std::ranges::sort(chosen);
      MatrixF gathered(block.rows(), used);
      for (Index column = 0; column < used; ++column) {
        gathered.col(column) = block.col(static_cast<Index>(chosen[static_cast<size_t>(column)]));
      }
      out = project(gathered);
    }
    for (Index column = 0; column < used; ++column) {
      squares[i] += out.col(column).template cast<double>().squaredNorm();
    }
  });
  TermBuilder<Sums> builder(place, BlankProjection());
  for (Index chunk = 0; chunk < samples.chunks(); ++chunk) {
    Sums& sums = builder.At(place.first + samples.FirstOf(chunk));
    sums.number("samples") += static_cast<double>(samples.UsedOf(chunk));
    sums.number("squares") += squares[static_cast<size_t>(chunk)];
  }
  shard.Matrix(kProjected) = std::move(projected);
  return builder.Take();
}

// The same for principal components.
class ProjectPass : public SumPass<Sums> {
 public:
  ProjectPass() = default;
  ProjectPass(const Pca& pca, std::string columns, double share, uint64_t seed)
      : mean_(pca.mean),
        basis_(pca.basis),
        columns_(std::move(columns)),
        share_(share),
        seed_(static_cast<Index>(seed)) {}

  std::string_view name() const override { return "itq-project"; }
  void Visit(FieldVisitor& fields) override {
    fields.Visit("mean", mean_);
    fields.Visit("basis", basis_);
    fields.Visit("columns", columns_);
    fields.Visit("share", share_);
    fields.Visit("seed", seed_);
  }

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    const Pca pca{.mean = mean_, .basis = basis_, .variances = {}};
    return ProjectSamples([&](const MatrixFRef& block) { return pca.Project(block); },
                          basis_.cols(), columns_, share_,
                          Random(static_cast<uint64_t>(seed_)).Fork(kSampleStream), shard, context);
  }

  VectorF mean_;
  MatrixF basis_;
  std::string columns_;
  double share_ = 1;
  Index seed_ = 0;
};

Sums BlankTurn(Index rows, Index bits) { return {{"products", rows, bits}, {"flips"}}; }

// B from R. Codes change little from one iteration to the next, so V·Bᵀ is not recomputed; only
// what the changed bits add to it is.
class TurnPass : public SumPass<Sums> {
 public:
  TurnPass() = default;
  // Of the first iteration, which knows no codes, or of a later one.
  TurnPass(MatrixF rotation, MatrixD products, double share, bool first)
      : rotation_(std::move(rotation)),
        products_(std::move(products)),
        share_(share),
        first_(first) {}

  std::string_view name() const override { return "itq-turn"; }
  void Visit(FieldVisitor& fields) override {
    fields.Visit("rotation", rotation_);
    fields.Visit("products", products_);
    fields.Visit("share", share_);
    fields.Visit("first", first_);
  }

 private:
  // What a chunk of samples adds to V·Bᵀ.
  struct Change {
    Index first = 0;   // the sample of the whole that it begins with
    MatrixF products;  // components × bits
    uint64_t flips = 0;
    MatrixF rotated;
    std::vector<uint8_t> codes;
  };

  int bits() const { return static_cast<int>(rotation_.rows()); }

  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    RequireBits(bits());
    const ShardPlace& place = shard.place();
    const UsedSamples samples(place, share_);
    const MatrixF& projected = shard.Matrix(kProjected);
    RequireAgreement(projected, samples.size());
    std::vector<uint8_t>& codes = shard.Bytes(kItqCodes);
    if (first_) codes.assign(static_cast<size_t>(samples.size()) * BytesPerCode(bits()), 0);
    if (codes.size() != static_cast<size_t>(samples.size()) * BytesPerCode(bits())) {
      throw Error(ErrorCode::kInvalidArgument, "ITQ: codes of another number of samples or bits");
    }
    const Sums blank = BlankTurn(projected.rows(), bits());
    Sums initial = blank;
    initial["products"] = products_;
    TermBuilder<Sums> builder(place, blank, std::move(initial));
    // Where few samples of every chunk are used, more chunks are joined, as many as every shard
    // has.
    const size_t group = share_ >= 1 ? 1 : kShardAlignment / kItqColumns;
    context.pool().OrderedReduce(
        static_cast<size_t>(samples.chunks()), group, Change{},
        [&](Change& change, size_t begin, size_t end) {
          context.ThrowIfStopped();
          const Index first = samples.Start(static_cast<Index>(begin));
          change.first = place.first + samples.FirstOf(static_cast<Index>(begin));
          UpdateCodes(change,
                      projected.middleCols(first, samples.Start(static_cast<Index>(end)) - first),
                      codes.data() + static_cast<size_t>(first) * BytesPerCode(bits()));
        },
        [&](const Change& change) {
          Sums& sums = builder.At(change.first);
          sums["products"] += change.products.cast<double>();
          sums.number("flips") += static_cast<double>(change.flips);
        });
    return builder.Take();
  }

  void RequireAgreement(const MatrixF& projected, Index samples) const {
    if (projected.cols() == samples && projected.rows() == rotation_.cols() &&
        products_.rows() == rotation_.cols() && products_.cols() == rotation_.rows()) {
      return;
    }
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("ITQ: a {} × {} rotation for {} × {} projections of {} samples",
                            rotation_.rows(), rotation_.cols(), projected.rows(), projected.cols(),
                            samples));
  }

  template <class Block>
  void UpdateCodes(Change& change, const Block& block, uint8_t* old) const {
    const Index count = block.cols();
    change.rotated.resize(bits(), count);
    change.rotated.noalias() = rotation_ * block;
    change.codes.resize(static_cast<size_t>(count) * BytesPerCode(bits()));
    PackSigns(change.rotated.data(), bits(), count, change.codes.data());
    change.flips =
        first_ ? static_cast<uint64_t>(count * bits())
               : static_cast<uint64_t>(HammingDistance(change.codes, {old, change.codes.size()}));
    change.products.resize(block.rows(), bits());
    if (static_cast<double>(change.flips) > kManyFlips * static_cast<double>(count * bits())) {
      AddByProduct(change, block, old);
    } else {
      AddByFlips(change, block, old);
    }
    std::ranges::copy(change.codes, old);
  }

  template <class Block>
  void AddByProduct(Change& change, const Block& block, const uint8_t* old) const {
    MatrixF signs(bits(), block.cols());
    UnpackSigns(change.codes.data(), bits(), block.cols(), signs.data());
    if (!first_) {
      UnpackSigns(old, bits(), block.cols(), change.rotated.data());
      signs -= change.rotated;
    }
    change.products.noalias() = block * signs.transpose();
  }

  template <class Block>
  void AddByFlips(Change& change, const Block& block, const uint8_t* old) const {
    change.products.setZero();
    const size_t bytes = BytesPerCode(bits());
    for (Index column = 0; column < block.cols(); ++column) {
      const size_t row = static_cast<size_t>(column) * bytes;
      for (size_t byte = 0; byte < bytes; ++byte) {
        const unsigned now = change.codes[row + byte];
        for (unsigned changed = now ^ old[row + byte]; changed != 0; changed &= changed - 1) {
          const int bit = std::countr_zero(changed);
          change.products.col(static_cast<Index>(8 * byte) + bit) +=
              (now >> bit & 1U) != 0 ? 2.0F * block.col(column) : -2.0F * block.col(column);
        }
      }
    }
  }

  MatrixF rotation_;  // R, bits × components
  MatrixD products_;  // V·Bᵀ of the codes before
  double share_ = 1;
  bool first_ = true;
};

// The alternation, from projections that are noted in the shards.
class Rotation {
 public:
  Rotation(Index rows, int bits, double share, const Sums& projection, Shards& shards,
           const RunContext& context)
      : bits_(bits),
        share_(share),
        samples_(projection.number("samples")),
        squares_(projection.number("squares")),
        shards_(shards),
        context_(context),
        products_(MatrixD::Zero(rows, bits)) {
    Random random = context.MakeRandom(kRotationStream);
    rotation_ = RandomOrthogonal(bits, random).leftCols(rows);
  }

  const MatrixF& rotation() const { return rotation_; }

  // B from R, then R from B.
  TrainingIteration Iterate() {
    const Stopwatch watch;
    TurnPass pass(rotation_, products_, share_, first_);
    const Sums sums =
        RunSums<Sums>(shards_, pass, BlankTurn(products_.rows(), products_.cols()), context_);
    first_ = false;
    products_ = sums["products"];
    const MatrixD cross = products_.transpose();  // B Vᵀ
    rotation_ = NearestOrthogonal(cross.cast<float>());
    // ‖B − RV‖² = ‖B‖² + ‖V‖² − 2 tr(Rᵀ B Vᵀ), since the columns of R are orthonormal.
    const double match = rotation_.cast<double>().cwiseProduct(cross).sum();
    TrainingIteration record;
    record.objective = std::max(0.0, bits_ + (squares_ - 2 * match) / samples_);
    record.quantisation = record.objective;
    record.flipped = sums.number("flips") / (samples_ * bits_);
    record.seconds = watch.seconds();
    return record;
  }

 private:
  int bits_;
  double share_;
  double samples_;
  double squares_;  // ‖V‖²
  Shards& shards_;
  const RunContext& context_;
  bool first_ = true;  // B is not known yet
  MatrixD products_;   // V·Bᵀ
  MatrixF rotation_;   // R, bits × components
};

MatrixF IterateRotation(const ItqOptions& options, Rotation rotation, const RunContext& context,
                        TrainingSummary& summary) {
  Progress progress =
      context.StartProgress("ITQ", "iterations", static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    try {
      summary.iterations.push_back(rotation.Iterate());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || i == 0) throw;
      summary.interrupted = true;
      break;
    }
    progress.Advance();
    summary.converged = summary.iterations.back().flipped == 0;
  }
  return rotation.rotation();
}

}  // namespace

void ItqOptions::Validate() const {
  RequireBits(bits);
  if (iterations < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("iterations of ITQ: expected 1 or more, got {}", iterations));
  }
  if (memory < 1) throw Error(ErrorCode::kInvalidArgument, "memory of ITQ: expected 1 or more");
}

MatrixF FindItqRotation(const ItqOptions& options, const ItqProjection& project, Index rows,
                        const ColumnSource& source, const RunContext& context,
                        TrainingSummary& summary) {
  options.Validate();
  Shard shard(source);
  LocalShards shards({&shard});
  const double share = ShareOf(options, rows, source.size());
  SumTerms<Sums> terms = ProjectSamples(project, rows, kInputs, share,
                                        context.MakeRandom(kSampleStream), shard, context);
  TermMerger<Sums> projection;
  projection.Add(terms);
  return IterateRotation(
      options,
      Rotation(rows, options.bits, share, projection.Take(BlankProjection()), shards, context),
      context, summary);
}

LinearMap FindItqEncoder(const ItqOptions& options, Shards& shards, const std::string& columns,
                         const Moments& moments, const RunContext& context,
                         TrainingSummary& summary) {
  options.Validate();
  RequireTrainable(moments);
  const Pca pca = ComputePca(moments, std::min<Index>(options.bits, moments.dimension()));
  const double share = ShareOf(options, pca.components(), shards.size());
  ProjectPass pass(pca, columns, share, context.seed());
  const Sums projection = RunSums<Sums>(shards, pass, BlankProjection(), context);
  const MatrixF rotation = IterateRotation(
      options, Rotation(pca.components(), options.bits, share, projection, shards, context),
      context, summary);
  LinearMap map;
  map.weights = rotation * pca.basis.transpose();
  map.bias = (-(map.weights.cast<double>() * moments.mean())).cast<float>();
  return map;
}

LinearMap FindItqEncoder(const ItqOptions& options, const ColumnSource& source,
                         const Moments& moments, const RunContext& context,
                         TrainingSummary& summary) {
  Shard shard(source);
  LocalShards shards({&shard});
  return FindItqEncoder(options, shards, kInputs, moments, context, summary);
}

Trained<HashModel> TrainItq(const ItqOptions& options, Shards& shards, const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  MomentsPass pass;
  const Moments moments = RunSums(shards, pass, Moments(), context);
  TrainingSummary summary{.samples = shards.size()};
  LinearMap encoder = FindItqEncoder(options, shards, kInputs, moments, context, summary);
  LinearMap decoder = FitDecoder(encoder, shards, kInputs, context.WithoutStop());
  summary.seconds = watch.seconds();
  return {.model = {.method = "itq",
                    .encoder = std::make_shared<LinearEncoder>(std::move(encoder)),
                    .decoder = std::move(decoder)},
          .summary = std::move(summary)};
}

Trained<HashModel> TrainItq(const ItqOptions& options, const ColumnSource& source,
                            const RunContext& context) {
  Shard shard(source);
  LocalShards shards({&shard});
  return TrainItq(options, shards, context);
}

std::unique_ptr<Pass> MakeItqPass(std::string_view name) {
  if (name == ProjectPass().name()) return std::make_unique<ProjectPass>();
  if (name == TurnPass().name()) return std::make_unique<TurnPass>();
  return nullptr;
}

}  // namespace bitpool
