#pragma once

#include <vector>

#include "bitpool/training/method_builder.h"

// What the files that have the entries of methods share. Each defines `Method XMethod()`, which the
// list in methods.cc names.
namespace bitpool {

// One text for what means the same in several methods.
inline constexpr const char* kBitsHelp = "Length of the codes";
inline constexpr const char* kIterationsHelp = "At most this many iterations";
inline constexpr const char* kLambdaHelp = "Weight of the quantisation loss";
inline constexpr const char* kBetaHelp = "Weight of the regularisation";
inline constexpr const char* kGammaHelp = "Weight of the aggregation";
inline constexpr const char* kAlphaHelp = "Ridge of the mapping for new images";
inline constexpr const char* kAnchorsHelp =
    "Random training vectors of a kernel map before the hash functions; 0: no kernel";
inline constexpr const char* kKernelWidthHelp =
    "Width of the kernel, as a multiple of the mean distance";
inline constexpr const char* kKernelRidgeHelp = "Ridge of the hash functions on the kernel map";
inline constexpr const char* kKernelVectorsHelp =
    "Weight of the vectors, of which codes on the kernel map are made beside the labels";
inline constexpr const char* kMuHelp = "How much a large aggregated vector costs";
inline constexpr const char* kNormaliseHelp = "Give local features unit length first";

inline constexpr OptionRange kBitsRange = Between(1, kMaxBits);

// μ of methods that learn from labels: the range that the paper searches (section VII).
inline const std::vector<double> kLabelledMus = {10, 100, 1000, 1e4, 1e5};

}  // namespace bitpool
