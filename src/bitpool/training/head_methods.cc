// The entries of the methods that learn the last layers of a network without labels, while the rest
// of it stays as it is.
#include "bitpool/hash/baselines/cib_hash.h"
#include "bitpool/hash/baselines/deep_bit.h"
#include "bitpool/hash/baselines/graph_bit.h"
#include "bitpool/hash/baselines/similarity_adaptive_hash.h"
#include "bitpool/hash/contrast_loss.h"
#include "bitpool/training/method_entries.h"

namespace bitpool {
namespace {

constexpr const char* kRateHelp = "Learning rate";
constexpr const char* kBatchHelp = "Vectors per step";

OptionTable<DeepBitOptions> DeepBitTable() {
  return OptionTable<DeepBitOptions>()
      .Add("bits", &DeepBitOptions::bits, kBitsHelp, kBitsRange)
      .Add("steps", &DeepBitOptions::steps, "Steps of learning from pictures", AtLeast(1))
      .Add("batch", &DeepBitOptions::batch, kBatchHelp, AtLeast(1))
      .Add("learning_rate", &DeepBitOptions::learning_rate, kRateHelp, Positive())
      .Add("view_steps", &DeepBitOptions::view_steps,
           "Steps of learning from views, where there are some", AtLeast(0))
      .Add("view_weight", &DeepBitOptions::view_weight,
           "Weight of the distance of views from their picture", AtLeast(0));
}

OptionTable<GraphBitOptions> GraphBitTable() {
  return OptionTable<GraphBitOptions>()
      .Add("bits", &GraphBitOptions::bits, kBitsHelp, Between(1, kMostGraphBits))
      .Add("epochs", &GraphBitOptions::epochs,
           "Epochs of learning, before and after edges are chosen", AtLeast(1))
      .Add("edge_epochs", &GraphBitOptions::edge_epochs, "Epochs of choosing edges", AtLeast(0))
      .Add("batch", &GraphBitOptions::batch, kBatchHelp, AtLeast(1))
      .Add("learning_rate", &GraphBitOptions::learning_rate, kRateHelp, Positive())
      .Add(
          "certainty", [](auto& options) -> auto& { return options.weights.certainty; },
          "Weight of bits that are far from the middle", AtLeast(0))
      .Add(
          "fidelity", [](auto& options) -> auto& { return options.weights.fidelity; },
          "Weight of bits that are near what they are without edges", AtLeast(0));
}

OptionTable<SimilarityAdaptiveHashOptions> SadhTable() {
  using Options = SimilarityAdaptiveHashOptions;
  return OptionTable<Options>()
      .Add("bits", &Options::bits, kBitsHelp, kBitsRange)
      .Add("rounds", &Options::rounds, "Rounds of graph, codes and layer", AtLeast(1))
      .Add("epochs", &Options::epochs, "Epochs of the layer in each round", AtLeast(1))
      .Add("batch", &Options::batch, kBatchHelp, AtLeast(1))
      .Add("learning_rate", &Options::learning_rate, kRateHelp, Positive())
      .Add(
          "anchors", [](auto& options) -> auto& { return options.graph.anchors; },
          "Centroids that tie similar samples together", AtLeast(2))
      .Add(
          "nearest", [](auto& options) -> auto& { return options.graph.nearest; },
          "Centroids that a sample is tied to", AtLeast(1))
      .Add(
          "balance", [](auto& options) -> auto& { return options.codes.balance; },
          "Weight of bits that are 1 half of the time", AtLeast(0))
      .Add(
          "independence", [](auto& options) -> auto& { return options.codes.independence; },
          "Weight of bits that do not depend on each other", AtLeast(0))
      .Add(
          "code_steps", [](auto& options) -> auto& { return options.codes.steps; },
          "Steps of the codes in each round", AtLeast(1));
}

OptionTable<CibHashOptions> CibHashTable() {
  return OptionTable<CibHashOptions>()
      .Add("bits", &CibHashOptions::bits, kBitsHelp, kBitsRange)
      .Add("temperature", &CibHashOptions::temperature, "How sharply views are told apart",
           AtLeast(kLeastTemperature))
      .Add("divergence", &CibHashOptions::divergence, "Weight of the divergence of views",
           AtLeast(0))
      .Add("hidden", &CibHashOptions::hidden, "Units of the hidden layer", AtLeast(1))
      .Add("epochs", &CibHashOptions::epochs, "How often every picture is looked at", AtLeast(1))
      .Add("batch", &CibHashOptions::batch, "Pictures per step", AtLeast(2))
      .Add("learning_rate", &CibHashOptions::learning_rate, kRateHelp, Positive());
}

}  // namespace

Method DeepBitMethod() {
  return MethodOfVectors<DeepBitOptions>(
      {.name = "deepbit",
       .title = "DeepBit",
       .publication = "Lin et al., 2016",
       .plain_views = true,
       .encoder = LinearEncoders()},
      {.options = DeepBitTable(),
       .train = [](const DeepBitOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainDeepBit(options, samples.images(), context);
       }});
}

Method GraphBitMethod() {
  return MethodOfVectors<GraphBitOptions>(
      {.name = "graphbit",
       .title = "GraphBit",
       .publication = "Duan et al., 2018",
       .encoder = LinearEncoders()},
      {.options = GraphBitTable(),
       .train = [](const GraphBitOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainGraphBit(options, samples.vectors, context);
       }});
}

Method SadhMethod() {
  return MethodOfVectors<SimilarityAdaptiveHashOptions>(
      {.name = "sadh",
       .title = "Similarity-Adaptive Deep Hashing",
       .publication = "Shen et al., 2018",
       .encoder = LinearEncoders()},
      {.options = SadhTable(),
       .train = [](const SimilarityAdaptiveHashOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainSimilarityAdaptiveHash(options, samples.vectors, context);
       }});
}

Method CibHashMethod() {
  return MethodOfVectors<CibHashOptions>(
      {.name = "cibhash",
       .title = "Contrastive Information Bottleneck Hashing",
       .publication = "Qiu et al., 2021",
       .needs_views = true,
       .plain_views = true,
       .encoder = TwoLayerEncoders(),
       .tune = {.stages = {{{"temperature", {0.2, 0.3, 0.4}}}}, .moves = {}}},
      {.options = CibHashTable(),
       .train = [](const CibHashOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainCibHash(options, samples.images(), context);
       }});
}

}  // namespace bitpool
