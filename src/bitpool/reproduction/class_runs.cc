#include <fmt/format.h>

#include <memory>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/experiments/class_retrieval.h"
#include "bitpool/experiments/supervised_experiment.h"
#include "bitpool/pictures/extract_pictures.h"
#include "bitpool/reproduction/plan.h"
#include "bitpool/samples/retrieval_splits.h"

namespace bitpool {
namespace {

// The paper's tables of CIFAR-10 have no BA.
const std::vector<std::string> kClassMethods = {"sah", "rba", "itq", "kmh", "sph"};
const std::vector<std::string> kSupervisedMethods = {"sash", "sdh", "ksh", "bre", "cca-itq"};
constexpr Index kNusWideClasses = 21;
constexpr Index kTop = 1000;

std::string LayerText(const NetworkUse& use) {
  if (use.reduced == 0) return use.options.layer;
  return fmt::format("{} reduced to {}", use.options.layer, use.reduced);
}

CnnFeatures LoadClasses(const ReproductionPlan& plan, const std::string& set, const RunSite& site,
                        const ViewPlan& views = {}) {
  return LoadCnnFeatures(site.env,
                         {.set = set,
                          .folder = plan.data.public_sets,
                          .network = plan.data.network,
                          .options = plan.ClassesAt(kGlobalSize),
                          .reduced = plan.data.classes.reduced,
                          .limit = plan.sizes.class_pictures,
                          .views = views,
                          .with_views = plan.sizes.pictures_with_views},
                         site.context, site.say);
}

// CIFAR-10 without labels: its own parts and the first results (tab:deepbit), or queries of every
// class against all other pictures and all results (tab:SADH).
ClassRetrievalOptions ClassOptions(const ReproductionPlan& plan, const std::string& name,
                                   Index top) {
  ClassRetrievalOptions options;
  options.joint.bits = plan.sizes.class_bits;
  options.joint.seeds = plan.sizes.class_seeds;
  options.joint.methods = kClassMethods;
  options.top = top;
  options.own_parts = top > 0;
  options.queries = plan.sizes.class_queries;
  options.queries_per_class = plan.sizes.queries_per_class;
  options.tune = plan.sizes.tune;
  options.memory = plan.sizes.memory;
  options.scratch = plan.data.work / fmt::format("reproduction-{}", name);
  return options;
}

RunSpec Classes(const ReproductionPlan& plan, const std::string& name, Index top) {
  const ClassRetrievalOptions options = ClassOptions(plan, name, top);
  return {.name = name,
          .settings = plan.Settings({{"set", "cifar10"},
                                     {"network", plan.network},
                                     {"layer", LayerText(plan.data.classes)},
                                     {"methods", kClassMethods},
                                     {"bits", options.joint.bits},
                                     {"seeds", options.joint.seeds},
                                     {"pictures", plan.sizes.class_pictures},
                                     {"queries", options.queries},
                                     {"queries_per_class", options.queries_per_class},
                                     {"top", top}}),
          .needs = {"cifar10", "network"},
          .after = {},
          .minutes = plan.Minutes(0.3, 14),
          .make = [plan, options](const RunSite& site) {
            ClassRetrievalOptions with_store = options;
            with_store.joint.figures = &site.figures;
            site.env.MakeFolders(plan.data.work);
            return RunClassRetrieval(site.env, with_store,
                                     Labelled(LoadClasses(plan, "cifar10", site)), site.context);
          }};
}

// μ that another run chose on training data for the vectors of those that only hash.
double MuOf(const RunSite& site, const std::string& run) {
  return site.result_of(run).settings.at("constants").at("itq").at("mu").get<double>();
}

// CIFAR-10 without labels by methods that learn from views of training pictures; with μ of another
// run, where one is named.
RunSpec ClassesWithViews(const ReproductionPlan& plan, const std::string& name,
                         const std::vector<std::string>& methods, const std::string& mu_of = "") {
  RunSpec run = Classes(plan, "cifar-top1000", kTop);
  ClassRetrievalOptions options = ClassOptions(plan, name, kTop);
  options.joint.methods = methods;
  options.joint.ours = false;  // those that are wanted are named
  run.name = name;
  if (!mu_of.empty()) run.after = {mu_of};
  run.settings["methods"] = options.joint.methods;
  run.settings["views"] = DescribeViews(plan.Views(ViewKind::kClasses));
  run.settings["with_views"] = plan.sizes.pictures_with_views;
  run.minutes = plan.Minutes(0.5, 30);
  run.make = [plan, options, mu_of](const RunSite& site) {
    ClassRetrievalOptions with_store = options;
    with_store.joint.figures = &site.figures;
    if (!mu_of.empty()) with_store.joint.mu = MuOf(site, mu_of);
    site.env.MakeFolders(plan.data.work);
    return RunClassRetrieval(
        site.env, with_store,
        Labelled(LoadClasses(plan, "cifar10", site, plan.Views(ViewKind::kClasses))), site.context);
  };
  return run;
}

// The deep methods of the paper's tables of CIFAR-10, as heads on the same vectors as the others,
// which `peers` has pooled with a μ chosen on training data.
RunSpec ClassHeads(const ReproductionPlan& plan, const std::string& peers, Index top,
                   const std::vector<std::string>& methods) {
  RunSpec run = Classes(plan, peers, top);
  ClassRetrievalOptions options = ClassOptions(plan, peers + "-deep", top);
  options.joint.methods = methods;
  options.tune = false;
  run.name = peers + "-deep";
  run.settings["methods"] = methods;
  run.after = {peers};
  run.minutes = plan.Minutes(0.5, 15);
  run.make = [plan, options, peers](const RunSite& site) {
    ClassRetrievalOptions with_store = options;
    with_store.joint.figures = &site.figures;
    with_store.joint.mu = MuOf(site, peers);
    site.env.MakeFolders(plan.data.work);
    return RunClassRetrieval(site.env, with_store, Labelled(LoadClasses(plan, "cifar10", site)),
                             site.context);
  };
  return run;
}

LabelledImages LoadLabelled(const ReproductionPlan& plan, const std::string& set,
                            const RunSite& site) {
  if (set != "nus-wide") return Labelled(LoadClasses(plan, set, site));
  return {.name = set,
          .features = plan.data.nus_wide.string(),
          .images = OpenPictures(site.env, plan.data.nus_wide),
          .labels = KeepFrequentClasses(LoadLabels(site.env, plan.data.nus_wide_labels),
                                        kNusWideClasses)};
}

RunSpec Supervised(const ReproductionPlan& plan, const std::string& set,
                   SupervisedSetting setting) {
  const bool unseen = setting == SupervisedSetting::kUnseen;
  SupervisedOptions options;
  options.setting = setting;
  options.bits = plan.sizes.supervised_bits;
  options.methods = kSupervisedMethods;
  options.seeds = unseen ? plan.sizes.unseen_seeds : plan.sizes.supervised_seeds;
  options.split.queries_per_class = plan.sizes.queries_per_class;
  options.split.training_per_class = plan.sizes.training_per_class;
  options.tune = plan.sizes.tune;
  options.memory = plan.sizes.memory;
  options.scratch = plan.data.work / "reproduction-supervised.records";
  std::vector<std::string> needs = {set};
  if (set != "nus-wide") needs.emplace_back("network");
  return {.name = fmt::format("sash-{}-{}", set, unseen ? "unseen" : "traditional"),
          .settings = plan.Settings({{"set", set},
                                     {"unseen", unseen},
                                     {"network", set == "nus-wide" ? "" : plan.network},
                                     {"files", plan.nus_wide_labels},
                                     {"layer", LayerText(plan.data.classes)},
                                     {"methods", options.methods},
                                     {"bits", options.bits},
                                     {"seeds", options.seeds},
                                     {"pictures", plan.sizes.class_pictures},
                                     {"queries_per_class", plan.sizes.queries_per_class},
                                     {"training_per_class", plan.sizes.training_per_class}}),
          .needs = needs,
          .after = {},
          .minutes = plan.Minutes(0.3, unseen ? 27 : 12),
          .make = [plan, set, options](const RunSite& site) {
            SupervisedOptions with_store = options;
            with_store.figures = &site.figures;
            site.env.MakeFolders(plan.data.work);
            return RunSupervisedExperiment(site.env, with_store, LoadLabelled(plan, set, site),
                                           site.context);
          }};
}

}  // namespace

std::vector<RunSpec> ClassRuns(const ReproductionPlan& plan) {
  std::vector<RunSpec> runs = {
      Classes(plan, "cifar-top1000", kTop),
      ClassHeads(plan, "cifar-top1000", kTop, {"deepbit", "graphbit"}),
      Classes(plan, "cifar-all", 0),
      ClassHeads(plan, "cifar-all", 0, {"sadh"}),
      ClassesWithViews(plan, "cifar-views", {"sah", "rba", "itq", "itq+views", "rba+views", "sav"}),
      ClassesWithViews(plan, "cifar-views-deep", {"cibhash", "deepbit"}, "cifar-views")};
  for (const char* set : {"cifar10", "mnist", "nus-wide"}) {
    runs.push_back(Supervised(plan, set, SupervisedSetting::kTraditional));
    runs.push_back(Supervised(plan, set, SupervisedSetting::kUnseen));
  }
  return runs;
}

}  // namespace bitpool
