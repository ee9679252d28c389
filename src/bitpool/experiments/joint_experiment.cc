#include "bitpool/experiments/joint_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/hash/feature_encoder.h"
#include "bitpool/hash/sah.h"
#include "bitpool/report/report.h"

namespace bitpool {
namespace {

double TotalVariance(const MatrixF& vectors) {
  const VectorF mean = vectors.rowwise().mean();
  return static_cast<double>((vectors.colwise() - mean).squaredNorm()) /
         static_cast<double>(vectors.cols());
}

class JointRunner {
 public:
  JointRunner(const JointOptions& options, const JointTask& task)
      : options_(options), task_(task) {}

  HashSettings SettingsOf(const std::string& method, int bits) const {
    const auto found = options_.constants.find(method);
    HashSettings settings = found == options_.constants.end() ? HashSettings() : found->second;
    settings.method = method;
    settings.bits = bits;
    settings.normalise = task_.normalise;
    if (!settings.mu) settings.mu = options_.mu;
    return settings;
  }

  RunFigures RunOnce(const HashSettings& settings, bool show, const RunContext& context) {
    RunFigures figures;
    const MatrixF* pooled = nullptr;
    if (settings.method != "sah") pooled = &PooledTraining(*settings.mu, context);
    const Stopwatch watch;
    const HashModel model = Train(settings, pooled, context);
    figures.metrics["training_seconds"] = watch.seconds();
    figures.model = ModelDigest(model);
    context.ThrowIfStopped();
    Evaluate(model, show, context, figures);
    return figures;
  }

 private:
  HashModel Train(const HashSettings& settings, const MatrixF* pooled, const RunContext& context) {
    if (pooled == nullptr) return TrainSah(SahOptionsFrom(settings), task_.training, context).model;
    HashModel model = TrainHash(settings, MatrixColumns(*pooled), context).model;
    model.pooling = PoolingRecipe{.normalise = task_.normalise, .mu = *settings.mu, .gamma = 0};
    return model;
  }

  // The GMP vectors of the training images, made once for each μ.
  const MatrixF& PooledTraining(double mu, const RunContext& context) {
    MatrixF& vectors = pooled_[mu];
    if (vectors.size() == 0) {
      vectors = PoolRecords(task_.training,
                            {Coupling::None(task_.training.dimension()), {.mu = mu}}, context);
    }
    return vectors;
  }

  void Evaluate(const HashModel& model, bool show, const RunContext& context,
                RunFigures& figures) const {
    const PoolingSystem pooling = PoolingOf(model);
    const MatrixF database = PoolRecords(task_.database, pooling, context);
    const BinaryCodes codes = EncodeAll(*model.encoder, MatrixColumns(database), context);
    const MatrixF queries = QueryVectors(pooling, database, context);
    const CodeEvaluation evaluation =
        EvaluateBothWays(model, codes, queries, task_.truth, task_.protocol, context);
    figures.metrics[kMap] = 100 * evaluation.hamming.mean_ap;
    figures.metrics[kAsymmetricMap] = 100 * evaluation.asymmetric.mean_ap;
    const double error = ReconstructionError(model, MatrixColumns(database), context);
    figures.metrics["reconstruction_error"] = error;
    figures.metrics["relative_reconstruction_error"] = error / TotalVariance(database);
    if (show) figures.shown = Show(codes, model.encoder->Encode(queries));
  }

  // The first results of queries that are spread evenly over all; what the truth ignores, such as
  // the query itself, is left out.
  std::vector<ShownSearch> Show(const BinaryCodes& database, const BinaryCodes& queries) const {
    std::vector<ShownSearch> shown;
    const Index count = std::min(options_.shown, task_.truth.query_count());
    std::vector<Judgement> judged(static_cast<size_t>(task_.truth.database_size()));
    for (Index i = 0; i < count; ++i) {
      const Index query = i * task_.truth.query_count() / count;
      task_.truth.Judge(query, judged);
      std::vector<std::pair<int, Index>> order;
      for (Index image = 0; image < static_cast<Index>(judged.size()); ++image) {
        if (judged[static_cast<size_t>(image)] == Judgement::kIgnored) continue;
        order.emplace_back(HammingDistance(queries.code(query), database.code(image)), image);
      }
      const auto wanted = std::min(static_cast<size_t>(options_.shown_results), order.size());
      std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted),
                        order.end());
      ShownSearch& search = shown.emplace_back();
      search.query = task_.query_names.at(static_cast<size_t>(query));
      for (const auto& [distance, image] : std::span(order).first(wanted)) {
        search.results.push_back(
            {.name = task_.names.at(static_cast<size_t>(image)),
             .distance = distance,
             .right = judged[static_cast<size_t>(image)] == Judgement::kRelevant});
      }
    }
    return shown;
  }

