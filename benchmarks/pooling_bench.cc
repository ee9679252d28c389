#include "pooling_bench.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/image/decode.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/pool/simple_pooling.h"
#include "timings.h"

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void spotrf_(const char* uplo, const int* n, float* a, const int* lda, int* info, size_t);
void spotrs_(const char* uplo, const int* n, const int* nrhs, const float* a, const int* lda,
             float* b, const int* ldb, int* info, size_t);
}
// NOLINTEND(readability-identifier-naming)

namespace bitpool::bench {
namespace {

// How many images SAH learns from: enough, and at most.
constexpr Index kEnoughForTraining = 300;
constexpr Index kMostForTraining = 1000;

// Descriptors like those of a convolutional layer after a rectifier: unit columns of
//   max(0, m + mᵢ + Σₖ k^-0.8 zₖ fₖ / c + 0.3 ε)
// with normal m (deviation 0.6, the same for all images), mᵢ (0.3, the image's own), fₖ (64
// factors, the same for all), zₖ and uniform ε of each column; c makes the factors' total variance
// 1. Half of the values are zero, VVᵀ has about half of its trace along the mean, and conjugate
// gradients take about as many iterations as on the last layer of SqueezeNet. Images are made when
// they are read: the training set need not fit in memory.
class GeneratedFeatures : public FeatureSet {
 public:
  GeneratedFeatures(Index images, Index descriptors, Random random)
      : images_(images),
        descriptors_(descriptors),
        random_(random),
        mean_(0.6F * random.NormalMatrix(kDimension, 1)),
        factors_(random.NormalMatrix(kDimension, kFactors)) {
    VectorF weights(kFactors);
    for (Index k = 0; k < kFactors; ++k) weights[k] = std::pow(static_cast<float>(k + 1), -0.8F);
    factors_ *= weights.normalized().asDiagonal();
  }

  Index size() const override { return images_; }
  Index dimension() const override { return kDimension; }
  std::string name(Index image) const override { return fmt::format("generated {}", image); }
  Index descriptor_count(Index /*image*/) const override { return descriptors_; }

  void Read(Index image, MatrixF& descriptors) const override {
    Random random = random_.Fork(static_cast<uint64_t>(image));
    descriptors.noalias() = factors_ * random.NormalMatrix(kFactors, descriptors_);
    for (Index i = 0; i < descriptors.size(); ++i) {
      descriptors.data()[i] += static_cast<float>(0.3 * std::sqrt(12.0) * (random.Uniform() - 0.5));
    }
    const VectorF own = mean_ + 0.3F * random.NormalMatrix(kDimension, 1);
    descriptors.colwise() += own;
    descriptors = descriptors.cwiseMax(0.0F);
    NormaliseColumns(descriptors);
  }

 private:
  static constexpr Index kDimension = 512;
  static constexpr Index kFactors = 64;

  Index images_;
  Index descriptors_;
  Random random_;
  VectorF mean_;
  MatrixF factors_;
};

// At most `count` images of another set, which must stay, from `first` on.
class ImageRange : public FeatureSet {
 public:
  ImageRange(const FeatureSet& all, Index first, Index count)
      : all_(all), first_(first), count_(std::min(count, all.size() - first)) {}

  Index size() const override { return count_; }
  Index dimension() const override { return all_.dimension(); }
  std::string name(Index image) const override { return all_.name(first_ + image); }
  Index descriptor_count(Index image) const override {
    return all_.descriptor_count(first_ + image);
  }
  void Read(Index image, MatrixF& descriptors) const override {
    all_.Read(first_ + image, descriptors);
  }

