#include "bitpool/hash/kernel_codes.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/option_check.h"
#include "bitpool/hash/class_whitening.h"
#include "bitpool/hash/initial_codes.h"
#include "bitpool/hash/kernel_columns.h"
#include "bitpool/hash/relaxed_autoencoder.h"
#include "bitpool/linalg/moments.h"

namespace bitpool {
namespace {

constexpr uint64_t kAnchorStream = 1;

// The first codes are made of labels that are predicted with a ridge this many times that of the
// encoder. A kernel predicts the labels of its own training samples almost without error, which
// hides from ITQ the classes that it will confuse with each other on new samples. The larger ridge
// is worth a point of mAP at 8 bits on held-out images of CIFAR-10, and for classes that were held
// out.
constexpr double kInitialRidge = 30;

// ρ₂. Against the variance of the bits, which is at most 1, this is a strong one: the decoder then
// has no large weights of opposite sign for bits that are nearly alike, and longer codes keep
// gaining (0.6 points at 48 bits on held-out images of CIFAR-10).
constexpr double kDecoderRidge = 0.1;

// The labels, and below them a linear map of the vectors.
class LabelsAndVectors : public ColumnSource {
 public:
  LabelsAndVectors(const ColumnSource& labels, const ColumnSource& vectors, MatrixF map)
      : labels_(labels), vectors_(vectors), map_(std::move(map)) {}
  Index dimension() const override { return labels_.dimension() + map_.rows(); }
  Index size() const override { return labels_.size(); }

 private:
  ColumnsView ReadColumns(Index first, Index count, MatrixF& buffer) const override {
    MatrixF own;
    buffer.resize(dimension(), count);
    buffer.topRows(labels_.dimension()) = labels_.Read(first, count, own);
    buffer.bottomRows(map_.rows()).noalias() = map_ * vectors_.Read(first, count, own);
    return ViewOf(buffer);
  }

  const ColumnSource& labels_;
  const ColumnSource& vectors_;
  MatrixF map_;
};

// What the first codes are made of with ω. The sources must outlive it.
LabelsAndVectors MakeLabelsAndVectors(double weight, const ColumnSource& labels,
                                      const ColumnSource& vectors, const RunContext& context) {
  const Moments moments = ComputeMoments(vectors, context);
  const CrossMoments from_labels = ComputeCrossMoments(labels, vectors, context);
  const MatrixD metric = WhitenByClasses({}, moments, from_labels).forward.weights.cast<double>();
  const double of_labels = from_labels.inputs().Covariance().trace();
  const double of_vectors = (metric * moments.Covariance()).cwiseProduct(metric).sum();
  const double factor = weight * std::sqrt(of_labels / of_vectors);
  return {labels, vectors, (factor * metric).cast<float>()};
}

AnchorKernel DrawScaledKernel(const KernelCodeOptions& options, const ColumnSource& vectors,
                              const RunContext& context) {
  AnchorKernel kernel =
      DrawKernel({.anchors = options.anchors}, vectors, context.MakeRandom(kAnchorStream), context);
  if (options.width == 1) return kernel;
  return {kernel.anchors(), options.width * static_cast<double>(kernel.width())};
}

}  // namespace

void KernelCodeOptions::Validate() const {
  if (anchors < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("anchors: expected 1 or more, or 0 for no kernel, got {}", anchors));
  }
  RequirePositive(width, "width of the kernel");
  RequirePositive(ridge, "ridge of the kernel");
  if (!(vectors >= 0 && std::isfinite(vectors))) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("weight of the vectors beside the labels: expected 0 or more, got {}",
                            vectors));
  }
}

std::shared_ptr<const KernelEncoder> LearnKernelCodes(const KernelCodeOptions& options, int bits,
                                                      const RbaConstants& constants,
                                                      const ColumnSource& vectors,
                                                      const ColumnSource& labels,
                                                      const RunContext& context,
                                                      TrainingSummary& summary) {
  const RunContext always = context.WithoutStop().WithoutProgress();
  AnchorKernel kernel = DrawScaledKernel(options, vectors, always);
  const std::unique_ptr<const ColumnSource> features =
      MakeKernelColumns(kernel, vectors, options.memory, always);
  Shard shard(*features);
  const RelaxedAutoencoder::Names names{.targets = "labels"};
  shard.Give(names.targets, labels);
  LocalShards shards({&shard});
  const Moments moments = ComputeMoments(*features, always);
  const double ridge = options.ridge * moments.Covariance().trace();
  RelaxedAutoencoder::Names first = names;
  std::optional<LabelsAndVectors> both;
  if (options.vectors > 0) {
    both.emplace(MakeLabelsAndVectors(options.vectors, labels, vectors, always));
    first.targets = "labels and vectors";
    shard.Give(first.targets, *both);
  }
  NoteCodesOfLabels(shards, first, moments, kInitialRidge * ridge, bits, always);
  RelaxedAutoencoder autoencoder(
      {.quantisation = constants.lambda, .encoder_ridge = ridge, .decoder_ridge = kDecoderRidge},
      shards, names, moments, bits, nullptr, always);
  const int iterations = options.vectors > 0 ? 0 : constants.iterations;
  Progress progress =
      context.StartProgress("kernel codes", "iterations", static_cast<uint64_t>(iterations));
  try {
    for (int i = 0; i < iterations; ++i) {
      const double flipped = autoencoder.Iterate(context.WithoutProgress()).flipped;
      progress.Advance();
      if (flipped <= constants.min_flipped) break;
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCancelled) throw;
    summary.interrupted = true;
  }
  return std::make_shared<KernelEncoder>(std::move(kernel), autoencoder.Encoder());
}

}  // namespace bitpool
