#include "bitpool/hash/baselines/binary_autoencoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/bit_svms.h"
#include "bitpool/hash/baselines/code_step.h"
#include "bitpool/hash/baselines/neighbour_precision.h"
#include "bitpool/linalg/pca.h"

namespace bitpool {
namespace {

constexpr size_t kAutoencoderColumns = 1024;
constexpr uint64_t kValidationStream = 1;
constexpr uint64_t kSvmStream = 2;

void Require(bool good, const std::string& message) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, message);
}

Index CountOfSvmSamples(const BinaryAutoencoderOptions& options, Index count) {
  return options.svm_samples == 0 ? count : std::min(options.svm_samples, count);
}

void RequireMemory(const BinaryAutoencoderOptions& options, const ColumnSource& source) {
  const auto dimension = static_cast<double>(source.dimension());
  const auto count = static_cast<double>(source.size());
  const auto svm_count = static_cast<double>(CountOfSvmSamples(options, source.size()));
  // The samples and about nine sets of codes, then what the SVMs copy.
  double bytes = count * 4 * (dimension + 9 * static_cast<double>(options.bits));
  if (svm_count < count) bytes += svm_count * 4 * dimension;
  if (bytes <= static_cast<double>(options.max_bytes) &&
      svm_count <= std::numeric_limits<int>::max()) {
    return;
  }
  throw Error(
      ErrorCode::kResources,
      fmt::format("a binary autoencoder of {} samples of {} dimensions takes {:.1f} GB, "
                  "allowed are {:.1f} GB; train on a random sample of them, set svm_samples "
                  "or raise max_bytes",
                  source.size(), source.dimension(), bytes / 1e9,
                  static_cast<double>(options.max_bytes) / 1e9));
}

// The samples as the method sees them, y = basisᵀ(x − mean) / scale. Rotating them into their
// principal axes changes none of its distances and norms, and makes the SVMs faster (bit_svms.h).
struct Samples {
  MatrixF values;
  VectorF mean;
  MatrixF basis;
  double scale = 1;  // the range of the widest dimension of x
};

struct Extent {
  VectorF low, high;
};

Samples LoadSamples(const ColumnSource& source, const RunContext& context) {
  const Moments moments = ComputeMoments(source, context);
  RequireTrainable(moments);
  const Pca pca = ComputePca(moments, source.dimension());
  Samples samples{
      .values = MatrixF(source.dimension(), source.size()), .mean = pca.mean, .basis = pca.basis};
  Extent extent;
  context.pool().OrderedReduce(
      static_cast<size_t>(source.size()), kAutoencoderColumns, Extent(),
      [&](Extent& part, size_t begin, size_t end) {
        context.ThrowIfStopped();
        const auto first = static_cast<Index>(begin);
        const auto count = static_cast<Index>(end - begin);
        MatrixF buffer;
        const ColumnsView block = source.Read(first, count, buffer);
        part = {.low = block.rowwise().minCoeff(), .high = block.rowwise().maxCoeff()};
        samples.values.middleCols(first, count) = pca.Project(block);
      },
      [&](const Extent& part) {
        extent.low = extent.low.size() == 0 ? part.low : extent.low.cwiseMin(part.low).eval();
        extent.high = extent.high.size() == 0 ? part.high : extent.high.cwiseMax(part.high).eval();
      });
  samples.scale = static_cast<double>((extent.high - extent.low).maxCoeff());
  samples.values *= static_cast<float>(1 / samples.scale);
  return samples;
}

// Encoder and decoder, in the coordinates of Samples.
struct Autoencoder {
  MatrixD svms;    // (dimension + 1) × bits, the biases last
  MatrixF hashes;  // the encoder's codes of the samples, −1 and +1
  LinearMap decoder;
};

// Sums over samples.
struct CodeSums {
  double squared_error = 0;
  Index differing = 0;                           // bits that are not the encoder's
  Eigen::Vector<Index, Eigen::Dynamic> flipped;  // changes of each bit
};

class Trainer {
 public:
  Trainer(const BinaryAutoencoderOptions& options, const Samples& samples,
          const BinaryCodes& initial_codes, const RunContext& context)
      : options_(options),
        samples_(samples),
        context_(context),
        codes_(SignsOf(initial_codes, 0, initial_codes.size())),
        changed_(static_cast<size_t>(options.bits)) {
    std::iota(changed_.begin(), changed_.end(), 0);
    accepted_.svms.setZero(samples.values.rows() + 1, options.bits);
    PrepareSvms();
  }

  // Returns the SVMs of the encoder.
  MatrixD Run(TrainingSummary& summary) {
    Progress progress = context_.StartProgress("training the binary autoencoder", "iterations",
                                               options_.penalties.size());
    try {
      PrepareValidation();
      for (size_t next = 0; next < options_.penalties.size() && !summary.converged;) {
        const size_t first = next;
        const std::optional<TrainingIteration> iteration = Iterate(next, summary.converged);
        if (iteration) summary.iterations.push_back(*iteration);
        progress.Advance(next - first);
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kCancelled || summary.iterations.empty()) throw;
      summary.interrupted = true;
    }
    return complete_svms_;
  }

