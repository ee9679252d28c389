#include "bitpool/hash/relaxed_autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/sign_bits.h"
#include "bitpool/hash/shard_passes.h"

namespace bitpool {
namespace {

// Columns a thread works on at once, and whose products are summed in single precision.
constexpr size_t kRelaxedColumns = 1024;
static_assert(kShardAlignment % kRelaxedColumns == 0);

double Inner(const MatrixD& a, const MatrixD& b) { return a.cwiseProduct(b).sum(); }

// What sweeps over the bits take from the maps of an iteration, for inputs and targets relative to
// their means: Q = W₂ᵀ(T − c₂1ᵀ) + λ(W₁X + c₁1ᵀ) as one product with X, and one with T where it is
// not X.
struct SweepMaps {
  MatrixF from_inputs;
  MatrixF from_targets;
  VectorF offset;
  MatrixF interaction;  // W₂ᵀW₂ without its diagonal

  void Visit(FieldVisitor& fields) {
    fields.Visit("from_inputs", from_inputs);
    fields.Visit("from_targets", from_targets);
    fields.Visit("offset", offset);
    fields.Visit("interaction", interaction);
  }
};

// A chunk of samples being worked on.
struct Chunk {
  Index first = 0;  // in the whole
  Index count = 0;
  uint8_t* rows = nullptr;  // its codes
  size_t bytes = 0;         // of a code
  MatrixF buffer;
  MatrixF inputs, targets;  // relative to the means
  MatrixF signs;            // B
  MatrixF drive;  // q − W₂ᵀW₂b without the bit's own part: its sign is the best bit
  std::vector<uint8_t> best;
  MatrixF input_sums, target_sums, code_sums;
  uint64_t flipped = 0;
};

// eq:bk for one bit after another: bit k of every sample is the sign of q_k − w_kᵀ W̄₂ b̄. The drive
// of all bits is computed at once with the codes as they are; it stays right until a bit flips, so
// only samples that have a bit to flip are looked at further.
void SweepBits(const SweepMaps& step, Chunk& chunk) {
  const Index bits = chunk.signs.rows();
  chunk.drive.resize(bits, chunk.count);
  chunk.drive.noalias() = step.from_inputs * chunk.inputs;
  if (step.from_targets.size() > 0) chunk.drive.noalias() += step.from_targets * chunk.targets;
  chunk.drive.noalias() -= step.interaction * chunk.signs;
  chunk.drive.colwise() += step.offset;
  chunk.best.resize(static_cast<size_t>(chunk.count) * chunk.bytes);
  PackSigns(chunk.drive.data(), bits, chunk.count, chunk.best.data());
  for (Index sample = 0; sample < chunk.count; ++sample) {
    uint8_t* code = chunk.rows + static_cast<size_t>(sample) * chunk.bytes;
    const uint8_t* best = chunk.best.data() + static_cast<size_t>(sample) * chunk.bytes;
    const auto [differs, unused] = std::mismatch(code, code + chunk.bytes, best);
    if (differs == code + chunk.bytes) continue;
    auto drive = chunk.drive.col(sample);
    auto signs = chunk.signs.col(sample);
    for (Index bit = 8 * (differs - code); bit < bits; ++bit) {
      const float sign = drive[bit] >= 0 ? 1.0F : -1.0F;
      if (sign == signs[bit]) continue;
      drive -= 2 * sign * step.interaction.col(bit);
      signs[bit] = sign;
      code[bit / 8] = static_cast<uint8_t>(code[bit / 8] ^ 1U << (bit % 8));
      ++chunk.flipped;
    }
  }
}

Sums BlankSums(Index bits, Index inputs, Index targets) {
  return {{"inputs", bits, inputs},
          {"targets", bits, targets},
          {"codes", bits, bits},
          {"bits", bits, 1},
          {"flipped"}};
}

// One pass over the samples: takes their codes, those noted or those of an encoder, improves them
// where there are maps to do so, and sums up what the next maps need.
class CodePass : public SumPass<Sums> {
 public:
  CodePass() = default;
  CodePass(RelaxedAutoencoder::Names names, int bits, const VectorD& input_mean,
           const VectorD& target_mean)
      : names_(std::move(names)),
        bits_(bits),
        input_mean_(input_mean.cast<float>()),
        target_mean_(names_.targets.empty() ? VectorF() : target_mean.cast<float>()) {}

