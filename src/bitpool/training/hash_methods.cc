#include "bitpool/training/hash_methods.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/hash/baselines/binary_autoencoder.h"
#include "bitpool/hash/baselines/binary_reconstructive_embedding.h"
#include "bitpool/hash/baselines/cca_itq.h"
#include "bitpool/hash/baselines/kernel_supervised_hash.h"
#include "bitpool/hash/baselines/kmeans_hash.h"
#include "bitpool/hash/baselines/lsh.h"
#include "bitpool/hash/baselines/pca_hash.h"
#include "bitpool/hash/baselines/spherical_hash.h"
#include "bitpool/hash/baselines/supervised_discrete_hash.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/rba.h"

namespace bitpool {
namespace {

using Trainer = Trained<HashModel> (*)(const HashSettings&, const ColumnSource&, const RunContext&);

Trained<HashModel> Rba(const HashSettings& settings, const ColumnSource& source,
                       const RunContext& context) {
  RbaOptions options = settings.paper ? RbaOptions::Paper(settings.bits) : RbaOptions();
  options.bits = settings.bits;
  options.iterations = settings.iterations.value_or(options.iterations);
  options.lambda = settings.lambda.value_or(options.lambda);
  options.beta = settings.beta.value_or(options.beta);
  return TrainRba(options, source, context);
}

Trained<HashModel> Itq(const HashSettings& settings, const ColumnSource& source,
                       const RunContext& context) {
  ItqOptions options;
  options.bits = settings.bits;
  options.iterations = settings.iterations.value_or(options.iterations);
  return TrainItq(options, source, context);
}

// Like RBA it starts from the codes of ITQ.
Trained<HashModel> Ba(const HashSettings& settings, const ColumnSource& source,
                      const RunContext& context) {
  BinaryAutoencoderOptions options;
  options.bits = settings.bits;
  ItqOptions itq;
  itq.bits = settings.bits;
  TrainingSummary unused;
  const LinearEncoder initial(
      FindItqEncoder(itq, source, ComputeMoments(source, context), context, unused));
  context.ThrowIfStopped();
  return TrainBinaryAutoencoder(options, source, EncodeAll(initial, source, context), context);
}

Trained<HashModel> Sph(const HashSettings& settings, const ColumnSource& source,
                       const RunContext& context) {
  SphericalHashOptions options;
  options.bits = settings.bits;
  options.iterations = settings.iterations.value_or(options.iterations);
  return TrainSphericalHash(options, source, context);
}

Trained<HashModel> Kmh(const HashSettings& settings, const ColumnSource& source,
                       const RunContext& context) {
  KMeansHashOptions options;
  options.bits = settings.bits;
  options.iterations = settings.iterations.value_or(options.iterations);
  return TrainKMeansHash(options, source, context);
}

Trained<HashModel> Pcah(const HashSettings& settings, const ColumnSource& source,
                        const RunContext& context) {
  PcaHashOptions options;
  options.bits = settings.bits;
  return TrainPcaHash(options, source, context);
}

Trained<HashModel> Lsh(const HashSettings& settings, const ColumnSource& source,
                       const RunContext& context) {
  LshOptions options;
  options.bits = settings.bits;
  return TrainLsh(options, source, context);
}

using SupervisedTrainer = Trained<HashModel> (*)(const HashSettings&, const ColumnSource&,
                                                 const Labels&, const RunContext&);

Trained<HashModel> Sdh(const HashSettings& settings, const ColumnSource& source,
                       const Labels& labels, const RunContext& context) {
  SupervisedDiscreteHashOptions options;
  options.bits = settings.bits;
  return TrainSupervisedDiscreteHash(options, source, labels, context);
}

Trained<HashModel> Ksh(const HashSettings& settings, const ColumnSource& source,
                       const Labels& labels, const RunContext& context) {
  KernelSupervisedHashOptions options;
  options.bits = settings.bits;
  return TrainKernelSupervisedHash(options, source, labels, context);
}

Trained<HashModel> Bre(const HashSettings& settings, const ColumnSource& source,
                       const Labels& labels, const RunContext& context) {
  BinaryReconstructiveEmbeddingOptions options;
  options.bits = settings.bits;
  return TrainBinaryReconstructiveEmbedding(options, source, labels, context);
}

Trained<HashModel> CcaItq(const HashSettings& settings, const ColumnSource& source,
                          const Labels& labels, const RunContext& context) {
  CcaItqOptions options;
  options.bits = settings.bits;
  return TrainCcaItq(options, source, labels, context);
}

struct KnownMethod {
  HashMethod method;
  Trainer train;
  bool iterates;   // takes a number of iterations
  bool constants;  // takes λ, β and the paper's preset
};

const std::vector<KnownMethod>& KnownMethods() {
  static const std::vector<KnownMethod> methods = {
      {{"rba", "Relaxed Binary Autoencoder", "Do et al., 2019"}, Rba, true, true},
      {{"ba", "Binary Autoencoder", "Carreira-Perpiñán and Raziperchikolaei, 2015"},
       Ba,
       false,
       false},
      {{"itq", "Iterative Quantization", "Gong and Lazebnik, 2011"}, Itq, true, false},
      {{"kmh", "K-means Hashing", "He, Wen and Sun, 2013"}, Kmh, true, false},
      {{"sph", "Spherical Hashing", "Heo et al., 2012"}, Sph, true, false},
      {{"pcah", "PCA hashing", "Wang et al., 2006"}, Pcah, false, false},
      {{"lsh", "Random projections", "Charikar, 2002"}, Lsh, false, false}};
  return methods;
}

struct KnownSupervisedMethod {
  HashMethod method;
  SupervisedTrainer train;
};

// Those that learn from vectors.
const std::vector<KnownSupervisedMethod>& KnownSupervisedMethods() {
  static const std::vector<KnownSupervisedMethod> methods = {
      {{"sdh", "Supervised Discrete Hashing", "Shen et al., 2015"}, Sdh},
      {{"ksh", "Kernel-based Supervised Hashing", "Liu et al., 2012"}, Ksh},
      {{"bre", "Binary Reconstructive Embeddings", "Kulis and Darrell, 2009"}, Bre},
      {{"cca-itq", "ITQ on canonical correlations", "Gong and Lazebnik, 2011"}, CcaItq}};
  return methods;
}

const KnownMethod& FindKnownMethod(std::string_view name) {
  const auto& known = KnownMethods();
  const auto found = std::ranges::find(
      known, name, [](const KnownMethod& candidate) { return candidate.method.name; });
  if (found != known.end()) return *found;
  std::vector<std::string_view> names;
  for (const HashMethod& method : VectorMethods()) names.push_back(method.name);
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("method \"{}\": expected one of {}", name, fmt::join(names, ", ")));
}

constexpr HashMethod kSah = {"sah", "Simultaneous Aggregating and Hashing", "Do et al., 2019"};
constexpr HashMethod kSash = {"sash", "Simultaneous Aggregating and Supervised Hashing",
                              "Do et al., 2019"};

// What the settings say of the loop that SAH and SASH share.
void SetLoop(const HashSettings& settings, SahOptions& options) {
  options.iterations = settings.iterations.value_or(options.iterations);
  options.rba.lambda = settings.lambda.value_or(options.rba.lambda);
  options.rba.beta = settings.beta.value_or(options.rba.beta);
  options.gamma = settings.gamma.value_or(options.gamma);
  options.mu = settings.mu.value_or(options.mu);
  options.normalise = settings.normalise;
}

void Refuse(bool given, const HashSettings& settings, const char* what) {
  if (!given) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the method {} has no {}", settings.method, what));
}

}  // namespace

