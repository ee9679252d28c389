#include "training_bench.h"

#include <cblas.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/hash/hash_encoder.h"
#include "bitpool/hash/itq.h"
#include "bitpool/hash/rba.h"
#include "bitpool/hash/view_whitening.h"
#include "bitpool/training/methods.h"
#include "faiss_peer.h"
#include "timings.h"

namespace bitpool::bench {
namespace {

constexpr int kTrainedBits = 32;
constexpr int kRbaIterations = 10, kItqIterations = 50;
// Columns a bare product takes at once: the sums and results of RBA are made in pieces too.
constexpr size_t kPiece = 1024;

// Samples with what real features have: clusters, and variances that fall off.
MatrixF MakeSamples(Index dimension, Index count, Random random, const RunContext& context) {
  const MatrixF centres = random.NormalMatrix(dimension, 100);
  VectorF spread(dimension);
  for (Index i = 0; i < dimension; ++i) spread[i] = 4 / (1 + 0.05F * static_cast<float>(i));
  MatrixF samples(dimension, count);
  context.ParallelFor(static_cast<size_t>(count), 1024, [&](size_t begin, size_t end) {
    Random mine = random.Fork(begin);
    for (auto column = static_cast<Index>(begin); column < static_cast<Index>(end); ++column) {
      const auto centre = static_cast<Index>(mine.Below(100));
      samples.col(column) =
          (centres.col(centre) + mine.NormalMatrix(dimension, 1).col(0)).cwiseProduct(spread);
    }
  });
  return samples;
}

// The bare products, with the same threads, each on pieces of columns.
class BareProducts {
 public:
  BareProducts(const MatrixF& samples, const RunContext& context)
      : samples_(samples),
        context_(context),
        weights_(MatrixF::Random(kTrainedBits, samples.rows())) {}

  // XXᵀ
  void Scatter() const {
    ForPieces([&](const float* x, int count) {
      const auto dimension = static_cast<int>(samples_.rows());
      MatrixF out(dimension, dimension);
      cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, dimension, count, 1, x, dimension, 0,
                  out.data(), dimension);
    });
  }
  // WX
  void Encode() const {
    ForPieces([&](const float* x, int count) {
      const auto dimension = static_cast<int>(samples_.rows());
      MatrixF out(kTrainedBits, count);
      cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kTrainedBits, count, dimension, 1,
                  weights_.data(), kTrainedBits, x, dimension, 0, out.data(), kTrainedBits);
    });
  }
  // BXᵀ
  void Cross() const {
    const MatrixF codes = MatrixF::Ones(kTrainedBits, static_cast<Index>(kPiece));
    ForPieces([&](const float* x, int count) {
      const auto dimension = static_cast<int>(samples_.rows());
      MatrixF out(kTrainedBits, dimension);
      cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, kTrainedBits, dimension, count, 1,
                  codes.data(), kTrainedBits, x, dimension, 0, out.data(), kTrainedBits);
    });
  }
  // RV or BVᵀ of samples that have been projected to as many dimensions as there are bits.
  void Small() const {
    const MatrixF rotation = MatrixF::Ones(kTrainedBits, kTrainedBits);
    const MatrixF projected = MatrixF::Ones(kTrainedBits, static_cast<Index>(kPiece));
    ForPieces([&](const float* /*x*/, int count) {
      MatrixF out(kTrainedBits, count);
      cblas_sgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, kTrainedBits, count, kTrainedBits, 1,
                  rotation.data(), kTrainedBits, projected.data(), kTrainedBits, 0, out.data(),
                  kTrainedBits);
    });
  }

  // What RBA needs: the scatter; for ITQ a projection and two small products per iteration; the
  // initial codes and their sums; per iteration two products with X, and two small ones with B.
  void All() const {
    Scatter();
    Encode();
    for (int i = 0; i < 2 * kItqIterations; ++i) Small();
    for (int i = 0; i < kRbaIterations + 1; ++i) {
      Encode();
      Cross();
      if (i > 0) Small();
      Small();
    }
  }

 private:
  template <class Body>
  void ForPieces(const Body& body) const {
    context_.pool().ParallelFor(
        static_cast<size_t>(samples_.cols()), kPiece, [&](size_t begin, size_t end) {
          body(samples_.col(static_cast<Index>(begin)).data(), static_cast<int>(end - begin));
        });
  }

  const MatrixF& samples_;
  const RunContext& context_;
  MatrixF weights_;
};

RbaOptions FullRba() {
  RbaOptions options;
  options.bits = kTrainedBits;
  options.iterations = kRbaIterations;
  options.min_flipped = 0;
  return options;
}