 private:
  void PrepareSvms() {
    const Index count = CountOfSvmSamples(options_, samples_.values.cols());
    if (count < samples_.values.cols()) {
      svm_columns_ = RandomColumns(count, kSvmStream);
      svm_samples_ = samples_.values(Eigen::all, svm_columns_);
    }
    const MatrixF& samples = svm_columns_.empty() ? samples_.values : svm_samples_;
    const BitSvmOptions options{.cost = options_.svm_cost, .tolerance = options_.svm_tolerance};
    svms_ = MakeBatchedSvms(options, samples, context_);
  }

  // Ascending, the order in which memory is best read.
  std::vector<Index> RandomColumns(Index count, uint64_t stream) const {
    const auto numbers = context_.MakeRandom(stream).Sample(
        static_cast<uint64_t>(samples_.values.cols()), static_cast<uint64_t>(count));
    std::vector<Index> columns(numbers.begin(), numbers.end());
    std::ranges::sort(columns);
    return columns;
  }

  void PrepareValidation() {
    if (options_.validation_queries == 0) return;
    const Index count = samples_.values.cols();
    const auto neighbours =
        static_cast<Index>(options_.validation_share * static_cast<double>(count));
    validation_.emplace(
        samples_.values,
        RandomColumns(std::min(options_.validation_queries, count), kValidationStream),
        std::clamp<Index>(neighbours, 1, count), context_);
  }

  // One iteration with penalty number `next`, which is advanced. Returns nothing when the new
  // encoder was refused and no larger penalty is left.
  std::optional<TrainingIteration> Iterate(size_t& next, bool& converged) {
    const Stopwatch watch;
    if (!FitBoth()) {
      const auto larger = std::ranges::upper_bound(options_.penalties, options_.penalties[next]);
      next = static_cast<size_t>(larger - options_.penalties.begin());
      if (next == options_.penalties.size()) return std::nullopt;
    }
    const double penalty = options_.penalties[next++];
    const CodeSums sums = ImproveCodes(penalty);
    complete_svms_ = accepted_.svms;
    converged = sums.differing == 0;

    const auto count = static_cast<double>(codes_.cols());
    const double unit = samples_.scale * samples_.scale;
    const auto differing = static_cast<double>(sums.differing) / count;
    const auto flipped = std::accumulate(sums.flipped.begin(), sums.flipped.end(), Index{0});
    TrainingIteration iteration;
    iteration.reconstruction = unit * sums.squared_error / count;
    iteration.objective = iteration.reconstruction + unit * penalty * differing;
    iteration.quantisation = 4 * differing;
    iteration.flipped = static_cast<double>(flipped) / static_cast<double>(codes_.size());
    iteration.seconds = watch.seconds();
    return iteration;
  }

  // Fits decoder and encoder to the codes. False when the validation refuses the encoder; then the
  // last accepted autoencoder stands, with the codes it was fitted to.
  bool FitBoth() {
    Autoencoder fitted;
    fitted.decoder = SolveRidge(
        ComputeCrossMoments(MatrixColumns(codes_), MatrixColumns(samples_.values), context_), 0);
    fitted.svms = accepted_.svms;
    svms_->Train(SvmTargets(), changed_, fitted.svms, context_);
    fitted.hashes = Hash(fitted.svms);
    if (validation_) {
      const double precision = validation_->Of(BinaryCodes::FromSigns(fitted.hashes), context_);
      if (precision < precision_) {
        codes_ = fitted_codes_;
        return false;
      }
      precision_ = precision;
    }
    accepted_ = std::move(fitted);
    fitted_codes_ = codes_;
    return true;
  }

  MatrixF SvmTargets() const {
    if (svm_columns_.empty()) return codes_.transpose();
    return codes_(Eigen::all, svm_columns_).transpose();
  }