const std::vector<HashMethod>& VectorMethods() {
  static const std::vector<HashMethod> methods = [] {
    std::vector<HashMethod> list;
    for (const KnownMethod& known : KnownMethods()) list.push_back(known.method);
    return list;
  }();
  return methods;
}

const std::vector<HashMethod>& FeatureMethods() {
  static const std::vector<HashMethod> methods = [] {
    std::vector<HashMethod> list = {kSah};
    list.insert(list.end(), VectorMethods().begin(), VectorMethods().end());
    list.insert(list.end(), SupervisedMethods().begin(), SupervisedMethods().end());
    return list;
  }();
  return methods;
}

const std::vector<HashMethod>& SupervisedMethods() {
  static const std::vector<HashMethod> methods = [] {
    std::vector<HashMethod> list = {kSash};
    for (const KnownSupervisedMethod& known : KnownSupervisedMethods()) {
      list.push_back(known.method);
    }
    return list;
  }();
  return methods;
}

bool NeedsLabels(std::string_view method) {
  return std::ranges::find(SupervisedMethods(), method, &HashMethod::name) !=
         SupervisedMethods().end();
}

void RequireLabels(std::string_view method, const Labels* labels, Index samples) {
  if (NeedsLabels(method) != (labels != nullptr)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the method {} {}", method,
                    labels == nullptr ? "learns from labels; expected some" : "takes no labels"));
  }
  if (labels != nullptr && labels->size() != samples) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} labels for {} samples", labels->size(), samples));
  }
}

