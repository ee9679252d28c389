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
#include "bitpool/report/report.h"
#include "bitpool/training/pooled_vectors.h"

namespace bitpool {
namespace {

double TotalVariance(const MatrixF& vectors) {
  const VectorF mean = vectors.rowwise().mean();
  return static_cast<double>((vectors.colwise() - mean).squaredNorm()) /
         static_cast<double>(vectors.cols());
}

class JointRunner : public ComparedTask {
 public:
  JointRunner(const JointOptions& options, const JointTask& task, const RunContext& context)
      : options_(options),
        task_(task),
        trainer_(task.training, nullptr, task.views, task.normalise),
        first_seed_(context.seed()) {}

  MethodSettings SettingsOf(const std::string& method) override {
    MethodSettings settings = options_.SettingsOf(method);
    settings.options["normalise"] = task_.normalise ? 1 : 0;
    settings.options.emplace("mu", options_.mu);
    return settings;
  }

  RunFigures Run(const MethodSettings& settings, const RunContext& context) override {
    RunFigures figures;
    trainer_.Prepare(settings, context);
    const Stopwatch watch;
    const HashModel model = trainer_.Train(settings, context);
    figures.metrics["training_seconds"] = watch.seconds();
    figures.model = ModelDigest(model);
    context.ThrowIfStopped();
    Evaluate(model, Shows(settings, context), context, figures);
    return figures;
  }

 private:
  bool Shows(const MethodSettings& settings, const RunContext& context) const {
    return context.seed() == first_seed_ &&
           settings.bits == *std::ranges::max_element(options_.bits) && !task_.names.empty() &&
           !task_.query_names.empty();
  }

  void Evaluate(const HashModel& model, bool show, const RunContext& context,
                RunFigures& figures) const {
    const MatrixF database = VectorsFor(model, task_.database, task_.database_images, context);
    const BinaryCodes codes = EncodeAll(*model.encoder, MatrixColumns(database), context);
    const MatrixF vectors = QueryVectors(model, database, context);
    const EncodedVectors queries = EncodeBatch(*model.encoder, MatrixColumns(vectors), context);
    const CodeEvaluation evaluation =
        EvaluateBothWays(codes, queries, task_.truth, task_.protocol, context);
    figures.metrics[kMap] = 100 * evaluation.hamming.mean_ap;
    figures.metrics[kAsymmetricMap] = 100 * evaluation.asymmetric.mean_ap;
    const double error = ReconstructionError(model, MatrixColumns(database), context);
    figures.metrics["reconstruction_error"] = error;
    figures.metrics["relative_reconstruction_error"] = error / TotalVariance(database);
    if (show) figures.shown = Show(codes, queries.codes);
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

  MatrixF QueryVectors(const HashModel& model, const MatrixF& database,
                       const RunContext& context) const {
    if (task_.queries != nullptr)
      return VectorsFor(model, *task_.queries, task_.query_set, context);
    return database(Eigen::all, task_.query_images);
  }

  const JointOptions& options_;
  const JointTask& task_;
  RecordTrainer trainer_;
  uint64_t first_seed_;
};

nlohmann::json DescribeAllConstants(const JointOptions& options, JointRunner& runner) {
  nlohmann::json constants = nlohmann::json::object();
  for (const std::string& method : options.methods) {
    constants[method] = DescribeConstants(runner.SettingsOf(method));
  }
  return constants;
}

}  // namespace

void JointOptions::TakeMuOfRba() {
  const auto rba = constants.find("rba");
  if (rba == constants.end()) return;
  const auto found = rba->second.options.find("mu");
  if (found != rba->second.options.end()) mu = found->second;
}

void JointOptions::AddOurs() {
  if (!ours) return;
  for (const char* name : {"itq+views", "sav"}) {
    if (std::ranges::find(methods, name) == methods.end()) methods.emplace_back(name);
  }
}

void JointOptions::Validate() const {
  Comparison::Validate(NeedsNoLabels);
  if (!(mu > 0)) throw Error(ErrorCode::kInvalidArgument, "expected a positive mu");
}

Experiment RunJointExperiment(const JointOptions& options, const JointTask& task,
                              const RunContext& context) {
  options.Validate();
  JointRunner runner(options, task, context);
  Experiment experiment;
  experiment.name = "joint";
  experiment.title = "Aggregating and hashing learned together";
  experiment.settings = DescribeComparison(options, context);
  experiment.settings["protocol"] = task.protocol.Describe();
  experiment.settings["local_features"] = task.normalise ? "unit length" : "as they are";
  experiment.settings["constants"] = DescribeAllConstants(options, runner);
  experiment.data = {{"training_images", task.training.size()},
                     {"database_images", task.database.size()},
                     {"queries", task.truth.query_count()},
                     {"dimension", task.training.dimension()}};
  if (task.views != nullptr) {
    experiment.data["pictures_with_views"] = task.views->pictures();
    experiment.data["views"] = task.views->images_per_picture() - 1;
  }
  experiment.machine = DescribeMachine(FactsOfThisMachine(context));
  RunComparison(options, {}, runner, context, experiment);
  return experiment;
}

std::string OursAreApart() {
  return "Methods with +views and SAV learn from views of the training pictures, which the paper's "
         "methods do not see: they are Bitpool's own.";
}

std::string JointReport(const Experiment& experiment) {
  std::string lead =
      "SAH learns how to aggregate the local features of an image together with the binary code; "
      "the other methods hash the vectors of generalised max pooling.";
  if (experiment.data.contains("views")) lead += " " + OursAreApart();
  Report report(experiment.title, lead);
  const auto table = [&](const char* metric, const char* format, bool higher, const char* caption) {
    ReportTable made = TableOf(experiment, metric, format, higher);
    made.caption = caption;
    report.AddTable(made);
  };
  report.AddSection("Accuracy");
  report.AddChart(RenderSvg(ChartOf(experiment, kMap, "mAP over the length of the codes",
                                    "mAP, percent", {"sah"})),
                  "Mean over the seeds; bars show the standard deviation.");
  AddMapTable(experiment, "mAP in percent, mean ± standard deviation over the seeds", report);
  report.AddSection("Reconstruction");
  report.AddChart(RenderSvg(ChartOf(experiment, "relative_reconstruction_error",
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
