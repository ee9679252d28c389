#include "bitpool/hash/relaxed_autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/sign_bits.h"

namespace bitpool {
namespace {

// Columns a thread works on at once, and whose products are summed in single precision.
constexpr size_t kChunkColumns = 1024;

double Inner(const MatrixD& a, const MatrixD& b) { return a.cwiseProduct(b).sum(); }

}  // namespace

// The maps of one iteration, for inputs and targets relative to their means.
struct RelaxedAutoencoder::Step {
  MatrixD w1;  // bits × D
  VectorD c1;
  MatrixD w2;  // target dimension × bits
  VectorD c2;
  double encoder_match = 0;  // ⟨W₁, Σ b xᵀ⟩ of the codes they were made from

  // Q = W₂ᵀ(T − c₂1ᵀ) + λ(W₁X + c₁1ᵀ) as one product with X, and one with T where it is not X.
  MatrixF from_inputs;
  MatrixF from_targets;
  VectorF offset;
  MatrixF interaction;  // W₂ᵀW₂ without its diagonal
};

// A chunk of samples on its way.
struct RelaxedAutoencoder::Part {
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

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights,
                                       const ColumnSource& inputs, const Moments& moments,
                                       const ColumnSource* targets, int bits,
                                       const RunContext& context)
    : weights_(weights),
      inputs_(inputs),
      targets_(targets),
      bits_(bits),
      input_mean_(moments.mean()),
      target_mean_(moments.mean()),
      target_squares_(moments.scatter().trace()),
      encoder_solver_(moments, weights.encoder_ridge * static_cast<double>(moments.count())),
      rows_(static_cast<size_t>(inputs.size()) * BytesPerCode(bits)) {
  if (moments.count() != inputs.size() || moments.dimension() != inputs.dimension()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("moments of {} samples of dimension {} do not belong to {} of {}",
                    moments.count(), moments.dimension(), inputs.size(), inputs.dimension()));
  }
  if (targets_ == nullptr) return;
  if (targets_->size() != inputs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} targets for {} samples", targets_->size(), inputs.size()));
  }
  const Moments of_targets = ComputeMoments(*targets_, context);
  target_mean_ = of_targets.mean();
  target_squares_ = of_targets.scatter().trace();
}

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights,
                                       const ColumnSource& inputs, const Moments& moments,
                                       const ColumnSource* targets, const BinaryCodes& initial,
                                       const RunContext& context)
    : RelaxedAutoencoder(weights, inputs, moments, targets, initial.bits(), context) {
  if (initial.size() != inputs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} initial codes for {} samples", initial.size(), inputs.size()));
  }
  std::ranges::copy(initial.rows(), rows_.begin());
  sums_ = Pass(context, [&](Part& part, const ColumnsView& /*block*/) {
    UnpackSigns(part.rows, bits_, part.count, part.signs.data());
  });
}

RelaxedAutoencoder::RelaxedAutoencoder(const AutoencoderWeights& weights,
                                       const ColumnSource& inputs, const Moments& moments,
                                       const ColumnSource* targets, const HashEncoder& initial,
                                       const RunContext& context)
    : RelaxedAutoencoder(weights, inputs, moments, targets, initial.bits(), context) {
  sums_ = Pass(context, [&](Part& part, const ColumnsView& block) {
    const BinaryCodes codes = initial.Encode(block);
    std::ranges::copy(codes.rows(), part.rows);
    UnpackSigns(part.rows, bits_, part.count, part.signs.data());
  });
}

TrainingIteration RelaxedAutoencoder::Iterate(const RunContext& context) {
  const Stopwatch watch;
  const Step step = MakeStep();
  Sums sums = Pass(context, [&](Part& part, const ColumnsView& /*block*/) {
    UnpackSigns(part.rows, bits_, part.count, part.signs.data());
    SweepBits(step, part);
  });
  TrainingIteration record = Measure(step, sums);
  sums_ = std::move(sums);
  record.seconds = watch.seconds();
  return record;
}