  std::string_view name() const override { return "autoencoder-codes"; }
  void Visit(FieldVisitor& fields) override {
    fields.Visit("inputs", names_.inputs);
    fields.Visit("targets", names_.targets);
    fields.Visit("codes", names_.codes);
    fields.Visit("bits", bits_);
    fields.Visit("input_mean", input_mean_);
    fields.Visit("target_mean", target_mean_);
    VisitLinearMap(fields, "encoder", encoder);
    PrefixedFields of_maps(fields, "sweep.");
    sweep.Visit(of_maps);
  }
  Sums Blank() const { return BlankSums(bits_, input_mean_.size(), target_mean_.size()); }

  LinearMap encoder;  // empty: the codes are noted
  SweepMaps sweep;    // empty: the codes stay as they are

 private:
  SumTerms<Sums> ComputeTerms(Shard& shard, const RunContext& context) const override {
    RequireBits(bits_);
    const ShardPlace& place = shard.place();
    const ShardColumns inputs(shard, names_.inputs);
    std::optional<ShardColumns> targets;
    if (!names_.targets.empty()) targets.emplace(shard, names_.targets);
    RequireAgreement(inputs.dimension(), targets ? targets->dimension() : 0, place.count);
    const size_t bytes = BytesPerCode(bits_);
    std::optional<LinearEncoder> initial;
    if (encoder.weights.size() > 0) {
      initial.emplace(encoder);
      shard.Bytes(names_.codes).resize(static_cast<size_t>(place.count) * bytes);
    }
    std::vector<uint8_t>& rows = NotedCodes(shard, names_.codes, bits_);
    TermBuilder<Sums> builder(place, Blank());
    Progress progress =
        context.StartProgress("codes", "vectors", static_cast<uint64_t>(place.count));
    context.pool().OrderedReduce(
        static_cast<size_t>(place.count), kRelaxedColumns, Chunk{},
        [&](Chunk& chunk, size_t begin, size_t end) {
          context.ThrowIfStopped();
          chunk.first = place.first + static_cast<Index>(begin);
          chunk.count = static_cast<Index>(end - begin);
          chunk.rows = rows.data() + begin * bytes;
          chunk.bytes = bytes;
          const ColumnsView block =
              inputs.Read(static_cast<Index>(begin), chunk.count, chunk.buffer);
          if (initial) std::ranges::copy(initial->Encode(block).rows(), chunk.rows);
          chunk.inputs = block.colwise() - input_mean_;
          if (targets) LoadTargets(*targets, static_cast<Index>(begin), chunk);
          Update(chunk);
          progress.Advance(end - begin);
        },
        [&](const Chunk& chunk) { Add(chunk, builder.At(chunk.first)); });
    return builder.Take();
  }

  void RequireAgreement(Index inputs, Index targets, Index samples) const {
    const bool sweeps = sweep.from_inputs.size() > 0;
    const bool agree =
        samples == 0 ||
        (inputs == input_mean_.size() && targets == target_mean_.size() &&
         (!sweeps || (sweep.from_inputs.rows() == bits_ && sweep.from_inputs.cols() == inputs &&
                      sweep.from_targets.size() == (targets == 0 ? 0 : bits_ * targets) &&
                      sweep.offset.size() == bits_ && sweep.interaction.rows() == bits_ &&
                      sweep.interaction.cols() == bits_)));
    if (agree) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("maps of dimension {} to {} bits and targets of dimension {} do not "
                            "belong to a shard of dimension {} with targets of dimension {}",
                            input_mean_.size(), bits_, target_mean_.size(), inputs, targets));
  }

  void LoadTargets(const ColumnSource& targets, Index begin, Chunk& chunk) const {
    MatrixF buffer;
    chunk.targets = targets.Read(begin, chunk.count, buffer).colwise() - target_mean_;
  }