 private:
  const FeatureSet& all_;
  Index first_;
  Index count_;
};

// The features of as many pictures of a folder as are measured and learned from.
std::unique_ptr<FeatureSet> ExtractFeatures(const PoolingBenchOptions& options,
                                            const RunContext& context) {
  Env& env = Env::Posix();
  const NamedNetwork network = FindNetwork(options.network, DefaultDataFolder());
  CnnOptions cnn = network.scenes.options;
  if (!options.layer.empty()) cnn.layer = options.layer;
  cnn.size = options.size;
  const auto extractor = OpenCnn(env, network.files, cnn);
  const std::filesystem::path folder = options.pictures;
  std::vector<std::string> names = env.List(folder);
  names.resize(std::min(names.size(), static_cast<size_t>(options.images + kEnoughForTraining)));
  std::vector<MatrixF> features(names.size());
  Progress progress = context.StartProgress("extracting", "pictures", names.size());
  context.ParallelFor(names.size(), 1, [&](size_t i, size_t /*end*/) {
    const auto file = env.Map(folder / names[i]);
    try {
      features[i] = extractor->Extract(DecodePicture(file->bytes(), {}));
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{}: {}", names[i], error.what()));
    }
    progress.Advance();
  });
  auto set = std::make_unique<MemoryFeatureSet>(extractor->dimension());
  for (size_t i = 0; i < names.size(); ++i) set->Add(names[i], std::move(features[i]));
  return set;
}

// What was measured, in words.
std::string DescribeData(const PoolingBenchOptions& options) {
  if (!options.features.empty()) return std::filesystem::path(options.features).filename().string();
  if (options.network.empty()) return "generated";
  return fmt::format("{} of pictures in {}", options.layer,
                     std::filesystem::path(options.pictures).filename().string());
}

std::unique_ptr<FeatureSet> OpenFeatures(const PoolingBenchOptions& options,
                                         const RunContext& context) {
  if (!options.features.empty()) {
    return std::make_unique<FeatureFile>(FeatureFile::Open(Env::Posix(), options.features));
  }
  if (!options.network.empty()) return ExtractFeatures(options, context);
  return std::make_unique<GeneratedFeatures>(kEnoughForTraining + options.images,
                                             options.descriptors, context.MakeRandom());
}

// The first `count` images that have descriptors, with columns of unit length.
std::vector<MatrixF> ReadImages(const FeatureSet& features, size_t count) {
  std::vector<MatrixF> images;
  for (Index i = 0; i < features.size() && images.size() < count; ++i) {
    if (features.descriptor_count(i) == 0) continue;
    features.Read(i, images.emplace_back());
    NormaliseColumns(images.back());
  }
  if (!images.empty()) return images;
  throw Error(ErrorCode::kInvalidArgument, "no image with descriptors; expected one or more");
}

// Whether the images after those that are measured are enough to learn from. Bits of images SAH has
// learned from are surer than those of others, and say less about the solver.
bool CanHoldOut(const PoolingBenchOptions& options, const FeatureSet& features) {
  return features.size() - options.images >= kEnoughForTraining;
}

// SAH with its first hash functions, learned from vectors of generalised max pooling.
HashModel TrainModel(const PoolingBenchOptions& options, const FeatureSet& features,
                     const RunContext& context) {
  SahOptions sah;
  sah.bits = options.bits;
  sah.iterations = 1;
  sah.gamma = options.gamma;
  sah.mu = options.mu;
  const Index first = CanHoldOut(options, features) ? options.images : 0;
  return TrainSah(sah, ImageRange(features, first, kMostForTraining), context).model;
}

// V1 with one product, to which γ and b may be added: what reading V once costs.
void SumByBlas(const MatrixF& v, const VectorF& ones, float gamma, float keep, VectorF& sum) {
  const auto rows = static_cast<int>(v.rows());
  cblas_sgemv(CblasColMajor, CblasNoTrans, rows, static_cast<int>(v.cols()), gamma, v.data(), rows,
              ones.data(), 1, keep, sum.data(), 1);
}

// The usual way to solve (A + γVVᵀ + γμI) φ = γV1 + b, in single precision: all of the matrix, then
// Cholesky. What is the same for all images is made once.
class DirectSolver {
 public:
  DirectSolver(const PoolingSystem& system, Index most_descriptors)
      : gamma_(static_cast<float>(system.options().gamma)),
        term_(system.coupling().RightHandSide()),
        ones_(VectorF::Ones(most_descriptors)) {
    MatrixD base = system.coupling().DenseMatrix();
    base.diagonal().array() += system.options().gamma * system.options().mu;
    base_ = base.cast<float>();
  }

  const VectorF& Solve(const MatrixF& v) {
    const auto size = static_cast<int>(v.rows());
    const int one = 1;
    int info = 0;
    matrix_ = base_;
    cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, size, static_cast<int>(v.cols()), gamma_,
                v.data(), size, 1.0F, matrix_.data(), size);
    solution_ = term_;
    SumByBlas(v, ones_, gamma_, 1, solution_);
    spotrf_("L", &size, matrix_.data(), &size, &info, 1);
    if (info != 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  "the direct solver failed: expected a mu that single precision can see");
    }
    spotrs_("L", &size, &one, matrix_.data(), &size, solution_.data(), &size, &info, 1);
    return solution_;
  }

 private:
  float gamma_;
  MatrixF base_;
  VectorF term_;
  VectorF ones_;
  MatrixF matrix_;
  VectorF solution_;
};

PoolingSystem WithDirectSolver(const PoolingSystem& system) {
  PoolingOptions options = system.options();
  options.solver = PoolingSolver::kDirect;
  return {system.coupling(), options};
}

