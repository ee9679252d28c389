#include <algorithm>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/experiments/machine.h"
#include "bitpool/experiments/retrieval_experiment.h"
#include "bitpool/experiments/unsupervised_experiment.h"
#include "bitpool/reproduction/plan.h"

namespace bitpool {
namespace {

const std::vector<std::string> kVectorMethods = {"rba", "ba", "itq", "kmh", "sph"};

// SIFT1M where it is, else the descriptors of the pictures at hand.
VectorSet LoadVectors(const ReproductionPlan& plan, const std::string& set, const RunSite& site) {
  if (set != "sift") {
    return LoadVectorSet(site.env, set, plan.data.public_sets, site.context, site.say);
  }
  if (!plan.data.sift1m.empty()) return LoadSift1M(site.env, plan.data.sift1m);
  const PictureDescriber describer = PictureDescriber::Open(site.env, {});
  const FeatureFile training =
      KeptPictureFeatures(site.env, describer, plan.data.pictures / "train", "training",
                          plan.sizes.training_pictures, plan.data.work, site.context, site.say);
  const FeatureFile asking =
      KeptPictureFeatures(site.env, describer, plan.data.pictures / "holidays", "holidays",
                          plan.sizes.searched_pictures, plan.data.work, site.context, site.say);
  return SiftSetOf(training, asking, plan.sizes.sift, site.context);
}

UnsupervisedOptions VectorOptions(const ReproductionPlan& plan, const VectorSet& set) {
  UnsupervisedOptions options;
  options.bits = plan.sizes.vector_bits;
  options.methods = kVectorMethods;
  options.seeds = plan.sizes.vector_seeds;
  options.queries = std::min(plan.sizes.vector_queries, set.test.cols());
  options.limit = plan.sizes.vectors;
  options.surface = false;
  if (set.database.size() > 0) {  // SIFT1M: one in a hundred is right, and as many results count
    options.limit = 0;
    options.neighbours = std::max<Index>(1, set.database.cols() / 100);
    options.top = options.neighbours;
  }
  return options;
}

nlohmann::json VectorSettings(const ReproductionPlan& plan, const std::string& set) {
  nlohmann::json settings = {{"set", set},
                             {"bits", plan.sizes.vector_bits},
                             {"seeds", plan.sizes.vector_seeds},
                             {"vectors", plan.sizes.vectors},
                             {"queries", plan.sizes.vector_queries}};
  if (set == "sift") {
    settings["files"] = plan.data.sift1m.empty() ? plan.train + " " + plan.holidays : "sift1m";
    settings["sizes"] = {plan.sizes.sift.training, plan.sizes.sift.database,
                         plan.sizes.sift.queries, plan.sizes.training_pictures,
                         plan.sizes.searched_pictures};
  }
  return plan.Settings(settings);
}

Experiment MakeConstants(const ReproductionPlan& plan, const std::string& set,
                         const RunSite& site) {
  const VectorSet vectors = LoadVectors(plan, set, site);
  UnsupervisedOptions options = VectorOptions(plan, vectors);
  if (vectors.database.size() > 0) {  // the training vectors are searched here
    options.neighbours = options.top = std::max<Index>(1, vectors.train.cols() / 100);
  }
  const HeatMap surface = MeasureRbaSurface(options, vectors, site.context);
  Index beta = 0, lambda = 0;
  const double best = surface.values.maxCoeff(&beta, &lambda);
  Experiment experiment;
  experiment.name = "constants";
  experiment.title = "Constants of RBA: " + vectors.name;
  experiment.settings = {{"bits", 32}, {"seed", site.context.seed()}};
  experiment.data = {{"set", vectors.name},
                     {"features", vectors.features},
                     {"training", vectors.train.cols()},
                     {"queries", "training vectors held out"}};
  std::vector<std::vector<double>> rows;
  for (Index row = 0; row < surface.values.rows(); ++row) {
    rows.emplace_back(surface.values.row(row).begin(), surface.values.row(row).end());
  }
  experiment.data["surface"] = {
      {"lambda", surface.x_values}, {"beta", surface.y_values}, {"mAP", rows}};
  experiment.data["best"] = {{"lambda", surface.x_values[static_cast<size_t>(lambda)]},
                             {"beta", surface.y_values[static_cast<size_t>(beta)]}};
  experiment.machine = DescribeMachine(FactsOfThisMachine(site.context));
  experiment.results.push_back(SummariseRuns("rba", 32, "held_out_mAP", {best}));
  return experiment;
}

RunSpec Constants(const ReproductionPlan& plan, const std::string& set) {
  return {.name = "constants-" + set,
          .settings = VectorSettings(plan, set),
          .needs = {set},
          .after = {},
          .minutes = plan.Minutes(0.1, 1),
          .make = [plan, set](const RunSite& site) { return MakeConstants(plan, set, site); }};
}

RunSpec Unsupervised(const ReproductionPlan& plan, const std::string& set) {
  std::vector<std::string> after;
  if (plan.sizes.tune) after.push_back("constants-" + set);
  return {.name = "unsupervised-" + set,
          .settings = VectorSettings(plan, set),
          .needs = {set},
          .after = after,
          .minutes = set == "mnist" ? plan.Minutes(0.5, 18) : plan.Minutes(0.5, 4),
          .make = [plan, set](const RunSite& site) {
            const VectorSet vectors = LoadVectors(plan, set, site);
            UnsupervisedOptions options = VectorOptions(plan, vectors);
            options.figures = &site.figures;
            if (plan.sizes.tune) {
              const nlohmann::json best = site.result_of("constants-" + set).data.at("best");
              options.constants["rba"].options = {{"lambda", best.at("lambda").get<double>()},
                                                  {"beta", best.at("beta").get<double>()}};
            }
            return RunUnsupervisedExperiment(options, vectors, site.context).experiment;
          }};
}

}  // namespace

std::vector<RunSpec> VectorRuns(const ReproductionPlan& plan) {
  std::vector<RunSpec> runs;
  for (const char* set : {"cifar10", "mnist", "sift"}) {
    runs.push_back(Constants(plan, set));
    runs.push_back(Unsupervised(plan, set));
  }
  return runs;
}

}  // namespace bitpool
