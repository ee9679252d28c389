#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/training/method.h"

namespace bitpool::bench {

struct QuantisationBenchOptions {
  std::string training;              // .bpf of local features to learn from, with views or without
  std::string database;              // .bpf of the Holidays pictures, whose names tell the answers
  std::vector<int> bits = {32, 64};  // of a stored vector, multiples of 8
  int seeds = 5;                     // runs, with consecutive seeds
  double mu = 10;                    // of generalised max pooling
  std::vector<MethodSettings> constants = {};  // of methods, where they are not the defaults

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Compares codes asked with real numbers and product quantisation of the same size: mAP of Holidays
// by SAH, Hamming and asymmetric, and by Faiss's product quantiser of 4 bits per part, without and
// with a learned rotation (OPQ), on the vectors of generalised max pooling of the same pictures, as
// they are and of unit length. Where the training pictures have views, also by whitened ITQ and
// SAV, and by Faiss on vectors that are whitened by views.
nlohmann::json RunQuantisationBench(const QuantisationBenchOptions& options,
                                    const RunContext& context);

}  // namespace bitpool::bench