template <class Update>
RelaxedAutoencoder::Sums RelaxedAutoencoder::Pass(const RunContext& context, const Update& update) {
  const Index targets = targets_ == nullptr ? 0 : targets_->dimension();
  Sums sums{.inputs = MatrixD::Zero(bits_, inputs_.dimension()),
            .targets = MatrixD::Zero(bits_, targets),
            .codes = MatrixD::Zero(bits_, bits_),
            .bits = VectorD::Zero(bits_)};
  const size_t bytes = BytesPerCode(bits_);
  Progress progress =
      context.StartProgress("codes", "vectors", static_cast<uint64_t>(inputs_.size()));
  context.pool().OrderedReduce(
      static_cast<size_t>(inputs_.size()), kChunkColumns, Part{},
      [&](Part& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        part.count = static_cast<Index>(end - begin);
        part.rows = rows_.data() + begin * bytes;
        part.bytes = bytes;
        part.flipped = 0;
        const ColumnsView block = inputs_.Read(static_cast<Index>(begin), part.count, part.buffer);
        CentreInputs(part, block);
        LoadTargets(part, static_cast<Index>(begin));
        part.signs.resize(bits_, part.count);
        update(part, block);
        SumUp(part);
        progress.Advance(end - begin);
      },
      [&](const Part& part) {
        sums.inputs += part.input_sums.cast<double>();
        if (targets_ != nullptr) sums.targets += part.target_sums.cast<double>();
        sums.codes += part.code_sums.cast<double>();
        sums.bits += part.signs.rowwise().sum().cast<double>();
        sums.flipped += part.flipped;
      });
  return sums;
}

void RelaxedAutoencoder::CentreInputs(Part& part, const ColumnsView& block) const {
  part.inputs = block.colwise() - input_mean_.cast<float>();
}

void RelaxedAutoencoder::LoadTargets(Part& part, Index first) const {
  if (targets_ == nullptr) return;
  MatrixF buffer;
  part.targets = targets_->Read(first, part.count, buffer).colwise() - target_mean_.cast<float>();
}

void RelaxedAutoencoder::SumUp(Part& part) const {
  part.input_sums.resize(bits_, part.inputs.rows());
  part.input_sums.noalias() = part.signs * part.inputs.transpose();
  if (targets_ != nullptr) {
    part.target_sums.resize(bits_, part.targets.rows());
    part.target_sums.noalias() = part.signs * part.targets.transpose();
  }
  part.code_sums.resize(bits_, bits_);
  part.code_sums.noalias() = part.signs * part.signs.transpose();
}

LinearMap RelaxedAutoencoder::Encoder() const {
  const auto samples = static_cast<double>(inputs_.size());
  // eq:W1 and eq:c1. The inputs are relative to their mean, so Σ b xᵀ is Σ (b − mean)xᵀ.
  return encoder_solver_.Solve(
      CrossScatter(inputs_.size(), input_mean_, sums_.bits / samples, sums_.inputs));
}

LinearMap RelaxedAutoencoder::Decoder() const {
  const auto samples = static_cast<double>(inputs_.size());
  const VectorD mean = sums_.bits / samples;
  const Moments codes(inputs_.size(), mean, sums_.codes - samples * mean * mean.transpose());
  // eq:W2 and eq:c2.
  return RidgeSolver(codes, weights_.decoder_ridge * samples)
      .Solve(CrossScatter(inputs_.size(), mean, target_mean_, TargetSums(sums_).transpose()));
}

