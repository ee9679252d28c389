#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "bitpool/base/matrix.h"
#include "bitpool/base/run_context.h"
#include "bitpool/dataset/labels.h"
#include "bitpool/io/env.h"

namespace bitpool {

// A public set as the vectors by which hashing methods are compared on it (section III of the
// paper): the pixels of MNIST and Fashion-MNIST, the GIST descriptors of CIFAR-10.
struct VectorSet {
  std::string name;
  std::string features;  // what the vectors are, in words
  MatrixF train, test;
  Labels train_labels, test_labels;
};

// Reads a set from `folder`. Descriptors are computed once and kept there beside the pictures.
// `say` gets a line about what takes long. Throws kNotFound, saying how to get it, when the set is
// not there.
VectorSet LoadVectorSet(Env& env, const std::string& name, const std::filesystem::path& folder,
                        const RunContext& context,
                        const std::function<void(const std::string&)>& say);

}  // namespace bitpool
