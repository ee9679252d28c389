#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "bitpool/base/version.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/retrieval_splits.h"
#include "bitpool/io/checksum.h"
#include "bitpool/pipeline/class_retrieval.h"
#include "bitpool/pipeline/machine.h"
#include "bitpool/pipeline/picture_files.h"
#include "bitpool/pipeline/reproduction_catalogue.h"
#include "bitpool/pipeline/retrieval_experiment.h"
#include "bitpool/pipeline/step_times.h"
#include "bitpool/pipeline/supervised_experiment.h"
#include "bitpool/pipeline/unsupervised_experiment.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// The methods of section III and V; those beyond the paper are left out.
const std::vector<std::string> kVectorMethods = {"rba", "ba", "itq", "kmh", "sph"};
const std::vector<std::string> kJointMethods = {"sah", "rba", "ba", "itq", "kmh", "sph"};
const std::vector<std::string> kSupervisedMethods = {"sash", "sdh", "ksh", "bre", "cca-itq"};
constexpr int kGlobalSize = 224;  // pixels a network sees for a global vector, as it was trained
constexpr int kStepSize = 608;    // pixels that give the paper's 37 × 37 local features
constexpr Index kNusWideClasses = 21;
constexpr Index kTop = 1000;

std::string Digest(const std::string& text) {
  return ContentDigest(std::as_bytes(std::span(text))).substr(0, 12);
}

// Tells the files of a folder of pictures; nothing for a folder that is not here.
std::string DigestOfPictures(Env& env, const fs::path& folder, const RunContext& context) {
  if (folder.empty() || !env.IsFolder(folder)) return "";
  std::string text;
  for (const FoundPicture& picture : FindPictures(folder, context)) {
    text += fmt::format("{} {}\n", picture.path, picture.size);
  }
  return Digest(text);
}

std::string DigestOfFile(Env& env, const fs::path& file) {
  if (file.empty() || !env.Exists(file)) return "";
  return ContentDigest(env.Map(file)->bytes()).substr(0, 12);
}

// Makes the runs of the catalogue. The functions it gives keep copies of what they need.
class RunMaker {
 public:
  RunMaker(Env& env, ReproductionData data, ReproductionSizes sizes, const RunContext& context)
      : env_(env),
        data_(std::move(data)),
        sizes_(std::move(sizes)),
        seed_(context.seed()),
        network_(DigestOfFile(env, data_.network.definition) + " " +
                 DigestOfFile(env, data_.network.weights)),
        holidays_(DigestOfPictures(env, data_.pictures / "holidays", context)),
        train_(DigestOfPictures(env, data_.pictures / "train", context)),
        oxford_(DigestOfPictures(env, data_.oxford, context)),
        paris_(DigestOfPictures(env, data_.paris, context)) {}

  std::vector<RunSpec> Make() const {
    std::vector<RunSpec> runs;
    for (const char* set : {"cifar10", "mnist", "sift"}) {
      runs.push_back(Constants(set));
      runs.push_back(Unsupervised(set));
    }
    for (const char* features : {"sift", "cnn", "fc"}) {
      runs.push_back(Pictures("holidays", features));
      runs.push_back(Pictures("oxford5k", features));
    }
    runs.push_back(Classes("cifar-top1000", kTop));
    runs.push_back(Classes("cifar-all", 0));
    runs.push_back(StepTime());
    for (const char* set : {"cifar10", "mnist", "nus-wide"}) {
      runs.push_back(Supervised(set, SupervisedSetting::kTraditional));
      runs.push_back(Supervised(set, SupervisedSetting::kUnseen));
    }
    for (RunSpec& run : runs) run.make = SayingHowConstantsWereChosen(run.make);
    return runs;
  }

 private:
  std::function<Experiment(const RunSite&)> SayingHowConstantsWereChosen(
      const std::function<Experiment(const RunSite&)>& make) const {
    const char* how = sizes_.tune
                          ? "RBA, SAH and SASH: by validation on training data alone, where "
                            "there is more than one local feature; others: as published"
                          : "the defaults";
    return [make, how](const RunSite& site) {
      Experiment experiment = make(site);
      experiment.settings["choice_of_constants"] = how;
      return experiment;
    };
  }

