#include "faiss_peer.h"

#include "bitpool/codes/binary_codes.h"

#ifdef BITPOOL_HAVE_FAISS
#include <cblas.h>
#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/IndexPQ.h>
#include <faiss/IndexPQFastScan.h>
#include <faiss/IndexPreTransform.h>
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

class FastScanPeer : public FaissScores {
 public:
  FastScanPeer(std::unique_ptr<faiss::IndexPQFastScan> index, int threads)
      : index_(std::move(index)), threads_(threads) {}

  std::vector<int64_t> Search(std::span<const float> queries, int64_t k) const override {
    omp_set_num_threads(threads_);
    const auto count = static_cast<int64_t>(queries.size()) / index_->d;
    std::vector<float> scores(static_cast<size_t>(count * k));
    std::vector<int64_t> labels(scores.size());
    index_->search(count, queries.data(), k, scores.data(), labels.data());
    return labels;
  }

 private:
  std::unique_ptr<faiss::IndexPQFastScan> index_;
  int threads_;
};

}  // namespace

std::unique_ptr<FaissScores> MakeFaissFastScan(int bits, std::span<const uint8_t> rows,
                                               int threads) {
  if (bits % 8 != 0) return nullptr;
  const size_t groups = static_cast<size_t>(bits) / 4;
  faiss::IndexPQ packed(bits, groups, 4, faiss::METRIC_INNER_PRODUCT);
  for (size_t m = 0; m < groups; ++m) {
    for (size_t pattern = 0; pattern < 16; ++pattern) {
      float* centroid = packed.pq.get_centroids(m, pattern);
      for (size_t i = 0; i < 4; ++i) centroid[i] = (pattern >> i & 1) != 0 ? 1.0F : -1.0F;
    }
  }
  // Two subquantizers to a byte, the first in the low half: the bytes of the codes themselves.
  packed.codes.resize(rows.size());
  std::ranges::copy(rows, packed.codes.data());
  packed.ntotal = static_cast<int64_t>(rows.size() / BytesPerCode(bits));
  packed.is_trained = true;
  return std::make_unique<FastScanPeer>(std::make_unique<faiss::IndexPQFastScan>(packed), threads);
}

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

MatrixF FaissQuantisedDistances(const MatrixF& training, const MatrixF& database,
                                const MatrixF& queries, int bits, bool rotate, uint64_t seed,
                                int threads) {
  constexpr int kPartBits = 4;
  omp_set_num_threads(threads);
  const int parts = bits / kPartBits;
  const auto dimension = static_cast<int>(training.rows());
  // Parts must be equally long; zeros at the end change no distance.
  const int padded = (dimension + parts - 1) / parts * parts;
  const auto pad = [&](const MatrixF& vectors) {
    MatrixF longer = MatrixF::Zero(padded, vectors.cols());
    longer.topRows(dimension) = vectors;
    return longer;
  };
  faiss::IndexPQ quantiser(padded, static_cast<size_t>(parts), kPartBits);
  quantiser.pq.cp.seed = static_cast<int>(seed) + 1234;
  faiss::OPQMatrix rotation(padded, parts);
  faiss::ProductQuantizer same(static_cast<size_t>(padded), static_cast<size_t>(parts), kPartBits);
  rotation.pq = &same;  // learned for this quantiser, not for its default of 8 bits
  faiss::IndexPreTransform rotated(&rotation, &quantiser);
  faiss::Index& index = rotate ? static_cast<faiss::Index&>(rotated) : quantiser;
  index.train(training.cols(), pad(training).data());
  index.add(database.cols(), pad(database).data());
  std::vector<float> found(static_cast<size_t>(queries.cols() * database.cols()));
  std::vector<int64_t> ids(found.size());
  index.search(queries.cols(), pad(queries).data(), database.cols(), found.data(), ids.data());
  MatrixF distances(database.cols(), queries.cols());
  for (size_t i = 0; i < found.size(); ++i) {
    distances(ids[i], static_cast<int64_t>(i) / database.cols()) = found[i];
  }
  return distances;
}

#else

MatrixF FaissQuantisedDistances(const MatrixF&, const MatrixF&, const MatrixF&, int, bool, uint64_t,
                                int) {
  return {};
}
bool HaveFaiss() { return false; }
void TrainFaissItq(std::span<const float>, int64_t, int, int, int) {}

std::unique_ptr<FaissBinary> MakeFaissFlat(int, std::span<const uint8_t>, int) { return nullptr; }
std::unique_ptr<FaissScores> MakeFaissFastScan(int, std::span<const uint8_t>, int) {
  return nullptr;
}
std::unique_ptr<FaissBinary> MakeFaissMultiHash(int, std::span<const uint8_t>, int) {
  return nullptr;
}

#endif

}  // namespace bitpool::bench
