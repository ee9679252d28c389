// The entries of the methods that learn how to pool local features together with the codes.
#include "bitpool/hash/sah.h"
#include "bitpool/hash/sash.h"
#include "bitpool/training/method_entries.h"

namespace bitpool {
namespace {

// The options of the loop that SAH and SASH share.
OptionTable<SahOptions> LoopOptions() {
  OptionTable<SahOptions> pooling;
  pooling.Add("mu", &SahOptions::mu, kMuHelp, Positive())
      .Add("normalise", &SahOptions::normalise, kNormaliseHelp)
      .OfPooling();
  return OptionTable<SahOptions>()
      .Add("bits", &SahOptions::bits, kBitsHelp, kBitsRange)
      .Add("iterations", &SahOptions::iterations, kIterationsHelp, AtLeast(1))
      .Add(
          "lambda", [](auto& options) -> auto& { return options.rba.lambda; }, kLambdaHelp,
          Positive())
      .Add(
          "beta", [](auto& options) -> auto& { return options.rba.beta; }, kBetaHelp, Positive())
      .Add("gamma", &SahOptions::gamma, kGammaHelp, Positive())
      .AddPart(
          pooling, [](auto& options) -> auto& { return options; });
}

OptionTable<KernelCodeOptions> KernelTable() {
  return OptionTable<KernelCodeOptions>()
      .Add("anchors", &KernelCodeOptions::anchors, kAnchorsHelp, AtLeast(0))
      .Add("kernel_width", &KernelCodeOptions::width, kKernelWidthHelp, Positive())
      .Add("kernel_ridge", &KernelCodeOptions::ridge, kKernelRidgeHelp, Positive())
      .Add("kernel_vectors", &KernelCodeOptions::vectors, kKernelVectorsHelp, AtLeast(0));
}

TunePlan SahTuning() {
  return {.stages = {{{"mu", {1, 10, 100}},
                      {"lambda", {0.01, 0.1}},
                      {"beta", {0.0005, 0.005, 0.05}, "lambda"},
                      {"gamma", {1, 3, 10}}}},
          .moves = {{"lambda", "beta"}, {"beta"}, {"gamma"}, {"mu"}}};
}

// SASH has one constant more than SAH, so it is tuned in stages; γ and μ over the ranges that the
// paper searches (section VII). Then a kernel is tried, with as many anchors as SDH has, against
// the best of the linear ones: it is chosen where it scores above all of them, with codes of the
// labels alone or of the vectors too. How much the vectors count, and more anchors, are tried last.
TunePlan SashTuning() {
  return {.stages = {{{"mu", kLabelledMus}, {"gamma", {0.1, 1, 10}}},
                     {{"lambda", {1e-4, 1e-3, 1e-2}}, {"beta", {1e-3, 1e-2, 1e-1}, "lambda"}},
                     {{"alpha", {0.01, 0.03, 0.1, 0.3, 1}}},
                     {{"anchors", {1000}},
                      {"kernel_vectors", {0, 1}},
                      {"kernel_ridge", {1e-8, 1e-7, 1e-6, 1e-5, 1e-4}}},
                     {{"kernel_vectors", {0, 0.5, 1, 2, 4}}},
                     {{"anchors", {1000, 3000}}}},
          .moves = {{"lambda", "beta"}, {"beta"}, {"gamma"}, {"mu"}, {"alpha"}}};
}

}  // namespace

Method SahMethod() {
  return MethodOfLocalFeatures<SahOptions>(
      {.name = "sah",
       .title = "Simultaneous Aggregating and Hashing",
       .publication = "Do et al., 2019",
       .encoder = LinearEncoders(),
       .tune = SahTuning()},
      {.options = LoopOptions(),
       .train =
           [](const SahOptions& options, RecordSamples samples, const RunContext& context) {
             return TrainSah(options, samples.records, context, std::move(samples.run),
                             samples.whitening);
           },
       .train_on_shards =
           [](const SahOptions& options, Shards& shards, const RunContext& context) {
             return TrainSah(options, shards, context);
           },
       .presets = {{std::string(kPaperPreset), SahOptions::Paper}}});
}

Method SashMethod() {
  return MethodOfLocalFeatures<SashOptions>(
      {.name = "sash",
       .title = "Simultaneous Aggregating and Supervised Hashing",
       .publication = "Do et al., 2019",
       .needs_labels = true,
       .encoder = LinearEncoders(),  // without anchors
       .tune = SashTuning()},
      {.options = OptionTable<SashOptions>()
                      .AddPart(
                          LoopOptions(), [](auto& options) -> auto& { return options.joint; })
                      .Add("alpha", &SashOptions::alpha, kAlphaHelp, Positive())
                      .AddPart(
                          KernelTable(), [](auto& options) -> auto& { return options.kernel; }),
       .train =
           [](const SashOptions& options, RecordSamples samples, const RunContext& context) {
             return TrainSash(options, samples.records, *samples.labels, context,
                              std::move(samples.run), samples.whitening);
           },
       .train_on_shards =
           [](const SashOptions& options, Shards& shards, const RunContext& context) {
             return TrainSash(options, shards, context);
           },
       .presets = {{std::string(kPaperPreset), SashOptions::Paper}}});
}

}  // namespace bitpool
