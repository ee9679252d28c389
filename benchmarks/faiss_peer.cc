#include "faiss_peer.h"

#include "bitpool/codes/binary_codes.h"

#ifdef BITPOOL_HAVE_FAISS
#include <cblas.h>
#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/VectorTransform.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>
#endif

namespace bitpool::bench {

#ifdef BITPOOL_HAVE_FAISS

namespace {

template <class FaissIndex>
class Peer : public FaissBinary {
 public:
  Peer(std::unique_ptr<FaissIndex> index, int threads)
      : index_(std::move(index)), threads_(threads) {}

  std::vector<int32_t> Search(std::span<const uint8_t> queries, int64_t k) const override {
    omp_set_num_threads(threads_);
    const auto count = static_cast<int64_t>(queries.size()) / index_->code_size;
    std::vector<int32_t> distances(static_cast<size_t>(count * k));
    std::vector<int64_t> labels(distances.size());
    index_->search(count, queries.data(), k, distances.data(), labels.data());
    return distances;
  }

 private:
  std::unique_ptr<FaissIndex> index_;
  int threads_;
};

}  // namespace

std::unique_ptr<FaissBinary> MakeFaissFlat(int bits, std::span<const uint8_t> rows, int threads) {
  if (bits % 8 != 0) return nullptr;
  auto index = std::make_unique<faiss::IndexBinaryFlat>(bits);
  index->add(static_cast<int64_t>(rows.size() / BytesPerCode(bits)), rows.data());
  return std::make_unique<Peer<faiss::IndexBinaryFlat>>(std::move(index), threads);
}

std::unique_ptr<FaissBinary> MakeFaissMultiHash(int bits, std::span<const uint8_t> rows,
                                                int threads) {
  if (bits % 8 != 0) return nullptr;
  const size_t count = rows.size() / BytesPerCode(bits);
  const int width = std::clamp(static_cast<int>(std::log2(static_cast<double>(count))), 1, bits);
  const int maps = std::max(1, bits / width);
  auto index = std::make_unique<faiss::IndexBinaryMultiHash>(bits, maps, bits / maps);
  index->nflip = 1;
  index->add(static_cast<int64_t>(rows.size() / BytesPerCode(bits)), rows.data());
  return std::make_unique<Peer<faiss::IndexBinaryMultiHash>>(std::move(index), threads);
}

bool HaveFaiss() { return true; }

void TrainFaissItq(std::span<const float> rows, int64_t dimension, int bits, int iterations,
                   int threads) {
  faiss::ITQTransform itq(static_cast<int>(dimension), bits, true);
  itq.itq.max_iter = iterations;
  itq.max_train_per_dim = INT32_MAX / static_cast<int>(dimension);  // all rows
  // Its products are OpenBLAS's; ours run on one BLAS thread per task.
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(threads);
  omp_set_num_threads(threads);
  itq.train(static_cast<int64_t>(rows.size()) / dimension, rows.data());
  openblas_set_num_threads(before);
}

#else

bool HaveFaiss() { return false; }
void TrainFaissItq(std::span<const float>, int64_t, int, int, int) {}

std::unique_ptr<FaissBinary> MakeFaissFlat(int, std::span<const uint8_t>, int) { return nullptr; }
std::unique_ptr<FaissBinary> MakeFaissMultiHash(int, std::span<const uint8_t>, int) {
  return nullptr;
}

#endif

}  // namespace bitpool::bench