  MatrixF QueryVectors(const PoolingSystem& pooling, const MatrixF& database,
                       const RunContext& context) const {
    if (task_.queries != nullptr) return PoolRecords(*task_.queries, pooling, context);
    return database(Eigen::all, task_.query_images);
  }

  const JointOptions& options_;
  const JointTask& task_;
  std::map<double, MatrixF> pooled_;
};

bool CanShow(const JointTask& task) { return !task.names.empty() && !task.query_names.empty(); }

nlohmann::json DescribeConstants(const JointOptions& options, const JointRunner& runner) {
  nlohmann::json constants = nlohmann::json::object();
  for (const std::string& method : options.methods) {
    nlohmann::json settings = DescribeSettings(runner.SettingsOf(method, options.bits.front()), 0);
    for (const char* key : {"method", "bits", "preset", "seed", "normalise"}) settings.erase(key);
    constants[method] = settings;
  }
  return constants;
}

}  // namespace

void JointOptions::Validate() const {
  for (const int length : bits) RequireBits(length);
  for (const std::string& method : methods) {
    if (method != "sah") FindVectorMethod(method);
  }
  if (bits.empty() || methods.empty() || seeds < 1 || !(mu > 0)) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one code length, method and seed, and a positive mu");
  }
}

Experiment RunJointExperiment(const JointOptions& options, const JointTask& task,
                              const RunContext& context) {
  options.Validate();
  JointRunner runner(options, task);
  Experiment experiment;
  experiment.name = "joint";
  experiment.title = "Aggregating and hashing learned together";
  experiment.settings = {{"methods", options.methods},
                         {"bits", options.bits},
                         {"seeds", options.seeds},
                         {"first_seed", context.seed()},
                         {"protocol", task.protocol.Describe()},
                         {"local_features", task.normalise ? "unit length" : "as they are"},
                         {"constants", DescribeConstants(options, runner)}};
  experiment.data = {{"training_images", task.training.size()},
                     {"database_images", task.database.size()},
                     {"queries", task.truth.query_count()},
                     {"dimension", task.training.dimension()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  Progress progress = context.StartProgress(
      "comparing", "runs",
      options.methods.size() * options.bits.size() * static_cast<size_t>(options.seeds));
  for (const std::string& method : options.methods) {
    for (const int bits : options.bits) {
      std::map<std::string, std::vector<double>> figures;
      for (int run = 0; run < options.seeds; ++run) {
        const RunContext seeded =
            context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
        const bool show = run == 0 && bits == *std::ranges::max_element(options.bits);
        const RunFigures found = FindOrMake(options.figures, {method, bits, seeded.seed()}, [&] {
          return runner.RunOnce(runner.SettingsOf(method, bits), show && CanShow(task), seeded);
        });
        for (const auto& [metric, figure] : found.metrics) figures[metric].push_back(figure);
        progress.Advance();
      }
      for (const auto& [metric, values] : figures) {
        experiment.results.push_back(SummariseRuns(method, bits, metric, values));
      }
    }
  }
  return experiment;
}

std::string JointReport(const Experiment& experiment) {
  Report report(experiment.title,
                "SAH learns how to aggregate the local features of an image together with the "
                "binary code; the other methods hash the vectors of generalised max pooling.");
  const auto table = [&](const char* metric, const char* format, bool higher, const char* caption) {
    ReportTable made = TableOf(experiment, metric, format, higher);
    made.caption = caption;
    report.AddTable(made);
  };
  report.AddSection("Accuracy");
  report.AddFigure(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
                                     "mAP, percent", {"sah"})),
                   "Mean over the seeds; bars show the standard deviation.");
  AddMapTable(experiment, "mAP in percent, mean ± standard deviation over the seeds", report);
  report.AddSection("Reconstruction");
  report.AddFigure(RenderSvg(ChartOf(experiment, "relative_reconstruction_error",
                                     "Error of the vectors decoded from their codes",
                                     "share of the vectors' variance", {"sah"})),
                   "SAH's own pooling makes vectors that codes can reconstruct.");
  table("relative_reconstruction_error", "{:.3f}", false,
        "Reconstruction error as a share of the variance of the vectors");
  table("reconstruction_error", "{:.3g}", false,
        "Mean squared reconstruction error, as in the paper; the vectors of SAH have a scale of "
        "their own");
  report.AddSection("Training time");
  table("training_seconds", "{:.2f}", false,
        "Seconds of training, after the images were reduced (and pooled, but for SAH)");
  AddHowItWasMeasured(experiment, report);
  return report.Html();
}

}  // namespace bitpool