void MeasureAutoencoders(const TrainingBenchOptions& options, const RunContext& context,
                         nlohmann::json& result) {
  const auto count = static_cast<Index>(50000 * options.size);
  const MatrixF samples = MakeSamples(320, count, context.MakeRandom(1), context);
  const MatrixColumns source(samples);
  Timings watch;
  watch.Add("rba", [&] { TrainRba(FullRba(), source, context); });
  watch.Run(options.rounds, context);
  // It takes minutes, and varies little: once is enough.
  Timings once;
  once.Add("ba", [&] {
    TrainOnVectors({.method = "ba", .bits = kTrainedBits}, {.vectors = source}, context);
  });
  once.Run(1, context);
  result["rba_s"] = watch.best("rba");
  result["ba_s"] = once.best("ba");
}

void MeasureRba(const TrainingBenchOptions& options, const RunContext& context,
                nlohmann::json& result) {
  const auto count = static_cast<Index>(60000 * options.size);
  const MatrixF samples = MakeSamples(784, count, context.MakeRandom(2), context);
  const MatrixColumns source(samples);
  const BareProducts products(samples, context);
  const auto model = TrainRba(FullRba(), source, context).model;
  Timings watch;
  watch.Add("rba", [&] { TrainRba(FullRba(), source, context); });
  watch.Add("products", [&] { products.All(); });
  watch.Add("encode", [&] { EncodeAll(*model.encoder, source, context); });
  watch.Add("product", [&] { products.Encode(); });
  watch.Run(options.rounds, context);
  result["rba_mnist_s"] = watch.best("rba");
  result["rba_mnist_products_s"] = watch.best("products");
  result["encode_per_s"] = static_cast<double>(count) / watch.best("encode");
  result["product_per_s"] = static_cast<double>(count) / watch.best("product");
}

void MeasureItq(const TrainingBenchOptions& options, Index dimension, Index samples_at_full_size,
                const RunContext& context, nlohmann::json& result) {
  const auto count = static_cast<Index>(static_cast<double>(samples_at_full_size) * options.size);
  const MatrixF samples = MakeSamples(dimension, count, context.MakeRandom(3), context);
  const MatrixColumns source(samples);
  ItqOptions itq;
  itq.bits = 64;
  itq.iterations = kItqIterations;
  Timings watch;
  watch.Add("ours", [&] {
    TrainingSummary summary;
    FindItqEncoder(itq, source, ComputeMoments(source, context), context, summary);
  });
  if (HaveFaiss()) {
    watch.Add("faiss", [&] {
      TrainFaissItq({samples.data(), static_cast<size_t>(samples.size())}, dimension, itq.bits,
                    kItqIterations, context.threads());
    });
  }
  watch.Run(options.rounds, context);
  result[fmt::format("itq_{}_s", dimension)] = watch.best("ours");
  const std::string peer = fmt::format("faiss_itq_{}_s", dimension);
  result[peer] = HaveFaiss() ? nlohmann::json(watch.best("faiss")) : nlohmann::json(nullptr);
}

// Whitening needs one product, over one column fewer than there are images for every picture.
void MeasureWhitening(const TrainingBenchOptions& options, const RunContext& context,
                      nlohmann::json& result) {
  constexpr Index kPerPicture = 8;
  const Index count = static_cast<Index>(12500 * options.size) * kPerPicture;
  const MatrixF samples = MakeSamples(512, count, context.MakeRandom(4), context);
  const MatrixF contrasts = samples.leftCols(count - count / kPerPicture);  // any numbers will do
  const MatrixColumns source(samples);
  const BareProducts products(contrasts, context);
  Timings watch;
  watch.Add("whitening",
            [&] { LearnWhitening({}, {.vectors = source, .per_picture = kPerPicture}, context); });
  watch.Add("products", [&] { products.Scatter(); });
  watch.Run(options.rounds, context);
  result["whitening_s"] = watch.best("whitening");
  result["whitening_products_s"] = watch.best("products");
}

}  // namespace

void TrainingBenchOptions::Validate() const {
  if (!(size > 0 && size <= 10) || rounds < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("size {} and {} rounds: expected a size in (0, 10] and rounds from 1",
                            size, rounds));
  }
}

nlohmann::json RunTrainingBench(const TrainingBenchOptions& options, const RunContext& context) {
  options.Validate();
  nlohmann::json result = {{"threads", context.threads()},
                           {"bits", kTrainedBits},
                           {"size", options.size},
                           {"rounds", options.rounds}};
  MeasureRba(options, context, result);
  MeasureItq(options, 128, 100000, context, result);
  MeasureItq(options, 512, 50000, context, result);
  MeasureWhitening(options, context, result);
  MeasureAutoencoders(options, context, result);
  return result;
}

}  // namespace bitpool::bench