  // What every run depends on.
  nlohmann::json Settings(const nlohmann::json& more) const {
    nlohmann::json settings = {{"bitpool", Version()}, {"seed", seed_}, {"tune", sizes_.tune}};
    settings.update(more);
    return settings;
  }

  double Minutes(double quick, double full) const { return sizes_.quick ? quick : full; }

  // SIFT1M where it is, else the descriptors of the pictures at hand.
  VectorSet LoadVectors(const std::string& set, const RunSite& site) const {
    if (set != "sift") {
      return LoadVectorSet(site.env, set, data_.public_sets, site.context, site.say);
    }
    if (!data_.sift1m.empty()) return LoadSift1M(site.env, data_.sift1m);
    const PictureDescriber describer = PictureDescriber::Open(site.env, {});
    const FeatureFile training =
        KeptPictureFeatures(site.env, describer, data_.pictures / "train", "training",
                            sizes_.training_pictures, data_.work, site.context, site.say);
    const FeatureFile asking =
        KeptPictureFeatures(site.env, describer, data_.pictures / "holidays", "holidays",
                            sizes_.searched_pictures, data_.work, site.context, site.say);
    return SiftSetOf(training, asking, sizes_.sift, site.context);
  }

  UnsupervisedOptions VectorOptions(const VectorSet& set) const {
    UnsupervisedOptions options;
    options.bits = sizes_.vector_bits;
    options.methods = kVectorMethods;
    options.seeds = sizes_.vector_seeds;
    options.queries = std::min(sizes_.vector_queries, set.test.cols());
    options.limit = sizes_.vectors;
    options.surface = false;
    if (set.database.size() > 0) {  // SIFT1M: one in a hundred is right, and as many results count
      options.limit = 0;
      options.neighbours = std::max<Index>(1, set.database.cols() / 100);
      options.top = options.neighbours;
    }
    return options;
  }

  nlohmann::json VectorSettings(const std::string& set) const {
    nlohmann::json settings = {{"set", set},
                               {"bits", sizes_.vector_bits},
                               {"seeds", sizes_.vector_seeds},
                               {"vectors", sizes_.vectors},
                               {"queries", sizes_.vector_queries}};
    if (set == "sift") {
      settings["files"] = data_.sift1m.empty() ? train_ + " " + holidays_ : "sift1m";
      settings["sizes"] = {sizes_.sift.training, sizes_.sift.database, sizes_.sift.queries,
                           sizes_.training_pictures, sizes_.searched_pictures};
    }
    return Settings(settings);
  }

  RunSpec Constants(const std::string& set) const {
    return {
        .name = "constants-" + set,
        .settings = VectorSettings(set),
        .needs = {set},
        .after = {},
        .minutes = Minutes(0.5, 5),
        .make = [self = *this, set](const RunSite& site) { return self.MakeConstants(set, site); }};
  }