  MatrixF Hash(const MatrixD& svms) const {
    const MatrixF weights = svms.topRows(svms.rows() - 1).transpose().cast<float>();
    const VectorF bias = svms.bottomRows(1).transpose().cast<float>();
    MatrixF hashes(codes_.rows(), codes_.cols());
    context_.ParallelFor(
        static_cast<size_t>(hashes.cols()), kAutoencoderColumns, [&](size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin);
          const auto count = static_cast<Index>(end - begin);
          MatrixF block = weights * samples_.values.middleCols(first, count);
          block.colwise() += bias;
          hashes.middleCols(first, count) =
              block.unaryExpr([](float value) { return value >= 0 ? 1.0F : -1.0F; });
        });
    return hashes;
  }

  CodeSums ImproveCodes(double penalty) {
    const CodeStep step(accepted_.decoder, penalty, options_.enumerate_bits);
    MatrixF improved = codes_;
    CodeSums total;
    total.flipped.setZero(codes_.rows());
    context_.pool().OrderedReduce(
        static_cast<size_t>(codes_.cols()), kAutoencoderColumns, CodeSums(),
        [&](CodeSums& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          part = ImproveChunk(step, static_cast<Index>(begin), static_cast<Index>(end - begin),
                              improved);
        },
        [&](const CodeSums& part) {
          total.squared_error += part.squared_error;
          total.differing += part.differing;
          total.flipped += part.flipped;
        });
    codes_ = std::move(improved);
    changed_.clear();
    for (Index bit = 0; bit < total.flipped.size(); ++bit) {
      if (total.flipped[bit] > 0) changed_.push_back(bit);
    }
    return total;
  }

  CodeSums ImproveChunk(const CodeStep& step, Index first, Index count, MatrixF& improved) const {
    const auto samples = samples_.values.middleCols(first, count);
    const auto hashes = accepted_.hashes.middleCols(first, count);
    auto codes = improved.middleCols(first, count);
    step.Improve(samples, hashes, codes);
    MatrixF rest = samples.colwise() - accepted_.decoder.bias;
    rest.noalias() -= accepted_.decoder.weights * codes;
    const auto flips = (codes.array() != codes_.middleCols(first, count).array());
    return {.squared_error = rest.cast<double>().squaredNorm(),
            .differing = (codes.array() != hashes.array()).count(),
            .flipped = flips.cast<Index>().rowwise().sum()};
  }

  const BinaryAutoencoderOptions& options_;
  const Samples& samples_;
  const RunContext& context_;
  std::vector<Index> svm_columns_;  // none: all samples
  MatrixF svm_samples_;             // unless all
  std::unique_ptr<BitSvms> svms_;
  std::optional<NeighbourPrecision> validation_;

  MatrixF codes_;               // z of the samples, −1 and +1
  std::vector<Index> changed_;  // the bits in which they differ from the fitted codes
  Autoencoder accepted_;        // the last that was not refused
  MatrixF fitted_codes_;        // what it was fitted to
  double precision_ = 0;        // of its encoder
  MatrixD complete_svms_;       // of the last complete iteration
};

// Back to the coordinates of the data.
LinearMap EncoderOf(const MatrixD& svms, const Samples& samples) {
  const Index dimension = samples.basis.rows();
  LinearMap map;
  map.weights = (svms.topRows(dimension).transpose() * samples.basis.cast<double>().transpose() /
                 samples.scale)
                    .cast<float>();
  // From the rounded weights, so that their rounding is not multiplied by a large mean.
  map.bias =
      (svms.row(dimension).transpose() - map.weights.cast<double>() * samples.mean.cast<double>())
          .cast<float>();
  return map;
}

}  // namespace

void BinaryAutoencoderOptions::Validate() const {
  RequireBits(bits);
  Require(!penalties.empty() && penalties.front() >= 0 && std::ranges::is_sorted(penalties) &&
              std::isfinite(penalties.back()) &&
              std::ranges::none_of(penalties, [](double value) { return std::isnan(value); }),
          "penalties: expected at least one, none negative, in ascending order");
  Require(svm_cost > 0 && std::isfinite(svm_cost),
          fmt::format("svm_cost: expected a positive number, got {}", svm_cost));
  Require(svm_tolerance > 0 && std::isfinite(svm_tolerance),
          fmt::format("svm_tolerance: expected a positive number, got {}", svm_tolerance));
  Require(svm_samples == 0 || svm_samples >= 2,
          fmt::format("svm_samples: expected 0 (all) or at least 2, got {}", svm_samples));
  Require(enumerate_bits >= 0 && enumerate_bits <= CodeStep::kMaxEnumerateBits,
          fmt::format("enumerate_bits: expected 0 to {}, got {}", CodeStep::kMaxEnumerateBits,
                      enumerate_bits));
  Require(validation_queries >= 0,
          fmt::format("validation_queries: expected 0 or more, got {}", validation_queries));
  Require(validation_share > 0 && validation_share <= 1,
          fmt::format("validation_share: expected more than 0 and at most 1, got {}",
                      validation_share));
}

Trained<HashModel> TrainBinaryAutoencoder(const BinaryAutoencoderOptions& options,
                                          const ColumnSource& source,
                                          const BinaryCodes& initial_codes,
                                          const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  Require(initial_codes.bits() == options.bits,
          fmt::format("initial codes of {} bits: expected {}", initial_codes.bits(), options.bits));
  Require(initial_codes.size() == source.size(),
          fmt::format("{} initial codes for {} training samples: expected one for each",
                      initial_codes.size(), source.size()));
  RequireMemory(options, source);
  const Samples samples = LoadSamples(source, context);

  Trained<HashModel> trained;
  trained.summary.samples = source.size();
  const MatrixD svms = Trainer(options, samples, initial_codes, context).Run(trained.summary);
  HashModel& model = trained.model;
  model.method = "ba";
  model.encoder = std::make_shared<LinearEncoder>(EncoderOf(svms, samples));
  // Also for a training that was interrupted.
  model.decoder = FitDecoder(*model.encoder, source, context.WithoutStop());
  trained.summary.seconds = watch.seconds();
  return trained;
}

}  // namespace bitpool
