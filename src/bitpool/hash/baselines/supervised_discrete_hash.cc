#include "bitpool/hash/baselines/supervised_discrete_hash.h"

#include <Eigen/Cholesky>
#include <memory>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/kernel_columns.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/linalg/moments.h"
#include "bitpool/linalg/ridge.h"

namespace bitpool {
namespace {

constexpr size_t kSdhColumns = 1024;
constexpr uint64_t kSdhAnchors = 1, kCodeStream = 2;

Moments MomentsOf(const ColumnSource& features, const RunContext& context) {
  Moments moments = ComputeMoments(features, context);
  RequireTrainable(moments);
  return moments;
}

// Sums of the codes: the G-step needs no more.
struct LabelSums {
  MatrixD products;  // BBᵀ
  MatrixD labels;    // BYᵀ, bits × classes
};

// What a pass over the samples finds beside the codes.
struct CodeQuality {
  double objective = 0;
  double quantisation = 0;
  uint64_t flipped = 0;
};

// The three steps, which take turns. B is kept, all else follows from it.
class DiscreteHashing {
 public:
  DiscreteHashing(const SupervisedDiscreteHashOptions& options, const ColumnSource& features,
                  const LabelTargets& targets, const RunContext& context)
      : options_(options),
        features_(features),
        targets_(targets),
        context_(context),
        encoder_solver_(MomentsOf(features, context), options.encoder_ridge),
        codes_(RandomSigns(options.bits, features.size(), context.MakeRandom(kCodeStream))) {
    UpdateMaps();
  }

  TrainingIteration Iterate() {
    const Stopwatch watch;
    const CodeQuality quality = UpdateCodes();
    UpdateMaps();
    const auto samples = static_cast<double>(codes_.cols());
    TrainingIteration iteration;
    iteration.objective = quality.objective / samples;
    iteration.quantisation = quality.quantisation / samples;
    iteration.flipped = static_cast<double>(quality.flipped) / static_cast<double>(codes_.size());
    iteration.seconds = watch.seconds();
    return iteration;
  }

  const LinearMap& encoder() const { return encoder_; }

 private:
  // The G-step, W = (BBᵀ + λI)⁻¹ BYᵀ, and the F-step.
  void UpdateMaps() {
    LabelSums sums = SumCodes();
    sums.products.diagonal().array() += options_.label_ridge;
    weights_ = sums.products.ldlt().solve(sums.labels).cast<float>();
    encoder_ = encoder_solver_.Solve(
        ComputeCrossScatter(features_, MatrixColumns(codes_), context_.WithoutProgress()));
  }

  LabelSums SumCodes() const {
    LabelSums sums{.products = MatrixD::Zero(codes_.rows(), codes_.rows()),
                   .labels = MatrixD::Zero(codes_.rows(), targets_.dimension())};
    context_.pool().OrderedReduce(
        static_cast<size_t>(codes_.cols()), kSdhColumns, MatrixF(),
        [&](MatrixF& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          const auto block =
              codes_.middleCols(static_cast<Index>(begin), static_cast<Index>(end - begin));
          part.noalias() = block * block.transpose();
        },
        [&](const MatrixF& part) { sums.products += part.cast<double>(); });
    for (Index i = 0; i < codes_.cols(); ++i) {
      for (const int32_t label : targets_.labels().of(i)) {
        sums.labels.col(label) += codes_.col(i).cast<double>();
      }
    }
    return sums;
  }

  // The B-step.
  CodeQuality UpdateCodes() {
    const DiscreteCodeSolver solver(weights_, options_.sweeps);
    CodeQuality all;
    all.objective = options_.label_ridge * weights_.cast<double>().squaredNorm();
    context_.pool().OrderedReduce(
        static_cast<size_t>(codes_.cols()), kSdhColumns, CodeQuality{},
        [&](CodeQuality& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          part = UpdateChunk(solver, static_cast<Index>(begin), static_cast<Index>(end - begin));
        },
        [&](const CodeQuality& part) {
          all.objective += part.objective;
          all.quantisation += part.quantisation;
          all.flipped += part.flipped;
        });
    return all;
  }

