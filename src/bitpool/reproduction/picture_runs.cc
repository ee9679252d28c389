#include "bitpool/experiments/retrieval_experiment.h"
#include "bitpool/experiments/step_times.h"
#include "bitpool/pictures/extract_pictures.h"
#include "bitpool/reproduction/plan.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Those of section V; others beyond the paper are left out.
const std::vector<std::string> kPictureMethods = {"sah", "rba", "ba", "itq", "kmh", "sph"};
constexpr int kStepSize = 608;  // pixels that give the paper's 37 × 37 local features

RetrievalOptions PictureOptions(const ReproductionPlan& plan, const std::string& features) {
  RetrievalOptions options;
  options.joint.bits = plan.sizes.picture_bits;
  options.joint.seeds = plan.sizes.picture_seeds;
  options.joint.methods = kPictureMethods;
  options.joint.shown = 5;
  options.extractor.kind = features == "sift" ? "hesaff" : "cnn";
  if (features != "sift") {
    const bool local = features == "cnn";
    options.extractor.network = plan.data.network;
    options.extractor.cnn =
        local ? plan.ScenesAt(plan.sizes.picture_size) : plan.GlobalAt(kGlobalSize);
    if (local) options.reduced = plan.data.scenes.reduced;
    // A global vector has nothing to be aggregated: SAH stays with the local features.
    if (!local) options.joint.methods.erase(options.joint.methods.begin());
  }
  options.sample = plan.sizes.embedding_sample;
  options.limit = plan.sizes.training_pictures;
  options.searched = plan.sizes.searched_pictures;
  options.memory = plan.sizes.memory;
  options.work = plan.data.work;
  // `Tune` searches with a part of an image's local features; a global vector has no parts.
  options.tune = plan.sizes.tune && features != "fc";
  return options;
}

// Our own methods, which learn from views of the training pictures, beside the best of the paper's.
RetrievalOptions WithViews(const ReproductionPlan& plan, RetrievalOptions options) {
  options.joint.methods = {"sah", "itq", "itq+views", "rba+views", "sah+views", "sav"};
  options.joint.bits = plan.sizes.view_bits;
  options.views = plan.Views(ViewKind::kScenes);
  return options;
}

RunSpec Pictures(const ReproductionPlan& plan, const std::string& set, const std::string& features,
                 const RetrievalOptions& options) {
  const bool holidays = set == "holidays";
  const RetrievalSet pictures{
      .name = set,
      .pictures = holidays ? plan.data.pictures / "holidays" : plan.data.oxford,
      .truth = holidays ? fs::path() : plan.data.oxford_truth,
      .training = holidays ? plan.data.pictures / "train" : plan.data.paris};
  std::vector<std::string> needs = {holidays ? "pictures" : "oxford"};
  if (features != "sift") needs.emplace_back("network");
  nlohmann::json settings = {{"set", set},
                             {"extractor", DescribeExtractor(options.extractor)},
                             {"pictures", holidays ? plan.holidays : plan.oxford},
                             {"training", holidays ? plan.train : plan.paris},
                             {"methods", options.joint.methods},
                             {"bits", options.joint.bits},
                             {"seeds", options.joint.seeds},
                             {"sample", options.sample},
                             {"limits", {options.limit, options.searched}}};
  if (options.tune) settings["memory"] = options.memory;  // decides how many pictures it tunes with
  if (features != "sift") settings["network"] = plan.network;
  if (options.reduced > 0) settings["reduced"] = options.reduced;
  if (options.views.count > 0) settings["views"] = DescribeViews(options.views);
  const double times = static_cast<double>(1 + options.views.count);  // as many pictures
  return {.name = set + "-" + features + (options.views.count > 0 ? "-views" : ""),
          .settings = plan.Settings(settings),
          .needs = needs,
          .after = {},
          .minutes = times * (features == "sift"  ? plan.Minutes(0.5, 20)
                              : features == "cnn" ? plan.Minutes(0.2, 6)
                                                  : plan.Minutes(0.2, 4)),
          .make = [options, pictures](const RunSite& site) {
            RetrievalOptions with_store = options;
            with_store.joint.figures = &site.figures;
            return RunRetrievalExperiment(site.env, with_store, pictures, site.context, site.say);
          }};
}

RunSpec StepTime(const ReproductionPlan& plan) {
  ExtractorSettings extractor;
  extractor.kind = "cnn";
  extractor.network = plan.data.network;
  extractor.cnn = plan.ScenesAt(kStepSize);
  const StepTimeOptions options{.pictures = plan.sizes.step_pictures, .bits = plan.sizes.step_bits};
  return {
      .name = "step-time",
      .settings = plan.Settings({{"network", plan.network},
                                 {"extractor", DescribeExtractor(extractor)},
                                 {"pictures", options.pictures},
                                 {"bits", options.bits},
                                 {"files", plan.holidays}}),
      .needs = {"pictures", "network"},
      .after = {},
      .minutes = plan.Minutes(0.1, 1),
      .make = [extractor, options, folder = plan.data.pictures / "holidays"](const RunSite& site) {
        StepTimeOptions with_store = options;
        with_store.figures = &site.figures;
        return MeasureStepTimes(site.env, with_store, PictureDescriber::Open(site.env, extractor),
                                folder, site.context);
      }};
}

}  // namespace

std::vector<RunSpec> PictureRuns(const ReproductionPlan& plan) {
  std::vector<RunSpec> runs;
  for (const char* features : {"sift", "cnn", "fc"}) {
    const RetrievalOptions options = PictureOptions(plan, features);
    runs.push_back(Pictures(plan, "holidays", features, options));
    runs.push_back(Pictures(plan, "oxford5k", features, options));
    if (features == std::string("fc")) continue;  // a global vector is not pooled
    runs.push_back(Pictures(plan, "holidays", features, WithViews(plan, options)));
  }
  runs.push_back(StepTime(plan));
  return runs;
}

}  // namespace bitpool
