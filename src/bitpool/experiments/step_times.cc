#include "bitpool/experiments/step_times.h"

#include <algorithm>
#include <functional>
#include <map>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/image_record.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/pool/simple_pooling.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

constexpr double kMilliseconds = 1000;

// The mean time of `step` for `count` pictures, in milliseconds.
double Measure(size_t count, const std::function<void(size_t)>& step) {
  const Stopwatch watch;
  for (size_t i = 0; i < count; ++i) step(i);
  return kMilliseconds * watch.seconds() / static_cast<double>(count);
}

// The features of the first pictures of a folder, and what it took to find them.
struct TimedPictures {
  MemoryFeatureSet features;
  std::vector<MatrixF> descriptors = {};
  std::vector<double> extract_ms = {};

  // The mean over every `rounds`-th picture.
  double ExtractionOf(size_t round, size_t rounds) const {
    double sum = 0;
    int count = 0;
    for (size_t i = round; i < extract_ms.size(); i += rounds, ++count) sum += extract_ms[i];
    return sum / count;
  }
};

TimedPictures Describe(Env& env, const PictureDescriber& describer,
                       const std::filesystem::path& folder, int wanted, const RunContext& context) {
  Progress progress = context.StartProgress("timing", "pictures", static_cast<uint64_t>(wanted));
  TimedPictures described{.features = MemoryFeatureSet(describer.dimension())};
  for (const FoundPicture& found : FindPictures(env, folder, context)) {
    context.ThrowIfStopped();
    if (static_cast<int>(described.descriptors.size()) == wanted) break;
    const Picture picture = describer.Decode(env.Read(folder / found.path, MaxPictureBytes()));
    const Stopwatch watch;
    MatrixF descriptors = describer.Describe(picture);
    if (descriptors.cols() == 0) continue;
    described.extract_ms.push_back(kMilliseconds * watch.seconds());
    NormaliseColumns(descriptors);
    described.features.Add(found.path, descriptors);
    described.descriptors.push_back(std::move(descriptors));
    progress.Advance();
  }
  if (described.descriptors.size() < 2) {
    throw Error(ErrorCode::kInvalidArgument, folder.string(), "expected 2 or more pictures");
  }
  return described;
}

}  // namespace

void StepTimeOptions::Validate() const {
  RequireBits(bits);
  if (pictures < 2 || !(mu > 0) || rounds < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected 2 or more pictures, a positive mu and at least one round");
  }
}

Experiment MeasureStepTimes(Env& env, const StepTimeOptions& options,
                            const PictureDescriber& describer, const std::filesystem::path& folder,
                            const RunContext& context) {
  options.Validate();
  const TimedPictures pictures = Describe(env, describer, folder, options.pictures, context);
  MemoryRecords records(describer.dimension());
  ReduceImages(pictures.features, true, records, context.WithoutProgress());
  const MethodSettings settings{
      .method = "sah", .bits = options.bits, .options = {{"mu", options.mu}}};
  const HashModel model =
      TrainOnRecords(settings, {.records = records}, context.WithoutProgress()).model;
  context.ThrowIfStopped();
  const PoolingSystem coupled = PoolingOf(model);
  const PoolingSystem gmp(Coupling::None(describer.dimension()), {.mu = options.mu});

  const size_t count = pictures.descriptors.size();
  const size_t rounds = std::min(static_cast<size_t>(options.rounds), count);
  FigureStore own;
  FigureStore& figures = options.figures != nullptr ? *options.figures : own;
  Experiment experiment;
  std::vector<VectorF> vectors(count);
  const auto measure = [&](const char* method, const PoolingSystem& system) {
    std::map<std::string, std::vector<double>> times;
    for (size_t round = 0; round < rounds; ++round) {
      context.ThrowIfStopped();
      const RunFigures one{
          .metrics = {
              {"extract_ms", pictures.ExtractionOf(round, rounds)},
              {"pool_ms",
               Measure(count,
                       [&](size_t i) { vectors[i] = system.Pool(pictures.descriptors[i]); })},
              {"encode_ms", Measure(count, [&](size_t i) { model.encoder->Encode(vectors[i]); })}}};
      figures.Keep({.method = method, .bits = options.bits, .seed = round + 1}, one);
      for (const auto& [metric, time] : one.metrics) times[metric].push_back(time);
    }
    for (const auto& [metric, all] : times) {
      experiment.results.push_back(SummariseRuns(method, options.bits, metric, all));
    }
  };
  measure("sah", coupled);
  measure("others", gmp);
  experiment.name = "step-time";
  experiment.title = "Time of the steps from a picture to its code";
  experiment.settings = {{"pictures", count}, {"bits", options.bits}, {"mu", options.mu},
                         {"rounds", rounds},  {"threads", "one"},     {"seed", context.seed()}};
  experiment.data = {{"extractor", DescribeExtractor(describer.settings())},
                     {"descriptors", pictures.descriptors.front().cols()},
                     {"dimension", describer.dimension()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  return experiment;
}

}  // namespace bitpool