const HashMethod& FindVectorMethod(std::string_view name) { return FindKnownMethod(name).method; }

Trained<HashModel> TrainHash(const HashSettings& settings, const ColumnSource& source,
                             const RunContext& context) {
  const KnownMethod& known = FindKnownMethod(settings.method);
  Refuse(settings.iterations && !known.iterates, settings, "number of iterations to set");
  Refuse(settings.lambda && !known.constants, settings, "lambda to set");
  Refuse(settings.beta && !known.constants, settings, "beta to set");
  Refuse(settings.paper && !known.constants, settings, "preset");
  Refuse(settings.gamma.has_value(), settings, "gamma to set");
  Refuse(settings.alpha.has_value(), settings, "alpha to set");
  return known.train(settings, source, context);
}

Trained<HashModel> TrainHash(const HashSettings& settings, const ColumnSource& source,
                             const Labels& labels, const RunContext& context) {
  const auto& known = KnownSupervisedMethods();
  const auto found = std::ranges::find(known, settings.method,
                                       [](const auto& candidate) { return candidate.method.name; });
  if (found == known.end()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("the method {} does not learn from labels of vectors", settings.method));
  }
  Refuse(settings.iterations.has_value(), settings, "number of iterations to set");
  Refuse(settings.lambda.has_value(), settings, "lambda to set");
  Refuse(settings.beta.has_value(), settings, "beta to set");
  Refuse(settings.gamma.has_value(), settings, "gamma to set");
  Refuse(settings.alpha.has_value(), settings, "alpha to set");
  Refuse(settings.paper, settings, "preset");
  return found->train(settings, source, labels, context);
}

SahOptions SahOptionsFrom(const HashSettings& settings) {
  Refuse(settings.alpha.has_value(), settings, "alpha to set");
  SahOptions options = settings.paper ? SahOptions::Paper(settings.bits) : SahOptions();
  options.bits = settings.bits;
  SetLoop(settings, options);
  options.Validate();
  return options;
}

SashOptions SashOptionsFrom(const HashSettings& settings) {
  SashOptions options =
      settings.paper ? SashOptions::Paper(settings.bits) : SashOptions::Default(settings.bits);
  SetLoop(settings, options.joint);
  options.alpha = settings.alpha.value_or(options.alpha);
  options.Validate();
  return options;
}

nlohmann::json DescribeSettings(const HashSettings& settings, uint64_t seed) {
  nlohmann::json options = {{"method", settings.method},
                            {"bits", settings.bits},
                            {"preset", settings.paper ? "paper" : "default"},
                            {"normalise", settings.normalise},
                            {"seed", seed}};
  if (settings.iterations) options["iterations"] = *settings.iterations;
  if (settings.lambda) options["lambda"] = *settings.lambda;
  if (settings.beta) options["beta"] = *settings.beta;
  if (settings.gamma) options["gamma"] = *settings.gamma;
  if (settings.alpha) options["alpha"] = *settings.alpha;
  if (settings.mu) options["mu"] = *settings.mu;
  return options;
}

nlohmann::json DescribeTraining(const HashSettings& settings, const TrainingSummary& summary,
                                uint64_t seed) {
  nlohmann::json iterations = nlohmann::json::array();
  for (const TrainingIteration& record : summary.iterations) {
    iterations.push_back({{"objective", record.objective},
                          {"reconstruction", record.reconstruction},
                          {"quantisation", record.quantisation},
                          {"aggregation", record.aggregation},
                          {"flipped", record.flipped},
                          {"seconds", record.seconds}});
  }
  return {{"options", DescribeSettings(settings, seed)},
          {"samples", summary.samples},
          {"iterations", iterations},
          {"skipped", summary.skipped},
          {"converged", summary.converged},
          {"interrupted", summary.interrupted},
          {"seconds", summary.seconds}};
}

}  // namespace bitpool
