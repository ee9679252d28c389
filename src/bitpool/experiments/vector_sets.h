#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// A public set as the vectors by which hashing methods are compared on it (section III of the
// paper): the pixels of MNIST and Fashion-MNIST, the GIST descriptors of CIFAR-10.
struct VectorSet {
  std::string name;
  std::string features;  // what the vectors are, in words
  MatrixF train, test;
  MatrixF database = {};  // what is searched, where it is not `train`
  Labels train_labels, test_labels;
};

// Reads a set from `folder`. Descriptors are computed once and kept there beside the pictures.
// `say` gets a line about anything that takes long. Throws kNotFound, saying how to get it, when
// the set is not there.
VectorSet LoadVectorSet(Env& env, const std::string& name, const std::filesystem::path& folder,
                        const RunContext& context,
                        const std::function<void(const std::string&)>& say);

// How many descriptors a set of SIFT vectors has.
struct SiftSetSizes {
  Index training = 100'000;
  Index database = 1'000'000;
  Index queries = 10'000;
};

// A stand-in for SIFT1M made from RootSIFT features of pictures: training vectors and database
// drawn from those of one set, no descriptor in both, and queries from those of another. RootSIFT
// is squared and scaled to length 512, which gives back SIFT as SIFT1M has it but for rounding.
// Where there are not that many descriptors, fewer are drawn, in the same proportion. The same seed
// draws the same. Throws kInvalidArgument for features that are not of 128 dimensions or fewer than
// 10 of them.
VectorSet SiftSetOf(const FeatureSet& pictures, const FeatureSet& query_pictures,
                    const SiftSetSizes& sizes, const RunContext& context);

// SIFT1M itself, from a folder with sift_learn.fvecs, sift_base.fvecs and sift_query.fvecs. Throws
// kNotFound, saying where to get them, when they are not there.
VectorSet LoadSift1M(Env& env, const std::filesystem::path& folder);

}  // namespace bitpool