  CodeQuality UpdateChunk(const DiscreteCodeSolver& solver, Index first, Index count) {
    MatrixF buffer;
    MatrixF encoded = encoder_.weights * features_.Read(first, count, buffer);
    encoded.colwise() += encoder_.bias;
    CodeQuality quality;
    VectorF wanted, q, rest, code(codes_.rows());
    for (Index i = 0; i < count; ++i) {
      const auto labels = targets_.labels().of(first + i);
      wanted.setZero(codes_.rows());  // Wy
      for (const int32_t label : labels) wanted += weights_.col(label);
      q = wanted + static_cast<float>(options_.encoder_weight) * encoded.col(i);
      rest = q;
      solver.Solve(rest, code);
      auto old = codes_.col(first + i);
      quality.flipped += static_cast<uint64_t>((code.array() != old.array()).count());
      old = code;
      // ‖y − Wᵀb‖² = ‖y‖² − 2bᵀWy + bᵀWWᵀb, of which bᵀ(q − rest) is all but the trace.
      const double distance = (code - encoded.col(i)).cast<double>().squaredNorm();
      quality.quantisation += distance;
      quality.objective += static_cast<double>(labels.size()) + solver.trace() +
                           code.dot(q - rest - 2.0F * wanted) + options_.encoder_weight * distance;
    }
    return quality;
  }

  const SupervisedDiscreteHashOptions& options_;
  const ColumnSource& features_;  // φ(X)
  const LabelTargets& targets_;   // Y
  const RunContext& context_;
  RidgeSolver encoder_solver_;
  MatrixF codes_;      // B
  MatrixF weights_;    // W, bits × classes
  LinearMap encoder_;  // P
};

LinearMap LearnMap(const SupervisedDiscreteHashOptions& options, const AnchorKernel& kernel,
                   const ColumnSource& vectors, const LabelTargets& targets,
                   const RunContext& context, TrainingSummary& summary) {
  const std::unique_ptr<const ColumnSource> features =
      MakeKernelColumns(kernel, vectors, options.memory, context);
  DiscreteHashing hashing(options, *features, targets, context);
  Progress progress =
      context.StartProgress("SDH", "iterations", static_cast<uint64_t>(options.iterations));
  for (int i = 0; i < options.iterations && !summary.converged; ++i) {
    summary.iterations.push_back(hashing.Iterate());
    summary.converged = summary.iterations.back().flipped == 0;
    progress.Advance();
  }
  return hashing.encoder();
}

}  // namespace

void SupervisedDiscreteHashOptions::Validate() const {
  RequireBits(bits);
  kernel.Validate();
  RequireAtLeast(1, iterations, "iterations");
  RequireAtLeast(1, sweeps, "sweeps");
  RequirePositive(label_ridge, "label_ridge");
  RequirePositive(encoder_ridge, "encoder_ridge");
  RequirePositive(encoder_weight, "encoder_weight");
}

DiscreteCodeSolver::DiscreteCodeSolver(const MatrixF& weights, int sweeps)
    : products_(weights * weights.transpose()),
      trace_(products_.diagonal().cast<double>().sum()),
      sweeps_(sweeps) {
  products_.diagonal().setZero();
}

void DiscreteCodeSolver::Solve(Eigen::Ref<VectorF> q, Eigen::Ref<VectorF> b) const {
  b.setZero();
  bool changed = true;
  for (int sweep = 0; sweep < sweeps_ && changed; ++sweep) {
    changed = false;
    for (Index k = 0; k < b.size(); ++k) {
      const float best = q[k] < 0 ? -1.0F : 1.0F;
      if (best == b[k]) continue;
      q -= (best - b[k]) * products_.col(k);
      b[k] = best;
      changed = true;
    }
  }
}

MatrixF RandomSigns(Index bits, Index count, Random random) {
  MatrixF signs(bits, count);
  uint64_t word = 0;
  for (Index i = 0; i < signs.size(); ++i) {
    if (i % 64 == 0) word = random.Next();
    signs.data()[i] = (word >> (i % 64) & 1U) != 0 ? 1.0F : -1.0F;
  }
  return signs;
}

Trained<HashModel> TrainSupervisedDiscreteHash(const SupervisedDiscreteHashOptions& options,
                                               const ColumnSource& vectors, const Labels& labels,
                                               const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const LabelTargets targets(labels, vectors.size());
  AnchorKernel kernel =
      DrawKernel(options.kernel, vectors, context.MakeRandom(kSdhAnchors), context);
  TrainingSummary summary{.samples = vectors.size()};
  LinearMap map = LearnMap(options, kernel, vectors, targets, context, summary);
  auto encoder = std::make_shared<KernelEncoder>(std::move(kernel), std::move(map));
  LinearMap decoder = FitDecoder(*encoder, vectors, context);
  summary.seconds = watch.seconds();
  return {.model = {.method = "sdh", .encoder = std::move(encoder), .decoder = std::move(decoder)},
          .summary = std::move(summary)};
}

}  // namespace bitpool
