// The entries of the methods that learn from vectors without labels.
#include "bitpool/hash/baselines/binary_autoencoder.h"
#include "bitpool/hash/baselines/kmeans_hash.h"
#include "bitpool/hash/baselines/lsh.h"
#include "bitpool/hash/baselines/pca_hash.h"
#include "bitpool/hash/baselines/spherical_hash.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/rba.h"
#include "bitpool/training/method_entries.h"

namespace bitpool {
namespace {

// Like RBA it starts from the codes of ITQ.
Trained<HashModel> TrainBaFromItq(const BinaryAutoencoderOptions& options,
                                  const VectorSamples& samples, const RunContext& context) {
  const ColumnSource& source = samples.vectors;
  TrainingSummary unused;
  const LinearEncoder initial(FindItqEncoder({.bits = options.bits}, source,
                                             ComputeMoments(source, context), context, unused));
  context.ThrowIfStopped();
  return TrainBinaryAutoencoder(options, source, EncodeAll(initial, source, context), context);
}

// λ and β/λ are in the scale of one unit of variance per bit.
TunePlan RbaTuning() {
  return {.stages = {{{"mu", {1, 10, 100}},
                      {"lambda", {0.01, 0.1}},
                      {"beta", {0.0005, 0.005, 0.05}, "lambda"}}},
          // Moving both changes λ alone, at the same ridge of the encoder, which is β/λ.
          .moves = {{"lambda", "beta"}, {"beta"}, {"mu"}}};
}

}  // namespace

Method RbaMethod() {
  return MethodOfVectors<RbaOptions>(
      {.name = "rba",
       .title = "Relaxed Binary Autoencoder",
       .publication = "Do et al., 2019",
       .encoder = LinearEncoders(),
       .tune = RbaTuning()},
      {.options = OptionTable<RbaOptions>()
                      .Add("bits", &RbaOptions::bits, kBitsHelp, kBitsRange)
                      .Add("iterations", &RbaOptions::iterations, kIterationsHelp, AtLeast(1))
                      .Add("lambda", &RbaOptions::lambda, kLambdaHelp, Positive())
                      .Add("beta", &RbaOptions::beta, kBetaHelp, Positive()),
       .train =
           [](const RbaOptions& options, const VectorSamples& samples, const RunContext& context) {
             return TrainRba(options, samples.vectors, context);
           },
       .train_on_shards =
           [](const RbaOptions& options, Shards& shards, const RunContext& context) {
             return TrainRba(options, shards, context);
           },
       .presets = {{std::string(kPaperPreset), RbaOptions::Paper}}});
}

Method BaMethod() {
  return MethodOfVectors<BinaryAutoencoderOptions>(
      {.name = "ba",
       .title = "Binary Autoencoder",
       .publication = "Carreira-Perpiñán and Raziperchikolaei, 2015",
       .encoder = LinearEncoders()},
      {.options = OptionTable<BinaryAutoencoderOptions>().Add(
           "bits", &BinaryAutoencoderOptions::bits, kBitsHelp, kBitsRange),
       .train = TrainBaFromItq});
}

Method ItqMethod() {
  return MethodOfVectors<ItqOptions>(
      {.name = "itq",
       .title = "Iterative Quantization",
       .publication = "Gong and Lazebnik, 2011",
       .encoder = LinearEncoders()},
      {.options = OptionTable<ItqOptions>()
                      .Add("bits", &ItqOptions::bits, kBitsHelp, kBitsRange)
                      .Add("iterations", &ItqOptions::iterations, kIterationsHelp, AtLeast(1)),
       .train =
           [](const ItqOptions& options, const VectorSamples& samples, const RunContext& context) {
             return TrainItq(options, samples.vectors, context);
           },
       .train_on_shards =
           [](const ItqOptions& options, Shards& shards, const RunContext& context) {
             return TrainItq(options, shards, context);
           }});
}

Method KmhMethod() {
  return MethodOfVectors<KMeansHashOptions>(
      {.name = "kmh",
       .title = "K-means Hashing",
       .publication = "He, Wen and Sun, 2013",
       .encoder = ProductEncoders()},
      {.options =
           OptionTable<KMeansHashOptions>()
               .Add("bits", &KMeansHashOptions::bits, kBitsHelp, kBitsRange)
               .Add("iterations", &KMeansHashOptions::iterations, kIterationsHelp, AtLeast(0)),
       .train = [](const KMeansHashOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainKMeansHash(options, samples.vectors, context);
       }});
}

Method SphMethod() {
  return MethodOfVectors<SphericalHashOptions>(
      {.name = "sph",
       .title = "Spherical Hashing",
       .publication = "Heo et al., 2012",
       .encoder = SphereEncoders()},
      {.options =
           OptionTable<SphericalHashOptions>()
               .Add("bits", &SphericalHashOptions::bits, kBitsHelp, kBitsRange)
               .Add("iterations", &SphericalHashOptions::iterations, kIterationsHelp, AtLeast(0)),
       .train = [](const SphericalHashOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainSphericalHash(options, samples.vectors, context);
       }});
}

Method PcahMethod() {
  return MethodOfVectors<PcaHashOptions>(
      {.name = "pcah",
       .title = "PCA hashing",
       .publication = "Wang et al., 2010",
       .encoder = LinearEncoders()},
      {.options =
           OptionTable<PcaHashOptions>().Add("bits", &PcaHashOptions::bits, kBitsHelp, kBitsRange),
       .train = [](const PcaHashOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainPcaHash(options, samples.vectors, context);
       }});
}

Method LshMethod() {
  return MethodOfVectors<LshOptions>(
      {.name = "lsh",
       .title = "Random projections",
       .publication = "Charikar, 2002",
       .encoder = LinearEncoders()},
      {.options = OptionTable<LshOptions>().Add("bits", &LshOptions::bits, kBitsHelp, kBitsRange),
       .train = [](const LshOptions& options, const VectorSamples& samples,
                   const RunContext& context) {
         return TrainLsh(options, samples.vectors, context);
       }});
}

}  // namespace bitpool