  Experiment MakeConstants(const std::string& set, const RunSite& site) const {
    const VectorSet vectors = LoadVectors(set, site);
    UnsupervisedOptions options = VectorOptions(vectors);
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

  RunSpec Unsupervised(const std::string& set) const {
    std::vector<std::string> after;
    if (sizes_.tune) after.push_back("constants-" + set);
    return {.name = "unsupervised-" + set,
            .settings = VectorSettings(set),
            .needs = {set},
            .after = after,
            .minutes = set == "mnist" ? Minutes(0.5, 25) : Minutes(0.5, 15),
            .make = [self = *this, set](const RunSite& site) {
              const VectorSet vectors = self.LoadVectors(set, site);
              UnsupervisedOptions options = self.VectorOptions(vectors);
              options.figures = &site.figures;
              if (self.sizes_.tune) {
                const nlohmann::json best = site.result_of("constants-" + set).data.at("best");
                options.constants["rba"].lambda = best.at("lambda").get<double>();
                options.constants["rba"].beta = best.at("beta").get<double>();
              }
              return RunUnsupervisedExperiment(options, vectors, site.context).experiment;
            }};
  }

  CnnOptions NetworkOptions(const std::string& layer, int size) const {
    CnnOptions options;
    options.layer = layer;
    options.size = size;
    return options;
  }

  RetrievalOptions PictureOptions(const std::string& features) const {
    RetrievalOptions options;
    options.joint.bits = sizes_.picture_bits;
    options.joint.seeds = sizes_.picture_seeds;
    options.joint.methods = kJointMethods;
    options.joint.shown = 5;
    options.extractor.kind = features == "sift" ? "hesaff" : "cnn";
    if (features != "sift") {
      const bool local = features == "cnn";
      options.extractor.network = data_.network;
      options.extractor.cnn = NetworkOptions(local ? data_.layer : data_.global_layer,
                                             local ? sizes_.picture_size : kGlobalSize);
      // A global vector has nothing to be aggregated: SAH stays with the local features.
      if (!local) options.joint.methods.erase(options.joint.methods.begin());
    }
    options.sample = sizes_.embedding_sample;
    options.limit = sizes_.training_pictures;
    options.searched = sizes_.searched_pictures;
    options.memory = sizes_.memory;
    options.work = data_.work;
    // `Tune` asks with a part of an image's local features; a global vector has no parts.
    options.tune = sizes_.tune && features != "fc";
    options.tune_pictures = sizes_.tune_pictures;
    return options;
  }

  RunSpec Pictures(const std::string& set, const std::string& features) const {
    const bool holidays = set == "holidays";
    const RetrievalOptions options = PictureOptions(features);
    const RetrievalSet pictures{.name = set,
                                .pictures = holidays ? data_.pictures / "holidays" : data_.oxford,
                                .truth = holidays ? fs::path() : data_.oxford_truth,
                                .training = holidays ? data_.pictures / "train" : data_.paris};
    std::vector<std::string> needs = {holidays ? "pictures" : "oxford"};
    if (features != "sift") needs.emplace_back("network");
    nlohmann::json settings = {{"set", set},
                               {"extractor", DescribeExtractor(options.extractor)},
                               {"pictures", holidays ? holidays_ : oxford_},
                               {"training", holidays ? train_ : paris_},
                               {"methods", options.joint.methods},
                               {"bits", options.joint.bits},
                               {"seeds", options.joint.seeds},
                               {"sample", options.sample},
                               {"limits", {options.limit, options.searched}},
                               {"tune_pictures", options.tune_pictures}};
    if (features != "sift") settings["network"] = network_;
    return {.name = set + "-" + features,
            .settings = Settings(settings),
            .needs = needs,
            .after = {},
            .minutes = features == "sift"  ? Minutes(3, 150)
                       : features == "cnn" ? Minutes(1, 75)
                                           : Minutes(0.5, 15),
            .make = [options, pictures](const RunSite& site) {
              RetrievalOptions with_store = options;
              with_store.joint.figures = &site.figures;
              return RunRetrievalExperiment(site.env, with_store, pictures, site.context, site.say);
            }};
  }

  CnnFeatures LoadClasses(const std::string& set, const RunSite& site) const {
    return LoadCnnFeatures(site.env,
                           {.set = set,
                            .folder = data_.public_sets,
                            .network = data_.network,
                            .options = NetworkOptions(data_.layer, kGlobalSize),
                            .limit = sizes_.class_pictures},
                           site.context, site.say);
  }

  // CIFAR-10 without labels: its own parts and the first results (tab:deepbit), or queries of every
  // class against all other pictures and all results (tab:SADH).
  RunSpec Classes(const std::string& name, Index top) const {
    ClassRetrievalOptions options;
    options.joint.bits = sizes_.class_bits;
    options.joint.seeds = sizes_.class_seeds;
    options.joint.methods = kJointMethods;
    options.top = top;
    options.own_parts = top > 0;
    options.queries = sizes_.class_queries;
    options.queries_per_class = sizes_.queries_per_class;
    options.tune = sizes_.tune;
    options.memory = sizes_.memory;
    options.scratch = data_.work / fmt::format("reproduction-{}", name);
    return {.name = name,
            .settings = Settings({{"set", "cifar10"},
                                  {"network", network_},
                                  {"layer", data_.layer},
                                  {"methods", kJointMethods},
                                  {"bits", options.joint.bits},
                                  {"seeds", options.joint.seeds},
                                  {"pictures", sizes_.class_pictures},
                                  {"queries", options.queries},
                                  {"queries_per_class", options.queries_per_class},
                                  {"top", top}}),
            .needs = {"cifar10", "network"},
            .after = {},
            .minutes = Minutes(1, 60),
            .make = [self = *this, options](const RunSite& site) {
              ClassRetrievalOptions with_store = options;
              with_store.joint.figures = &site.figures;
              site.env.MakeFolders(self.data_.work);
              return RunClassRetrieval(site.env, with_store,
                                       Labelled(self.LoadClasses("cifar10", site)), site.context);
            }};
  }

  RunSpec StepTime() const {
    ExtractorSettings extractor;
    extractor.kind = "cnn";
    extractor.network = data_.network;
    extractor.cnn = NetworkOptions(data_.layer, kStepSize);
    const StepTimeOptions options{.pictures = sizes_.step_pictures, .bits = sizes_.step_bits};
    return {
        .name = "step-time",
        .settings = Settings({{"network", network_},
                              {"extractor", DescribeExtractor(extractor)},
                              {"pictures", options.pictures},
                              {"bits", options.bits},
                              {"files", holidays_}}),
        .needs = {"pictures", "network"},
        .after = {},
        .minutes = Minutes(0.3, 1),
        .make = [extractor, options, folder = data_.pictures / "holidays"](const RunSite& site) {
          return MeasureStepTimes(options, PictureDescriber::Open(site.env, extractor), folder,
                                  site.context);
        }};
  }

  LabelledImages LoadLabelled(const std::string& set, const RunSite& site) const {
    if (set != "nus-wide") return Labelled(LoadClasses(set, site));
    return {.name = set,
            .features = data_.nus_wide.string(),
            .images = std::make_shared<FeatureFile>(FeatureFile::Open(site.env, data_.nus_wide)),
            .labels =
                KeepFrequentClasses(LoadLabels(site.env, data_.nus_wide_labels), kNusWideClasses)};
  }

  RunSpec Supervised(const std::string& set, SupervisedSetting setting) const {
    const bool unseen = setting == SupervisedSetting::kUnseen;
    SupervisedOptions options;
    options.setting = setting;
    options.bits = sizes_.supervised_bits;
    options.methods = kSupervisedMethods;
    options.seeds = sizes_.supervised_seeds;
    options.split.queries_per_class = sizes_.queries_per_class;
    options.split.training_per_class = sizes_.training_per_class;
    options.tune = sizes_.tune;
    options.memory = sizes_.memory;
    options.scratch = data_.work / "reproduction-supervised.records";
    std::vector<std::string> needs = {set};
    if (set != "nus-wide") needs.emplace_back("network");
    return {.name = fmt::format("sash-{}-{}", set, unseen ? "unseen" : "traditional"),
            .settings = Settings({{"set", set},
                                  {"unseen", unseen},
                                  {"network", set == "nus-wide" ? "" : network_},
                                  {"files", DigestOfFile(env_, data_.nus_wide_labels)},
                                  {"layer", data_.layer},
                                  {"methods", options.methods},
                                  {"bits", options.bits},
                                  {"seeds", options.seeds},
                                  {"pictures", sizes_.class_pictures},
                                  {"queries_per_class", sizes_.queries_per_class},
                                  {"training_per_class", sizes_.training_per_class}}),
            .needs = needs,
            .after = {},
            .minutes = unseen ? Minutes(1, 75) : Minutes(1, 50),
            .make = [self = *this, set, options](const RunSite& site) {
              SupervisedOptions with_store = options;
              with_store.figures = &site.figures;
              site.env.MakeFolders(self.data_.work);
              return RunSupervisedExperiment(site.env, with_store, self.LoadLabelled(set, site),
                                             site.context);
            }};
  }

  Env& env_;
  ReproductionData data_;
  ReproductionSizes sizes_;
  uint64_t seed_;
  std::string network_;                            // digests of the network's files and
  std::string holidays_, train_, oxford_, paris_;  // of the folders of pictures
};

}  // namespace

std::vector<RunSpec> ReproductionRuns(Env& env, const ReproductionData& data,
                                      const ReproductionSizes& sizes, const RunContext& context) {
  return RunMaker(env, data, sizes, context).Make();
}

}  // namespace bitpool
