#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/linalg/column_source.h"
#include "bitpool/linalg/trained.h"

namespace bitpool {

// The defaults are those of the implementation the authors published. They are meant for data whose
// widest dimension has range 1, to which the trainer scales its data, so that the scale of the
// features makes no difference.
struct BinaryAutoencoderOptions {
  int bits = 32;  // length of the codes, that of the initial ones
  // μ of each iteration, not descending: what a bit that differs from the encoder's costs.
  std::vector<double> penalties = {0,      0,     0,     0,     0.0005, 0.0005, 0.0005,
                                   0.0005, 0.001, 0.001, 0.001, 0.002,  0.002,  0.005,
                                   0.005,  0.01,  0.01,  0.05,  0.05,   0.2};
  double svm_cost = 100;           // C of the encoder's support vector machines
  double svm_tolerance = 1e-3;     // how exactly they are solved: liblinear's ε
  Index svm_samples = 0;           // random samples they are trained on; 0: all
  int enumerate_bits = 10;         // codes up to this length are improved by trying all, 16 at most
  Index validation_queries = 200;  // random samples whose neighbours tell whether an iteration
                                   // helped; 0: every iteration counts
  double validation_share = 0.002;     // share of the samples that count as neighbours
  uint64_t max_bytes = 4'000'000'000;  // memory the training may take

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// The binary autoencoder of M. Á. Carreira-Perpiñán and R. Raziperchikolaei, "Hashing with binary
// autoencoders", CVPR 2015 (arXiv:1501.00756): an encoder h(x) = step(W₁x + c₁) and a linear
// decoder f that reconstruct the samples, found with the method of auxiliary coordinates, which
// minimises
//   Σ ‖x − f(z)‖² + μ ‖z − h(x)‖²  over h, f and the binary codes z of the samples
// while μ grows. An iteration fits f by least squares and h by one SVM for each bit (bit_svms.h),
// then improves the codes (code_step.h). As in the authors' implementation, bits whose codes did
// not change keep their SVM, the others start from their last; and when the encoder finds fewer
// true neighbours of the validation queries than before, the iteration is taken back and training
// goes on with the next larger μ. It ends when the codes are those of the encoder, or after the
// last μ. The decoder of the model is then fitted again to the codes the encoder gives.
//
// The summary's iterations have objective = reconstruction + μ · (bits that differ from the
// encoder's), a mean over the samples in the units of the data, after the codes were improved;
// quantisation = ‖z − h(x)‖² for codes in {−1, 1}.
//
// Starts from given codes; the authors suggest those of ITQ. Holds all samples in memory,
// 4 bytes for each value, and throws kResources when that is more than `max_bytes`. When a stop is
// asked for after the first iteration, the model of the last complete iteration is returned. Throws
// kInvalidArgument for data that cannot be learned from and codes that do not fit it.
Trained<HashModel> TrainBinaryAutoencoder(const BinaryAutoencoderOptions& options,
                                          const ColumnSource& source,
                                          const BinaryCodes& initial_codes,
                                          const RunContext& context);

}  // namespace bitpool
