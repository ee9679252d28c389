#include "bitpool/pipeline/unsupervised_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/dataset/splits.h"
#include "bitpool/eval/evaluate.h"
#include "bitpool/eval/neighbours.h"
#include "bitpool/eval/report.h"
#include "bitpool/hash/rba.h"
#include "bitpool/pipeline/hash_methods.h"
#include "bitpool/pipeline/machine.h"

namespace bitpool {
namespace {

constexpr const char* kMap = "mAP";
constexpr const char* kSeconds = "training_seconds";
constexpr const char* kError = "reconstruction_error";
constexpr int kSurfaceBits = 32;
const std::vector<double> kLambdas = {0.001, 0.01, 0.1, 1};
const std::vector<double> kBetas = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2};

// Queries with their right answers in a database.
struct Task {
  MatrixF database, queries;
  ListedTruth truth{0};
};

Task MakeTask(MatrixF database, MatrixF queries, Index neighbours, const RunContext& context) {
  Task task{.database = std::move(database), .queries = std::move(queries)};
  task.truth =
      FindNeighbours(MatrixColumns(task.database), MatrixColumns(task.queries), neighbours, context)
          .Truth(task.database.cols(), neighbours);
  return task;
}

MatrixF Choose(const MatrixF& vectors, Index count, uint64_t seed) {
  if (count == 0 || count >= vectors.cols()) return vectors;
  return GatherColumns(MatrixColumns(vectors), ChooseItems(vectors.cols(), count, seed).chosen);
}

// What one run of one method gives.
struct Outcome {
  double map = 0, seconds = 0, error = 0;
};

Outcome RunOnce(const HashSettings& settings, const Task& task, const RunContext& context) {
  const MatrixColumns database(task.database), queries(task.queries);
  Outcome outcome;
  const Stopwatch watch;
  const Trained<HashModel> trained = TrainHash(settings, database, context);
  outcome.seconds = watch.seconds();
  context.ThrowIfStopped();  // a trainer gives what it has when it is stopped
  const HashEncoder& encoder = *trained.model.encoder;
  const Evaluation evaluation =
      EvaluateCodes(EncodeAll(encoder, database, context), EncodeAll(encoder, queries, context),
                    task.truth, HashingProtocol(), context);
  outcome.map = 100 * evaluation.mean_ap;
  outcome.error = ReconstructionError(trained.model, queries, context);
  return outcome;
}

// The figures of all runs for one metric.
std::vector<double> Figures(const std::vector<Outcome>& outcomes, double Outcome::*figure) {
  std::vector<double> figures;
  figures.reserve(outcomes.size());
  for (const Outcome& outcome : outcomes) figures.push_back(outcome.*figure);
  return figures;
}

std::vector<std::string> MethodsOf(const UnsupervisedOptions& options) {
  std::vector<std::string> methods = options.methods;
  if (methods.empty()) {
    for (const HashMethod& method : VectorMethods()) methods.emplace_back(method.name);
  }
  return methods;
}

HeatMap MeasureSurface(const UnsupervisedOptions& options, const VectorSet& set,
                       const RunContext& context) {
  const MatrixF train = Choose(set.train, options.limit, context.seed());
  const Index held_out = std::min(options.queries, train.cols() / 5);
  const Split split = ChooseItems(train.cols(), held_out, context.seed());
  const MatrixColumns columns(train);
  const RunContext quiet = context.WithoutProgress();
  const Task task = MakeTask(GatherColumns(columns, split.rest),
                             GatherColumns(columns, split.chosen), options.neighbours, quiet);
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
          RunOnce(settings, task, quiet).map;
      progress.Advance();
    }
  }
  return surface;
}

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
  if (bits.empty() || seeds < 1 || queries < 1 || neighbours < 1 || limit < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one code length, seed, query and neighbour");
  }
}

UnsupervisedResult RunUnsupervisedExperiment(const UnsupervisedOptions& options,
                                             const VectorSet& set, const RunContext& context) {
  options.Validate();
  const Task task =
      MakeTask(Choose(set.train, options.limit, context.seed()),
               Choose(set.test, options.queries, context.seed()), options.neighbours, context);
  const std::vector<std::string> methods = MethodsOf(options);
  UnsupervisedResult result;
  Experiment& experiment = result.experiment;
  experiment.name = "unsupervised";
  experiment.title = fmt::format("Hashing without labels: {}", set.name);
  experiment.settings = {{"methods", methods},
                         {"bits", options.bits},
                         {"seeds", options.seeds},
                         {"first_seed", context.seed()},
                         {"protocol", HashingProtocol().Describe()},
                         {"neighbours", options.neighbours}};
  experiment.data = {{"set", set.name},
                     {"features", set.features},
                     {"database", task.database.cols()},
                     {"training", task.database.cols()},
                     {"queries", task.queries.cols()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));

  Progress progress = context.StartProgress(
      "comparing", "runs",
      methods.size() * options.bits.size() * static_cast<size_t>(options.seeds));
  for (const std::string& method : methods) {
    for (const int bits : options.bits) {
      std::vector<Outcome> outcomes;
      for (int run = 0; run < options.seeds; ++run) {
        const RunContext seeded =
            context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
        outcomes.push_back(RunOnce({.method = method, .bits = bits}, task, seeded));
        progress.Advance();
      }
      experiment.results.push_back(
          SummariseRuns(method, bits, kMap, Figures(outcomes, &Outcome::map)));
      experiment.results.push_back(
          SummariseRuns(method, bits, kSeconds, Figures(outcomes, &Outcome::seconds)));
      experiment.results.push_back(
          SummariseRuns(method, bits, kError, Figures(outcomes, &Outcome::error)));
    }
  }
  if (options.surface) result.surface = MeasureSurface(options, set, context);
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
  ReportTable accuracy = TableOf(experiment, kMap, "{:.2f}", true);
  accuracy.caption = "mAP in percent, mean ± standard deviation over the seeds";
  report.AddTable(accuracy);
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
