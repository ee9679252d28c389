#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"

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

// Faiss's IndexPQFastScan, ranking codes of bits by their product with real queries. A group of
// four bits is a subquantizer whose 16 centroids are the 16 patterns of ±1, so the quantizer is
// lossless and a vector takes as many bytes as its code; only Faiss's tables of 8 bits round.
class FaissScores {
 public:
  virtual ~FaissScores() = default;
  // The ids of the k best of each query, best first. `queries`: weights, a row per query.
  virtual std::vector<int64_t> Search(std::span<const float> queries, int64_t k) const = 0;
};
// Null also when the bits are not a multiple of 8.
std::unique_ptr<FaissScores> MakeFaissFastScan(int bits, std::span<const uint8_t> rows,
                                               int threads);

// Whether Faiss was there when this was built.
bool HaveFaiss();

// Trains Faiss's ITQTransform on all rows, with OpenBLAS and OpenMP on `threads` threads.
// REQUIRES: HaveFaiss()
void TrainFaissItq(std::span<const float> rows, int64_t dimension, int bits, int iterations,
                   int threads);

// The distances of every database vector (rows) to every query (columns), by Faiss's product
// quantiser with 4 bits for each part, learned from other vectors and applied to the database; the
// queries stay as they are. `rotate`: with a rotation learned beside it (OPQ).
// REQUIRES: HaveFaiss()
MatrixF FaissQuantisedDistances(const MatrixF& training, const MatrixF& database,
                                const MatrixF& queries, int bits, bool rotate, uint64_t seed,
                                int threads);

}  // namespace bitpool::bench