RelaxedAutoencoder::Step RelaxedAutoencoder::MakeStep() const {
  const LinearMap encoder = Encoder();
  const LinearMap decoder = Decoder();
  Step step;
  step.w1 = encoder.weights.cast<double>();
  step.c1 = encoder.bias.cast<double>() + step.w1 * input_mean_;
  step.w2 = decoder.weights.cast<double>();
  step.c2 = decoder.bias.cast<double>() - target_mean_;
  step.encoder_match = Inner(step.w1, sums_.inputs);
  const double lambda = weights_.quantisation;
  MatrixD from_inputs = lambda * step.w1;
  if (targets_ == nullptr) {
    from_inputs += step.w2.transpose();
  } else {
    step.from_targets = step.w2.transpose().cast<float>();
  }
  step.from_inputs = from_inputs.cast<float>();
  step.offset = (lambda * step.c1 - step.w2.transpose() * step.c2).cast<float>();
  step.interaction = (step.w2.transpose() * step.w2).cast<float>();
  step.interaction.diagonal().setZero();
  return step;
}

// eq:bk for one bit after another: bit k of every sample is the sign of q_k − w_kᵀ W̄₂ b̄. The drive
// of all bits is computed at once with the codes as they are; it stays right until a bit flips, so
// only samples that have a bit to flip are looked at further.
void RelaxedAutoencoder::SweepBits(const Step& step, Part& part) {
  const Index bits = part.signs.rows();
  part.drive.resize(bits, part.count);
  part.drive.noalias() = step.from_inputs * part.inputs;
  if (step.from_targets.size() > 0) part.drive.noalias() += step.from_targets * part.targets;
  part.drive.noalias() -= step.interaction * part.signs;
  part.drive.colwise() += step.offset;
  part.best.resize(static_cast<size_t>(part.count) * part.bytes);
  PackSigns(part.drive.data(), bits, part.count, part.best.data());
  for (Index sample = 0; sample < part.count; ++sample) {
    uint8_t* code = part.rows + static_cast<size_t>(sample) * part.bytes;
    const uint8_t* best = part.best.data() + static_cast<size_t>(sample) * part.bytes;
    const auto [differs, unused] = std::mismatch(code, code + part.bytes, best);
    if (differs == code + part.bytes) continue;
    auto drive = part.drive.col(sample);
    auto signs = part.signs.col(sample);
    for (Index bit = 8 * (differs - code); bit < bits; ++bit) {
      const float sign = drive[bit] >= 0 ? 1.0F : -1.0F;
      if (sign == signs[bit]) continue;
      drive -= 2 * sign * step.interaction.col(bit);
      signs[bit] = sign;
      code[bit / 8] = static_cast<uint8_t>(code[bit / 8] ^ 1U << (bit % 8));
      ++part.flipped;
    }
  }
}

// The objective at the maps of the step and the codes behind `sums`, from sums alone.
TrainingIteration RelaxedAutoencoder::Measure(const Step& step, const Sums& sums) const {
  const auto samples = static_cast<double>(inputs_.size());
  // Σ‖t − W₂b − c₂‖²
  const double reconstruction = target_squares_ - 2 * Inner(step.w2, TargetSums(sums).transpose()) +
                                Inner(step.w2.transpose() * step.w2, sums.codes) +
                                2 * step.c2.dot(step.w2 * sums.bits) +
                                samples * step.c2.squaredNorm();
  // Σ‖b − W₁x − c₁‖², where W₁ Σxxᵀ W₁ᵀ follows from the equation that W₁ solves.
  const double ridge = weights_.encoder_ridge * samples;
  const double outputs = step.encoder_match - ridge * step.w1.squaredNorm();
  const double quantisation = samples * bits_ - 2 * Inner(step.w1, sums.inputs) -
                              2 * step.c1.dot(sums.bits) + outputs +
                              samples * step.c1.squaredNorm();
  TrainingIteration record;
  record.reconstruction = std::max(0.0, reconstruction / samples);
  record.quantisation = std::max(0.0, quantisation / samples);
  record.objective = record.reconstruction +
                     weights_.quantisation *
                         (record.quantisation + weights_.encoder_ridge * step.w1.squaredNorm()) +
                     weights_.decoder_ridge * step.w2.squaredNorm();
  record.flipped = static_cast<double>(sums.flipped) / (samples * bits_);
  return record;
}

}  // namespace bitpool
