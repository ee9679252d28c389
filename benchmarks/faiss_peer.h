#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bitpool::bench {

// Debian's Faiss, searching the same codes. Null where it was not there when this was built.
class FaissBinary {
 public:
  virtual ~FaissBinary() = default;
  // The distances of the k neighbours of each query, ascending.
  virtual std::vector<int32_t> Search(std::span<const uint8_t> queries, int64_t k) const = 0;
};

std::unique_ptr<FaissBinary> MakeFaissFlat(int bits, std::span<const uint8_t> rows, int threads);
// Parameters from the number of codes: substrings of about log2(n) bits, one flip, as its manual
// advises.
std::unique_ptr<FaissBinary> MakeFaissMultiHash(int bits, std::span<const uint8_t> rows,
                                                int threads);

// Whether Faiss was there when this was built.
bool HaveFaiss();

// Trains Faiss's ITQTransform on all rows, with OpenBLAS and OpenMP on `threads` threads.
// REQUIRES: HaveFaiss()
void TrainFaissItq(std::span<const float> rows, int64_t dimension, int bits, int iterations,
                   int threads);

}  // namespace bitpool::bench
