#include "bitpool/experiments/unsupervised_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/hash/rba.h"
#include "bitpool/metrics/neighbours.h"
#include "bitpool/report/report.h"
#include "bitpool/samples/splits.h"
#include "bitpool/training/hash_methods.h"

namespace bitpool {
namespace {

constexpr const char* kSeconds = "training_seconds";
constexpr const char* kError = "reconstruction_error";
constexpr int kSurfaceBits = 32;
const std::vector<double> kLambdas = {0.001, 0.01, 0.1, 1};
const std::vector<double> kBetas = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2};

// Queries with their right answers in a database.
struct Task {
  MatrixF training, other, queries;  // `other` is what is searched, where training vectors are not
  Protocol protocol;
  ListedTruth truth{0};

  const MatrixF& database() const { return other.size() == 0 ? training : other; }
};

Task MakeTask(MatrixF training, const MatrixF& database, MatrixF queries,
              const UnsupervisedOptions& options, const RunContext& context) {
  Task task{.training = std::move(training),
            .other = database,
            .queries = std::move(queries),
            .protocol = HashingProtocol()};
  task.protocol.ap.cutoff = options.top;
  task.truth = FindNeighbours(MatrixColumns(task.database()), MatrixColumns(task.queries),
                              options.neighbours, context)
                   .Truth(task.database().cols(), options.neighbours);
  return task;
}

MatrixF Choose(const MatrixF& vectors, Index count, uint64_t seed) {
  if (count == 0 || count >= vectors.cols()) return vectors;
  return GatherColumns(MatrixColumns(vectors), ChooseItems(vectors.cols(), count, seed).chosen);
}

RunFigures RunOnce(const HashSettings& settings, const Task& task, const RunContext& context) {
  const MatrixColumns training(task.training), queries(task.queries);
  const Stopwatch watch;
  const Trained<HashModel> trained = TrainHash(settings, training, context);
  const double seconds = watch.seconds();
  context.ThrowIfStopped();  // a trainer gives what it has when it is stopped
  const BinaryCodes codes =
      EncodeAll(*trained.model.encoder, MatrixColumns(task.database()), context);
  const CodeEvaluation evaluation =
      EvaluateBothWays(trained.model, codes, task.queries, task.truth, task.protocol, context);
  return {.metrics = {{kMap, 100 * evaluation.hamming.mean_ap},
                      {kAsymmetricMap, 100 * evaluation.asymmetric.mean_ap},
                      {kSeconds, seconds},
                      {kError, ReconstructionError(trained.model, queries, context)}},
          .model = ModelDigest(trained.model)};
}

HashSettings SettingsOf(const UnsupervisedOptions& options, const std::string& method, int bits) {
  const auto found = options.constants.find(method);
  HashSettings settings = found == options.constants.end() ? HashSettings() : found->second;
  settings.method = method;
  settings.bits = bits;
  return settings;
}

std::vector<std::string> MethodsOf(const UnsupervisedOptions& options) {
  std::vector<std::string> methods = options.methods;
  if (methods.empty()) {
    for (const HashMethod& method : VectorMethods()) methods.emplace_back(method.name);
  }
  return methods;
}

}  // namespace

HeatMap MeasureRbaSurface(const UnsupervisedOptions& options, const VectorSet& set,
                          const RunContext& context) {
  options.Validate();
  const MatrixF train = Choose(set.train, options.limit, context.seed());
  const Index held_out = std::min(options.queries, train.cols() / 5);
  const Split split = ChooseItems(train.cols(), held_out, context.seed());
  const MatrixColumns columns(train);
  const RunContext quiet = context.WithoutProgress();
  const Task task = MakeTask(GatherColumns(columns, split.rest), {},
                             GatherColumns(columns, split.chosen), options, quiet);
  HeatMap surface{.title = fmt::format("RBA, {} bits: mAP over its constants", kSurfaceBits),
                  .x_label = "λ",
                  .y_label = "β",
                  .x_values = kLambdas,
                  .y_values = kBetas,
                  .values = MatrixD(kBetas.size(), kLambdas.size()),
                  .format = "{:.1f}"};
  Progress progress =
      context.StartProgress("constants of RBA", "runs", kLambdas.size() * kBetas.size());
  for (size_t i = 0; i < kBetas.size(); ++i) {
    for (size_t j = 0; j < kLambdas.size(); ++j) {
      HashSettings settings{.method = "rba", .bits = kSurfaceBits};
      settings.lambda = kLambdas[j];
      settings.beta = kBetas[i];
      surface.values(static_cast<Index>(i), static_cast<Index>(j)) =
          RunOnce(settings, task, quiet).metrics.at(kMap);
      progress.Advance();
    }
  }
  return surface;
}

