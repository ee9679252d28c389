#include "bitpool/pipeline/step_times.h"

#include <fmt/format.h>

#include <functional>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/pipeline/hash_methods.h"
#include "bitpool/pipeline/machine.h"
#include "bitpool/pipeline/picture_files.h"
#include "bitpool/pool/simple_pooling.h"

namespace bitpool {
namespace {

constexpr double kMilliseconds = 1000;

// The time of `step` for each of `count` pictures, in milliseconds, once for every round.
std::vector<double> Measure(int rounds, size_t count, const RunContext& context,
                            const std::function<void(size_t)>& step) {
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    context.ThrowIfStopped();
    const Stopwatch watch;
    for (size_t i = 0; i < count; ++i) step(i);
    times.push_back(kMilliseconds * watch.seconds() / static_cast<double>(count));
  }
  return times;
}

}  // namespace

void StepTimeOptions::Validate() const {
  RequireBits(bits);
  if (pictures < 2 || !(mu > 0) || rounds < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected 2 or more pictures, a positive mu and at least one round");
  }
}

Experiment MeasureStepTimes(const StepTimeOptions& options, const PictureDescriber& describer,
                            const std::filesystem::path& folder, const RunContext& context) {
  options.Validate();
  const RunContext quiet = context.WithoutProgress();
  Progress progress =
      context.StartProgress("timing", "pictures", static_cast<uint64_t>(options.pictures));
  MemoryFeatureSet features(describer.dimension());
  std::vector<MatrixF> descriptors;
  double extraction = 0;
  for (const FoundPicture& found : FindPictures(folder, context)) {
    context.ThrowIfStopped();
    if (static_cast<int>(descriptors.size()) == options.pictures) break;
    const Picture picture =
        describer.Decode(ReadPictureBytes(folder / found.path, MaxPictureBytes()));
    const Stopwatch watch;
    MatrixF described = describer.Describe(picture);
    if (described.cols() == 0) continue;
    extraction += kMilliseconds * watch.seconds();
    NormaliseColumns(described);
    features.Add(found.path, described);
    descriptors.push_back(std::move(described));
    progress.Advance();
  }
  if (descriptors.size() < 2) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected 2 or more pictures", folder.string()));
  }
  HashSettings settings{.method = "sah", .bits = options.bits};
  settings.mu = options.mu;
  const HashModel model = TrainSah(SahOptionsFrom(settings), features, quiet).model;
  context.ThrowIfStopped();
  const PoolingSystem coupled = PoolingOf(model);
  const PoolingSystem gmp(Coupling::None(features.dimension()), {.mu = options.mu});

  Experiment experiment;
  experiment.name = "step-time";
  experiment.title = "Time of the steps from a picture to its code";
  const auto add = [&](const char* method, const char* metric, const std::vector<double>& times) {
    experiment.results.push_back(SummariseRuns(method, options.bits, metric, times));
  };
  const size_t count = descriptors.size();
  std::vector<VectorF> vectors(count);
  const auto measure = [&](const char* method, const PoolingSystem& system) {
    add(method, "extract_ms", {extraction / static_cast<double>(count)});
    add(method, "pool_ms", Measure(options.rounds, count, context, [&](size_t i) {
          vectors[i] = system.Pool(descriptors[i]);
        }));
    add(method, "encode_ms", Measure(options.rounds, count, context, [&](size_t i) {
          model.encoder->Encode(vectors[i]);
        }));
  };
  measure("sah", coupled);
  measure("others", gmp);
  experiment.settings = {{"pictures", count}, {"bits", options.bits},
                         {"mu", options.mu},  {"rounds", options.rounds},
                         {"threads", "one"},  {"seed", context.seed()}};
  experiment.data = {{"extractor", DescribeExtractor(describer.settings())},
                     {"descriptors", descriptors.front().cols()},
                     {"dimension", features.dimension()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  return experiment;
}

}  // namespace bitpool
