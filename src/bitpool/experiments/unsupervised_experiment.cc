#include "bitpool/experiments/unsupervised_experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/code_evaluation.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/metrics/neighbours.h"
#include "bitpool/report/report.h"
#include "bitpool/samples/splits.h"

namespace bitpool {
namespace {

constexpr const char* kTrainingSeconds = "training_seconds";
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

RunFigures RunOnce(const MethodSettings& settings, const Task& task, const RunContext& context) {
  const MatrixColumns training(task.training), queries(task.queries);
  const Stopwatch watch;
  const Trained<HashModel> trained = TrainOnVectors(settings, {.vectors = training}, context);
  const double seconds = watch.seconds();
  context.ThrowIfStopped();  // a trainer gives what it has when it is stopped
  const BinaryCodes codes =
      EncodeAll(*trained.model.encoder, MatrixColumns(task.database()), context);
  const CodeEvaluation evaluation =
      EvaluateBothWays(codes, EncodeBatch(*trained.model.encoder, queries, context), task.truth,
                       task.protocol, context);
  return {.metrics = {{kMap, 100 * evaluation.hamming.mean_ap},
                      {kAsymmetricMap, 100 * evaluation.asymmetric.mean_ap},
                      {kTrainingSeconds, seconds},
                      {kError, ReconstructionError(trained.model, queries, context)}},
          .model = ModelDigest(trained.model)};
}

class UnsupervisedRunner : public ComparedTask {
 public:
  UnsupervisedRunner(const UnsupervisedOptions& options, const Task& task)
      : options_(options), task_(task) {}

  MethodSettings SettingsOf(const std::string& method) override {
    return options_.SettingsOf(method);
  }
  RunFigures Run(const MethodSettings& settings, const RunContext& context) override {
    return RunOnce(settings, task_, context);
  }

 private:
  const UnsupervisedOptions& options_;
  const Task& task_;
};

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
      const MethodSettings settings{.method = "rba",
                                    .bits = kSurfaceBits,
                                    .options = {{"lambda", kLambdas[j]}, {"beta", kBetas[i]}}};
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
    if (result.metric != kTrainingSeconds || result.bits != bits) continue;
    chart.rows.push_back({.label = result.method,
                          .value = result.mean,
                          .note = "s",
                          .emphasised = result.method == "rba"});
  }
  return chart;
}

}  // namespace

void UnsupervisedOptions::Validate() const {
  Comparison::Validate(LearnsFromVectorsAlone);
  if (queries < 1 || neighbours < 1 || limit < 0 || top < 0) {
    throw Error(ErrorCode::kInvalidArgument, "expected at least one query and neighbour");
  }
}

UnsupervisedResult RunUnsupervisedExperiment(const UnsupervisedOptions& options,
                                             const VectorSet& set, const RunContext& context) {
  options.Validate();
  const Task task = MakeTask(Choose(set.train, options.limit, context.seed()), set.database,
                             Choose(set.test, options.queries, context.seed()), options, context);
  UnsupervisedResult result;
  Experiment& experiment = result.experiment;
  experiment.name = "unsupervised";
  experiment.title = fmt::format("Hashing without labels: {}", set.name);
  experiment.settings = DescribeComparison(options, context);
  experiment.settings["protocol"] = task.protocol.Describe();
  experiment.settings["neighbours"] = options.neighbours;
  for (const auto& [method, constants] : options.constants) {
    experiment.settings["constants"][method] = DescribeConstants(options.SettingsOf(method));
  }
  experiment.data = {{"set", set.name},
                     {"features", set.features},
                     {"database", task.database().cols()},
                     {"training", task.training.cols()},
                     {"queries", task.queries.cols()}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));

  UnsupervisedRunner runner(options, task);
  RunComparison(options, {kMap, kAsymmetricMap, kTrainingSeconds, kError}, runner, context,
                experiment);
  if (options.surface) result.surface = MeasureRbaSurface(options, set, context);
  return result;
}

std::string UnsupervisedReport(const UnsupervisedResult& result) {
  const Experiment& experiment = result.experiment;
  Report report(experiment.title,
                "Methods that learn binary codes from vectors, compared by the mean average "
                "precision with which their codes find Euclidean neighbours.");
  report.AddSection("Accuracy");
  report.AddChart(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
                                    "mAP, percent", {"rba"})),
                  "Mean over the seeds; bars show the standard deviation.");
  AddMapTable(experiment, "mAP in percent, mean ± standard deviation over the seeds", report);
  report.AddSection("Training time");
  const auto bits = experiment.settings.at("bits").get<std::vector<int>>();
  report.AddChart(RenderSvg(TimesOf(experiment, *std::ranges::max_element(bits))),
                  "Whole training, initial codes and decoder included.");
  ReportTable times = TableOf(experiment, kTrainingSeconds, "{:.2f}", false);
  times.caption = "Seconds of training, mean ± standard deviation over the seeds";
  report.AddTable(times);
  report.AddSection("Reconstruction error");
  ReportTable errors = TableOf(experiment, kError, "{:.4f}", false);
  errors.caption = "Mean squared error of the queries, decoded from their codes";
  report.AddTable(errors);
  if (result.surface) {
    report.AddSection("Constants of RBA");
    report.AddChart(RenderSvg(*result.surface),
                    "Measured on training vectors held out as queries, not on the test queries.");
  }
  AddHowItWasMeasured(experiment, report);
  return report.Html();
}

}  // namespace bitpool