  void Update(Chunk& chunk) const {
    chunk.signs.resize(bits_, chunk.count);
    UnpackSigns(chunk.rows, bits_, chunk.count, chunk.signs.data());
    chunk.flipped = 0;
    if (sweep.from_inputs.size() > 0) SweepBits(sweep, chunk);
    chunk.input_sums.resize(bits_, chunk.inputs.rows());
    chunk.input_sums.noalias() = chunk.signs * chunk.inputs.transpose();
    if (target_mean_.size() > 0) {
      chunk.target_sums.resize(bits_, chunk.targets.rows());
      chunk.target_sums.noalias() = chunk.signs * chunk.targets.transpose();
    }
    chunk.code_sums.resize(bits_, bits_);
    chunk.code_sums.noalias() = chunk.signs * chunk.signs.transpose();
  }

  void Add(const Chunk& chunk, Sums& sums) const {
    sums["inputs"] += chunk.input_sums.cast<double>();
    if (target_mean_.size() > 0) sums["targets"] += chunk.target_sums.cast<double>();
    sums["codes"] += chunk.code_sums.cast<double>();
    sums["bits"] += chunk.signs.rowwise().sum().cast<double>();
    sums.number("flipped") += static_cast<double>(chunk.flipped);
  }

  RelaxedAutoencoder::Names names_;
  int bits_ = 0;
  VectorF input_mean_, target_mean_;
};

void RequireOwnMoments(const Moments& moments, Index samples, Index dimension) {
  if (moments.count() == samples && moments.dimension() == dimension) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("moments of {} samples of dimension {} do not belong to {} of {}",
                          moments.count(), moments.dimension(), samples, dimension));
}

}  // namespace

// The maps of one iteration, for inputs and targets relative to their means.
struct RelaxedAutoencoder::Step {
  MatrixD w1;  // bits × D
  VectorD c1;
  MatrixD w2;  // target dimension × bits
  VectorD c2;
  double encoder_match = 0;  // ⟨W₁, Σ b xᵀ⟩ of the codes they were made from
  SweepMaps sweep;
};

// Sources as a single shard.
struct RelaxedAutoencoder::Local {
  Local(const ColumnSource& inputs, const ColumnSource* targets, const BinaryCodes& initial)
      : shard(inputs) {
    if (targets != nullptr) {
      if (targets->size() != inputs.size()) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{} targets for {} samples", targets->size(), inputs.size()));
      }
      names.targets = "targets";
      shard.Give(names.targets, *targets);
    }
    if (initial.size() != inputs.size()) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{} initial codes for {} samples", initial.size(), inputs.size()));
    }
    shard.Bytes(names.codes).assign(initial.rows().begin(), initial.rows().end());
  }

  Shard shard;
  LocalShards shards{{&shard}};
  Names names;
};

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights, Shards& shards,
                                       Names names, const Moments& moments, int bits,
                                       const LinearMap* initial, const RunContext& context)
    : weights_(weights),
      shards_(shards),
      names_(std::move(names)),
      bits_(bits),
      input_mean_(moments.mean()),
      target_mean_(moments.mean()),
      target_squares_(moments.scatter().trace()),
      encoder_solver_(moments, weights.encoder_ridge * static_cast<double>(moments.count())) {
  RequireOwnMoments(moments, shards.size(), moments.dimension());
  if (!names_.targets.empty()) {
    MomentsPass pass(names_.targets);
    const Moments of_targets = RunSums(shards_, pass, Moments(), context);
    target_mean_ = of_targets.mean();
    target_squares_ = of_targets.scatter().trace();
  }
  CodePass pass(names_, bits_, input_mean_, target_mean_);
  if (initial != nullptr) pass.encoder = *initial;
  sums_ = RunSums(shards_, pass, pass.Blank(), context);
}

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights,
                                       std::unique_ptr<Local> local, const Moments& moments,
                                       const BinaryCodes& initial, const RunContext& context)
    : RelaxedAutoencoder(weights, local->shards, local->names, moments, initial.bits(), nullptr,
                         context) {
  local_ = std::move(local);
}

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights,
                                       const ColumnSource& inputs, const Moments& moments,
                                       const ColumnSource* targets, const BinaryCodes& initial,
                                       const RunContext& context)
    : RelaxedAutoencoder(weights,
                         (RequireOwnMoments(moments, inputs.size(), inputs.dimension()),
                          std::make_unique<Local>(inputs, targets, initial)),
                         moments, initial, context) {}

RelaxedAutoencoder::~RelaxedAutoencoder() = default;

