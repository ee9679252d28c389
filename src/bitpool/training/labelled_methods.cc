// The entries of the methods that learn from vectors and their labels. They keep their authors'
// settings; for images, only the pooling of what they hash is tuned.
#include "bitpool/hash/baselines/binary_reconstructive_embedding.h"
#include "bitpool/hash/baselines/cca_itq.h"
#include "bitpool/hash/baselines/kernel_supervised_hash.h"
#include "bitpool/hash/baselines/supervised_discrete_hash.h"
#include "bitpool/training/method_entries.h"

namespace bitpool {
namespace {

TunePlan PoolingTuning() { return {.stages = {{{"mu", kLabelledMus}}}, .moves = {{"mu"}}}; }

// An entry whose options are the length of the codes alone.
template <class Options>
Method LabelledMethod(Method facts, Trained<HashModel> (*train)(const Options&, const ColumnSource&,
                                                                const Labels&, const RunContext&)) {
  facts.needs_labels = true;
  facts.tune = PoolingTuning();
  return MethodOfVectors<Options>(
      std::move(facts),
      {.options = OptionTable<Options>().Add("bits", &Options::bits, kBitsHelp, kBitsRange),
       .train = [train](const Options& options, const VectorSamples& samples,
                        const RunContext& context) {
         return train(options, samples.vectors, *samples.labels, context);
       }});
}

}  // namespace

Method SdhMethod() {
  return LabelledMethod({.name = "sdh",
                         .title = "Supervised Discrete Hashing",
                         .publication = "Shen et al., 2015",
                         .encoder = KernelEncoders()},
                        TrainSupervisedDiscreteHash);
}

Method KshMethod() {
  return LabelledMethod({.name = "ksh",
                         .title = "Kernel-based Supervised Hashing",
                         .publication = "Liu et al., 2012",
                         .encoder = KernelEncoders()},
                        TrainKernelSupervisedHash);
}

Method BreMethod() {
  return LabelledMethod({.name = "bre",
                         .title = "Binary Reconstructive Embeddings",
                         .publication = "Kulis and Darrell, 2009",
                         .encoder = KernelEncoders()},
                        TrainBinaryReconstructiveEmbedding);
}

Method CcaItqMethod() {
  return LabelledMethod({.name = "cca-itq",
                         .title = "ITQ on canonical correlations",
                         .publication = "Gong and Lazebnik, 2011",
                         .encoder = LinearEncoders()},
                        TrainCcaItq);
}

}  // namespace bitpool