namespace {

BarChart TimesOf(const Experiment& experiment, int bits) {
  BarChart chart{.title = fmt::format("Training time, {} bits", bits),
                 .x_label = "seconds (logarithmic)",
                 .rows = {},
                 .log_x = true};
  for (const ExperimentResult& result : experiment.results) {
    if (result.metric != kSeconds || result.bits != bits) continue;
    chart.rows.push_back({.label = result.method,
                          .value = result.mean,
                          .note = "s",
                          .emphasised = result.method == "rba"});
  }
  return chart;
}

}  // namespace

void UnsupervisedOptions::Validate() const {
  for (const int length : bits) RequireBits(length);
  for (const std::string& method : methods) FindVectorMethod(method);
  if (bits.empty() || seeds < 1 || queries < 1 || neighbours < 1 || limit < 0 || top < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one code length, seed, query and neighbour");
  }
}

UnsupervisedResult RunUnsupervisedExperiment(const UnsupervisedOptions& options,
                                             const VectorSet& set, const RunContext& context) {
  options.Validate();
  const Task task = MakeTask(Choose(set.train, options.limit, context.seed()), set.database,
                             Choose(set.test, options.queries, context.seed()), options, context);
  const std::vector<std::string> methods = MethodsOf(options);
  UnsupervisedResult result;
  Experiment& experiment = result.experiment;
  experiment.name = "unsupervised";
  experiment.title = fmt::format("Hashing without labels: {}", set.name);
  experiment.settings = {{"methods", methods},
                         {"bits", options.bits},
                         {"seeds", options.seeds},
                         {"first_seed", context.seed()},
                         {"protocol", task.protocol.Describe()},
                         {"neighbours", options.neighbours}};
  for (const auto& [method, constants] : options.constants) {
    nlohmann::json described = DescribeSettings(constants, 0);
    for (const char* key : {"method", "bits", "preset", "seed", "normalise"}) described.erase(key);
    experiment.settings["constants"][method] = described;
  }
  experiment.data = {{"set", set.name},
                     {"features", set.features},
                     {"database", task.database().cols()},
                     {"training", task.training.cols()},
                     {"queries", task.queries.cols()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));

  Progress progress = context.StartProgress(
      "comparing", "runs",
      methods.size() * options.bits.size() * static_cast<size_t>(options.seeds));
  for (const std::string& method : methods) {
    for (const int bits : options.bits) {
      std::map<std::string, std::vector<double>> figures;
      for (int run = 0; run < options.seeds; ++run) {
        const RunContext seeded =
            context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
        const RunFigures found = FindOrMake(options.figures, {method, bits, seeded.seed()}, [&] {
          return RunOnce(SettingsOf(options, method, bits), task, seeded);
        });
        for (const auto& [metric, figure] : found.metrics) figures[metric].push_back(figure);
        progress.Advance();
      }
      for (const char* metric : {kMap, kAsymmetricMap, kSeconds, kError}) {
        experiment.results.push_back(SummariseRuns(method, bits, metric, figures[metric]));
      }
    }
  }
  if (options.surface) result.surface = MeasureRbaSurface(options, set, context);
  return result;
}

std::string UnsupervisedReport(const UnsupervisedResult& result) {
  const Experiment& experiment = result.experiment;
  Report report(experiment.title,
                "Methods that learn binary codes from vectors, compared by the mean average "
                "precision with which their codes find Euclidean neighbours.");
  report.AddSection("Accuracy");
  report.AddFigure(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
                                     "mAP, percent", {"rba"})),
                   "Mean over the seeds; bars show the standard deviation.");
  AddMapTable(experiment, "mAP in percent, mean ± standard deviation over the seeds", report);
  report.AddSection("Training time");
  const auto bits = experiment.settings.at("bits").get<std::vector<int>>();
  report.AddFigure(RenderSvg(TimesOf(experiment, *std::ranges::max_element(bits))),
                   "Whole training, initial codes and decoder included.");
  ReportTable times = TableOf(experiment, kSeconds, "{:.2f}", false);
  times.caption = "Seconds of training, mean ± standard deviation over the seeds";
  report.AddTable(times);
  report.AddSection("Reconstruction error");
  ReportTable errors = TableOf(experiment, kError, "{:.4f}", false);
  errors.caption = "Mean squared error of the queries, decoded from their codes";
  report.AddTable(errors);
  if (result.surface) {
    report.AddSection("Constants of RBA");
    report.AddFigure(RenderSvg(*result.surface),
                     "Measured on training vectors held out as queries, not on the test queries.");
  }
  AddHowItWasMeasured(experiment, report);
  return report.Html();
}

}  // namespace bitpool
