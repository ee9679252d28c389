// The entry of the method that learns from the contrast of views.
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/hash/learned_pooling.h"
#include "bitpool/hash/sav.h"
#include "bitpool/training/method_entries.h"

namespace bitpool {
namespace {

// From what matters most to what matters least; a hidden layer only pays with many pictures. With
// few pictures of many dimensions the contrast learns the pictures by heart; few epochs are
// best then.
TunePlan SavTuning() {
  return {.stages = {{{"mu", {1, 10, 100}}, {"epsilon", {0.3, 1, 3}}},
                     {{"temperature", {0.05, 0.1, 0.2, 0.3, 0.5}}},
                     {{"epochs", {4, 20, 60}}},
                     {{"hidden", {0, 1024}}},
                     {{"views", {2, 4, 0}}},
                     {{"learn_pooling", {0, 1}}}},
          .moves = {}};
}

PoolingLearner SavPooling(const SavOptions& options) {
  if (!options.learn_pooling) return nullptr;
  return [temperature = options.contrast.temperature](
             const PoolingRecipe& first, const LinearMap& start, const FeatureSet& images,
             const RunContext& context) {
    return LearnPooling({.temperature = temperature, .normalise = first.normalise, .mu = first.mu},
                        images, images.images_per_picture(), start, context)
        .recipe;
  };
}

}  // namespace

Method SavMethod() {
  return MethodOfVectors<SavOptions>(
      {.name = "sav",
       .title = "Simultaneous Aggregating and Views",
       .publication = "ours, 2026",
       .needs_views = true,
       .has_contrast = true,
       .encoder = TwoLayerEncoders(),
       .tune = SavTuning()},
      {.options =
           OptionTable<SavOptions>()
               .Add("bits", &SavOptions::bits, kBitsHelp, kBitsRange)
               .Add(
                   "temperature",
                   [](auto& options) -> auto& { return options.contrast.temperature; },
                   "How sharply views are told apart: 0.05 to 0.1 for scenes, 0.3 for classes",
                   AtLeast(kLeastTemperature))
               .Add(
                   "epochs", [](auto& options) -> auto& { return options.contrast.epochs; },
                   "How often every picture is looked at", AtLeast(1))
               .Add(
                   "hidden", [](auto& options) -> auto& { return options.contrast.hidden; },
                   "Units of a hidden layer beside the linear map; 0: none", AtLeast(0))
               .Add("learn_pooling", &SavOptions::learn_pooling,
                    "Learn weights of the local features, and mu, by the same contrast"),
       .train =
           [](const SavOptions& options, const VectorSamples& samples, const RunContext& context) {
             return TrainSav(options, samples.images(), context, samples.run);
           },
       .pooling_learner = SavPooling});
}

}  // namespace bitpool
