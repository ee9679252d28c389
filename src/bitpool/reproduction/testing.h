#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/experiments/supervised_experiment.h"
#include "bitpool/experiments/unsupervised_experiment.h"
#include "bitpool/hash/testing.h"
#include "bitpool/reproduction/reproduction.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/training/testing.h"

// A small reproduction for the tests: real experiments on made-up data.
namespace bitpool {

inline VectorSet SmallVectors() {
  VectorSet set;
  set.name = "small";
  set.features = "numbers";
  set.train = ClusteredSamples(8, 400, 1);
  set.test = ClusteredSamples(8, 60, 1).rightCols(40);
  return set;
}

inline UnsupervisedOptions SmallVectorOptions() {
  UnsupervisedOptions options;
  options.bits = {4, 8};
  options.methods = {"rba", "ba", "itq"};
  options.seeds = 3;
  options.queries = 40;
  options.neighbours = 5;
  options.surface = false;
  return options;
}

// Classes of two scenes each, which look no more alike than any two scenes: only labels tell.
inline LabelledImages SmallLabelledImages(Index images = 120) {
  return {.name = "small",
          .features = "numbers",
          .images = std::make_shared<MemoryFeatureSet>(SmallScenes(images, 8, 6, 1)),
          .labels = SceneClasses(images, 6, 3)};
}

inline SupervisedOptions SmallSupervisedOptions() {
  SupervisedOptions options;
  options.methods = {"sash", "sdh", "cca-itq"};
  options.bits = {8};
  options.seeds = 2;
  options.split.queries_per_class = 5;
  options.split.training_per_class = 15;
  return options;
}

// Two runs that can be made, the first of which is used by the second, and one without its data.
inline ReproductionCatalogue SmallCatalogue() {
  ReproductionCatalogue catalogue;
  catalogue.data = {{.name = "numbers", .what = "Numbers", .here = true, .how = ""},
                    {.name = "moon", .what = "The moon", .here = false, .how = "fly there"}};
  catalogue.runs.push_back(
      {.name = "vectors",
       .settings = {{"bits", {4, 8}}},
       .needs = {"numbers"},
       .after = {},
       .minutes = 1,
       .make = [](const RunSite& site) {
         UnsupervisedOptions options = SmallVectorOptions();
         options.figures = &site.figures;
         return RunUnsupervisedExperiment(options, SmallVectors(), site.context).experiment;
       }});
  catalogue.runs.push_back({.name = "labels",
                            .settings = {{"bits", {8}}},
                            .needs = {"numbers"},
                            .after = {"vectors"},
                            .minutes = 2,
                            .make = [](const RunSite& site) {
                              site.result_of("vectors");
                              SupervisedOptions options = SmallSupervisedOptions();
                              options.figures = &site.figures;
                              return RunSupervisedExperiment(site.env, options,
                                                             SmallLabelledImages(), site.context);
                            }});
  catalogue.runs.push_back({.name = "craters",
                            .settings = {},
                            .needs = {"numbers", "moon"},
                            .after = {},
                            .minutes = 100,
                            .make = [](const RunSite&) { return Experiment(); }});
  catalogue.entries = {
      {.name = "time",
       .paper = "fig:time-rba-ba",
       .title = "Times",
       .differs = "Smaller.",
       .parts = {{.heading = "Numbers",
                  .kind = EntryKind::kTime,
                  .lines = {{.run = "vectors"}},
                  .emphasised = "rba"}}},
      {.name = "accuracy",
       .paper = "fig:rba-soa",
       .title = "Accuracy of <RBA> & others",
       .differs = "Smaller.",
       .parts = {{.heading = "Numbers", .lines = {{.run = "vectors"}}, .emphasised = "rba"},
                 {.heading = "Craters", .lines = {{.run = "craters"}}}}},
      {.name = "labels",
       .paper = "tab:SASH_cifar",
       .title = "With labels",
       .differs = "Smaller.",
       .parts = {{.heading = "Scenes", .lines = {{.run = "labels"}}, .emphasised = "sash"}}}};
  catalogue.claims.push_back(
      {.name = "rba-above-itq",
       .entry = "accuracy",
       .text = "RBA is above ITQ",
       .rule = "difference of mAP, wanted 0",
       .contrasts = [](const FiguresOfRuns& figures) {
         return Differences(figures, {"vectors", "rba"}, {"vectors", "itq"}, kMap, 0);
       }});
  return catalogue;
}

// Another set in which some images have other descriptors: noise of the same sizes.
class GarbledFeatureSet : public FeatureSet {
 public:
  GarbledFeatureSet(std::shared_ptr<const FeatureSet> set, const std::vector<Index>& garbled)
      : set_(std::move(set)), garbled_(garbled.begin(), garbled.end()) {}

  Index size() const override { return set_->size(); }
  Index dimension() const override { return set_->dimension(); }
  std::string name(Index image) const override { return set_->name(image); }
  Index descriptor_count(Index image) const override { return set_->descriptor_count(image); }
  void Read(Index image, MatrixF& descriptors) const override {
    set_->Read(image, descriptors);
    if (!garbled_.contains(image)) return;
    descriptors = Random(7000 + static_cast<uint64_t>(image))
                      .NormalMatrix(descriptors.rows(), descriptors.cols());
  }

 private:
  std::shared_ptr<const FeatureSet> set_;
  std::set<Index> garbled_;
};

}  // namespace bitpool