// The ways to pool, each over all images in turn.
class PoolingBench {
 public:
  PoolingBench(const PoolingBenchOptions& options, std::vector<MatrixF> images, HashModel model)
      : rounds_(options.rounds),
        images_(std::move(images)),
        model_(std::move(model)),
        plain_(Coupling::None(model_.dimension()), {.mu = options.mu}),
        coupled_(PoolingOf(model_)) {
    for (const MatrixF& v : images_) most_ = std::max(most_, v.cols());
  }

  void Measure(const RunContext& context, nlohmann::json& result) const {
    DirectSolver direct(plain_, most_);
    DirectSolver coupled_direct(coupled_, most_);
    const VectorF ones = VectorF::Ones(most_);
    VectorF sum(model_.dimension());
    Timings watch;
    const auto add = [&](const char* name, const auto& pool) {
      watch.Add(name, [&images = images_, pool] {
        for (const MatrixF& v : images) pool(v);
      });
    };
    add("one_pass_ms", [&](const MatrixF& v) { SumByBlas(v, ones, 1, 0, sum); });
    add("direct_ms", [&](const MatrixF& v) { direct.Solve(v); });
    add("ours_ms", [&](const MatrixF& v) { plain_.Solve(v); });
    add("coupled_direct_ms", [&](const MatrixF& v) { coupled_direct.Solve(v); });
    add("coupled_ours_ms", [&](const MatrixF& v) { coupled_.Solve(v); });
    watch.Run(rounds_, context);
    for (const char* name :
         {"one_pass_ms", "direct_ms", "ours_ms", "coupled_direct_ms", "coupled_ours_ms"}) {
      result[name] = 1000 * watch.best(name) / count();
    }
    result["iterations"] = MeanIterations(plain_);
    result["coupled_iterations"] = MeanIterations(coupled_);
  }

  // The share of bits that are the same with our φ and with that of the exact solver.
  double BitsEqual(const RunContext& context) const {
    const PoolingSystem exact = WithDirectSolver(coupled_);
    Progress progress = context.StartProgress("comparing", "images", images_.size());
    int different = 0;
    for (const MatrixF& v : images_) {
      context.ThrowIfStopped();
      const BinaryCodes ours = model_.encoder->Encode(coupled_.Pool(v));
      const BinaryCodes expected = model_.encoder->Encode(exact.Pool(v));
      different += HammingDistance(ours.rows(), expected.rows());
      progress.Advance();
    }
    return 1 - different / (count() * model_.bits());
  }

  size_t images() const { return images_.size(); }

  double MeanDescriptors() const {
    Index total = 0;
    for (const MatrixF& v : images_) total += v.cols();
    return static_cast<double>(total) / count();
  }

 private:
  double count() const { return static_cast<double>(images_.size()); }

  double MeanIterations(const PoolingSystem& system) const {
    int total = 0;
    for (const MatrixF& v : images_) total += system.Solve(v).iterations;
    return total / count();
  }

  int rounds_;
  std::vector<MatrixF> images_;
  HashModel model_;
  PoolingSystem plain_;
  PoolingSystem coupled_;
  Index most_ = 0;  // descriptors of an image
};

}  // namespace

void PoolingBenchOptions::Validate() const {
  RequireBits(bits);
  if (descriptors < 1 || images < 1 || rounds < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} descriptors, {} images and {} rounds: expected 1 or more of each",
                            descriptors, images, rounds));
  }
  if (network.empty() != pictures.empty() || (!network.empty() && !features.empty())) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected a network together with a folder of pictures, or a feature set");
  }
  PoolingOptions pooling;
  pooling.mu = mu;
  pooling.gamma = gamma;
  pooling.Validate();
}

nlohmann::json RunPoolingBench(const PoolingBenchOptions& options, const RunContext& context) {
  options.Validate();
  const std::unique_ptr<FeatureSet> features = OpenFeatures(options, context);
  const PoolingBench bench(options, ReadImages(*features, static_cast<size_t>(options.images)),
                           TrainModel(options, *features, context));
  nlohmann::json result = {{"data", DescribeData(options)},
                           {"threads", 1},
                           {"descriptors", bench.MeanDescriptors()},
                           {"dimension", features->dimension()},
                           {"mu", options.mu},
                           {"gamma", options.gamma},
                           {"bits", options.bits},
                           {"images", bench.images()},
                           {"rounds", options.rounds},
                           {"held_out", CanHoldOut(options, *features)}};
  bench.Measure(context, result);
  result["bits_equal"] = bench.BitsEqual(context);
  return result;
}

}  // namespace bitpool::bench