BinaryCodes RelaxedAutoencoder::codes() const { return {bits_, local_->shard.Bytes(names_.codes)}; }

TrainingIteration RelaxedAutoencoder::Iterate(const RunContext& context) {
  const Stopwatch watch;
  const Step step = MakeStep();
  CodePass pass(names_, bits_, input_mean_, target_mean_);
  pass.sweep = step.sweep;
  Sums sums = RunSums(shards_, pass, pass.Blank(), context);
  TrainingIteration record = Measure(step, sums);
  sums_ = std::move(sums);
  record.seconds = watch.seconds();
  return record;
}

LinearMap RelaxedAutoencoder::Encoder() const {
  // eq:W1 and eq:c1. The inputs are relative to their mean, so Σ b xᵀ is Σ (b − mean)xᵀ.
  return encoder_solver_.Solve(
      CrossScatter(shards_.size(), input_mean_, sums_["bits"] / samples(), sums_["inputs"]));
}

LinearMap RelaxedAutoencoder::Decoder() const {
  const VectorD mean = sums_["bits"] / samples();
  const Moments codes(shards_.size(), mean, sums_["codes"] - samples() * mean * mean.transpose());
  // eq:W2 and eq:c2.
  return RidgeSolver(codes, weights_.decoder_ridge * samples())
      .Solve(CrossScatter(shards_.size(), mean, target_mean_, TargetSums(sums_).transpose()));
}

RelaxedAutoencoder::Step RelaxedAutoencoder::MakeStep() const {
  const LinearMap encoder = Encoder();
  const LinearMap decoder = Decoder();
  Step step;
  step.w1 = encoder.weights.cast<double>();
  step.c1 = encoder.bias.cast<double>() + step.w1 * input_mean_;
  step.w2 = decoder.weights.cast<double>();
  step.c2 = decoder.bias.cast<double>() - target_mean_;
  step.encoder_match = Inner(step.w1, sums_["inputs"]);
  const double lambda = weights_.quantisation;
  MatrixD from_inputs = lambda * step.w1;
  if (names_.targets.empty()) {
    from_inputs += step.w2.transpose();
  } else {
    step.sweep.from_targets = step.w2.transpose().cast<float>();
  }
  step.sweep.from_inputs = from_inputs.cast<float>();
  step.sweep.offset = (lambda * step.c1 - step.w2.transpose() * step.c2).cast<float>();
  step.sweep.interaction = (step.w2.transpose() * step.w2).cast<float>();
  step.sweep.interaction.diagonal().setZero();
  return step;
}

// The objective at the maps of the step and the codes that gave `sums`, from sums alone.
TrainingIteration RelaxedAutoencoder::Measure(const Step& step, const Sums& sums) const {
  const VectorD bit_sums = sums["bits"];
  // Σ‖t − W₂b − c₂‖²
  const double reconstruction = target_squares_ - 2 * Inner(step.w2, TargetSums(sums).transpose()) +
                                Inner(step.w2.transpose() * step.w2, sums["codes"]) +
                                2 * step.c2.dot(step.w2 * bit_sums) +
                                samples() * step.c2.squaredNorm();
  // Σ‖b − W₁x − c₁‖², where W₁ Σxxᵀ W₁ᵀ follows from the equation that W₁ solves.
  const double ridge = weights_.encoder_ridge * samples();
  const double outputs = step.encoder_match - ridge * step.w1.squaredNorm();
  const double quantisation = samples() * bits_ - 2 * Inner(step.w1, sums["inputs"]) -
                              2 * step.c1.dot(bit_sums) + outputs +
                              samples() * step.c1.squaredNorm();
  TrainingIteration record;
  record.reconstruction = std::max(0.0, reconstruction / samples());
  record.quantisation = std::max(0.0, quantisation / samples());
  record.objective = record.reconstruction +
                     weights_.quantisation *
                         (record.quantisation + weights_.encoder_ridge * step.w1.squaredNorm()) +
                     weights_.decoder_ridge * step.w2.squaredNorm();
  record.flipped = sums.number("flipped") / (samples() * bits_);
  return record;
}

std::unique_ptr<Pass> MakeAutoencoderPass(std::string_view name) {
  if (name == CodePass().name()) return std::make_unique<CodePass>();
  return nullptr;
}

}  // namespace bitpool
