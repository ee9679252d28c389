#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"

namespace bitpool::bench {

struct PoolingBenchOptions {
  int descriptors = 1369;  // of a generated image
  double mu = 100;         // μ
  double gamma = 10;       // γ of SAH, whose coupling is measured
  int bits = 32;           // L of SAH
  int images = 64;         // pooled in turn; 64 of the usual size come from memory, one would not
  int rounds = 5;          // the best counts
  std::string features;    // a .bpf with real local features; empty: those below, or generated ones
  // Or local features of the pictures in a folder, by a network: a Caffe definition and its
  // weights, or an ONNX file.
  std::vector<std::string> network = {};
  std::string pictures;
  std::string layer = {};  // of the network; empty: its own choice
  int size = 608;          // pixels along each side: 37 × 37 descriptors of SqueezeNet

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// Milliseconds per image of generalised max pooling and of the coupled pooling of a SAH model, each
// beside a direct solver (ssyrk and Cholesky by OpenBLAS, in single precision) and one pass over
// the descriptors; and the share of code bits that are those of the direct solver in double
// precision, for images the model has not seen where the file has enough others ("held_out").
// Everything measured runs on one thread; only the training of the model uses those of the context.
nlohmann::json RunPoolingBench(const PoolingBenchOptions& options, const RunContext& context);

}  // namespace bitpool::bench
