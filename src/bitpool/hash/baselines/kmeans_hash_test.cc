#include "bitpool/hash/baselines/kmeans_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "bitpool/hash/baselines/lsh.h"
#include "bitpool/hash/baselines/pca_hash.h"
#include "bitpool/hash/baselines/product_encoder.h"
#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Trained<HashModel> TrainKmh(const MatrixF& data, const KMeansHashOptions& options) {
  return TrainKMeansHash(options, MatrixColumns(data), RunContext());
}

const ProductEncoder& ProductOf(const Trained<HashModel>& trained) {
  return dynamic_cast<const ProductEncoder&>(*trained.model.encoder);
}

// The squared distance of a sample from each codeword of a subspace.
std::vector<double> SlowDistances(const ProductEncoder& encoder, const VectorF& sample, Index first,
                                  Index count) {
  std::vector<double> distances;
  for (Index j = first; j < first + count; ++j) {
    double sum = 0;
    for (Index i = 0; i < sample.size(); ++i) {
      const double difference = static_cast<double>(sample[i]) -
                                static_cast<double>(encoder.mean()[i]) -
                                static_cast<double>(encoder.codewords()(i, j));
      sum += difference * difference;
    }
    distances.push_back(sum);
  }
  return distances;
}

ProductEncoder RandomEncoder(uint64_t seed) {
  Random random(seed);
  VectorF bits(3);
  bits << 3, 1, 4;
  return {random.NormalMatrix(7, 1), random.NormalMatrix(7, 8 + 2 + 16), bits};
}

TEST(ProductEncoder, AgreesWithPlainLoops) {
  const ProductEncoder encoder = RandomEncoder(1);
  EXPECT_EQ(encoder.kind(), "product");
  EXPECT_EQ(encoder.bits(), 8);
  EXPECT_EQ(encoder.dimension(), 7);
  Random random(2);
  const MatrixF data = random.NormalMatrix(7, 1300);
  const MatrixF projected = encoder.Project(data);
  const BinaryCodes codes = encoder.Encode(data);
  for (Index sample = 0; sample < data.cols(); ++sample) {
    Index codeword = 0;
    int first_bit = 0;
    for (const int bits : {3, 1, 4}) {
      const Index count = Index{1} << bits;
      const std::vector<double> distances =
          SlowDistances(encoder, data.col(sample), codeword, count);
      int code = 0;
      for (int bit = 0; bit < bits; ++bit) {
        double nearest[2] = {1e30, 1e30};
        for (Index j = 0; j < count; ++j) {
          double& side = nearest[j >> bit & 1];
          side = std::min(side, distances[static_cast<size_t>(j)]);
        }
        EXPECT_NEAR(static_cast<double>(projected(first_bit + bit, sample)),
                    nearest[0] - nearest[1], 1e-4);
        code |= BitOf(codes, sample, first_bit + bit) ? 1 << bit : 0;
      }
      const double best = *std::min_element(distances.begin(), distances.end());
      EXPECT_NEAR(distances[static_cast<size_t>(code)], best, 1e-4);
      codeword += count;
      first_bit += bits;
    }
  }
}

TEST(ProductEncoder, IsMadeFromItsParameters) {
  const ProductEncoder encoder = RandomEncoder(3);
  const std::vector<NamedMatrix> parameters = encoder.Parameters();
  ASSERT_EQ(parameters.size(), 3U);
  const ProductEncoder again(parameters[0].second, parameters[1].second, parameters[2].second);
  Random random(4);
  const MatrixF data = random.NormalMatrix(7, 50);
  EXPECT_TRUE(SameBits(again.Project(data), encoder.Project(data)));
}

// At the same distance from 01 and 10, bit by bit the code would be 11, which is far away.
TEST(ProductEncoder, TiesGiveTheLowestOfTheNearest) {
  MatrixF codewords(2, 4);
  codewords << 9, 1, -1, -9,  //
      9, 1, 1, 9;
  const ProductEncoder encoder(VectorF::Zero(2), codewords, VectorF::Constant(1, 2));
  MatrixF middle(2, 1);
  middle << 0, 1;
  EXPECT_EQ(encoder.Encode(middle).ToHex(0), "01");
  const MatrixF h = encoder.Project(middle);
  EXPECT_EQ(h(0, 0), 0);
  EXPECT_LT(h(1, 0), 0);
  const ProductEncoder alike(VectorF::Zero(2), MatrixF::Zero(2, 4), VectorF::Constant(1, 2));
  EXPECT_EQ(alike.Encode(middle).ToHex(0), "00");
}

TEST(ProductEncoder, Refuses) {
  const VectorF mean = VectorF::Zero(2);
  const auto bits = [](float value) { return VectorF::Constant(2, value); };
  EXPECT_EQ(ProductEncoder(mean, MatrixF::Zero(2, 8), bits(2)).bits(), 4);
  EXPECT_THAT(RefusalOf([&] { ProductEncoder(mean, MatrixF::Zero(2, 7), bits(2)); }),
              HasSubstr("2 × 7 codewords, a mean of 2 numbers and 2 subspaces with 8 codewords"));
  EXPECT_THROW(ProductEncoder(mean, MatrixF::Zero(3, 8), bits(2)), Error);
  EXPECT_THROW(ProductEncoder(mean, MatrixF(2, 0), VectorF()), Error);
  EXPECT_THROW(ProductEncoder(VectorF(), MatrixF(0, 8), bits(2)), Error);
  for (const float bad : {0.0F, 1.5F, 9.0F, -1.0F, NAN, INFINITY}) {
    EXPECT_THAT(RefusalOf([&] { ProductEncoder(mean, MatrixF::Zero(2, 8), bits(bad)); }),
                HasSubstr("expected a whole number in [1, 8]"));
  }
  EXPECT_THROW(ProductEncoder(mean, MatrixF::Constant(2, 8, NAN), bits(2)), Error);
  EXPECT_THROW(
      ProductEncoder(mean, MatrixF::Zero(2, 2 * (kMaxBits + 1)), VectorF::Ones(kMaxBits + 1)),
      Error);
}

TEST(KMeansHash, StartsAsPcaHashing) {
  const MatrixF data = MakeClusters(9, 1500, 10, 1, 20);
  const Trained<HashModel> start = TrainKmh(data, {.bits = 4, .iterations = 0});
  EXPECT_EQ(start.model.method, "kmh");
  const auto pcah = TrainPcaHash({.bits = 4}, MatrixColumns(data), RunContext());
  const MatrixF components = pcah.model.encoder->Project(data);
  const BinaryCodes codes = start.model.encoder->Encode(data);
  for (Index i = 0; i < data.cols(); ++i) {
    for (int bit = 0; bit < 4; ++bit) {
      if (std::abs(components(bit, i)) < 1e-3F) continue;
      EXPECT_EQ(BitOf(codes, i, bit), components(bit, i) > 0);
    }
  }
  // Codewords are as far from each other as their codes, the edge twice the mean size.
  const double edge = 2 * static_cast<double>(components.cwiseAbs().mean());
  const MatrixF& codewords = ProductOf(start).codewords();
  for (Index i = 0; i < 16; ++i) {
    for (Index j = 0; j < 16; ++j) {
      const int hamming = std::popcount(static_cast<uint64_t>(i ^ j));
      EXPECT_NEAR(static_cast<double>((codewords.col(i) - codewords.col(j)).norm()),
                  edge * std::sqrt(static_cast<double>(hamming)), 1e-3 * edge);
    }
  }
}

// Components of variance 2⁷ … 2⁰ for two subspaces: 2⁷ 2⁴ … and 2⁶ 2⁵ … have equal products.
TEST(KMeansHash, SubspacesHaveBalancedVariances) {
  Random random(2);
  MatrixF data = random.NormalMatrix(8, 4000);
  for (Index i = 0; i < 8; ++i) data.row(i) *= std::sqrt(static_cast<float>(128 >> i));
  const Trained<HashModel> start = TrainKmh(data, {.bits = 4, .subspace_bits = 2, .iterations = 0});
  const ProductEncoder& encoder = ProductOf(start);
  EXPECT_EQ(encoder.subspace_bits(), VectorF::Constant(2, 2));
  const auto extent = [&](Index subspace) -> VectorF {
    return encoder.codewords().middleCols(4 * subspace, 4).cwiseAbs().rowwise().maxCoeff();
  };
  const auto expect_axes = [&](Index subspace, Index a, Index b) {
    const VectorF size = extent(subspace);
    for (Index i = 0; i < 8; ++i) {
      // The first two dimensions of a subspace span its hypercube.
      if (i == a || i == b) {
        EXPECT_GT(size[i], 0.8F * size.maxCoeff()) << i;
      } else {
        EXPECT_LT(size[i], 0.2F * size.maxCoeff()) << i;
      }
    }
  };
  expect_axes(0, 0, 3);
  expect_axes(1, 1, 2);
}

// E_quan + λ E_aff over all subspaces from the codewords alone. `before` made the assignment.
double SlowKmhObjective(const MatrixF& data, const ProductEncoder& start,
                        const ProductEncoder& before, const ProductEncoder& after, double lambda) {
  const auto n = static_cast<double>(data.cols());
  double objective = 0;
  Index first = 0;
  for (const float bits : before.subspace_bits()) {
    const Index count = Index{1} << static_cast<int>(bits);
    const double edge = static_cast<double>(
        (start.codewords().col(first) - start.codewords().col(first + 1)).norm());
    std::vector<double> members(static_cast<size_t>(count));
    for (Index i = 0; i < data.cols(); ++i) {
      const std::vector<double> old = SlowDistances(before, data.col(i), first, count);
      const auto code = std::min_element(old.begin(), old.end()) - old.begin();
      members[static_cast<size_t>(code)] += 1;
      const std::vector<double> now = SlowDistances(after, data.col(i), first + code, 1);
      objective += now[0] / n;
    }
    for (Index i = 0; i < count; ++i) {
      for (Index j = 0; j < count; ++j) {
        const double distance = static_cast<double>(
            (after.codewords().col(first + i) - after.codewords().col(first + j)).norm());
        const int hamming = std::popcount(static_cast<uint64_t>(i ^ j));
        const double error = distance - edge * std::sqrt(static_cast<double>(hamming));
        objective += lambda * members[static_cast<size_t>(i)] * members[static_cast<size_t>(j)] /
                     (n * n) * error * error;
      }
    }
    first += count;
  }
  // Distances in the whole space hold, for every subspace, the variance outside it, which is the
  // variance of the other subspaces.
  const double variance = (data.cast<double>().colwise() - MeanOf(data)).squaredNorm() / n;
  return objective - variance * static_cast<double>(before.subspace_bits().size() - 1);
}

TEST(KMeansHash, ObjectiveAgreesWithPlainLoops) {
  const MatrixF data = MakeClusters(8, 400, 10, 3, 4);
  for (const int bits : {3, 6, 8}) {  // one subspace, 4 + 2 and 4 + 4 bits
    const auto train = [&](int iterations) {
      return TrainKmh(data, {.bits = bits, .iterations = iterations, .tolerance = 0});
    };
    const Trained<HashModel> start = train(0);
    Trained<HashModel> before = start;
    double first_objective = 0;
    for (int iterations = 1; iterations <= 4; ++iterations) {
      const Trained<HashModel> after = train(iterations);
      const double objective = after.summary.iterations.back().objective;
      EXPECT_NEAR(objective,
                  SlowKmhObjective(data, ProductOf(start), ProductOf(before), ProductOf(after), 10),
                  1e-4 * objective);
      // The update lowers it while the assignment is held.
      EXPECT_LT(objective,
                SlowKmhObjective(data, ProductOf(start), ProductOf(before), ProductOf(before), 10));
      if (iterations == 1) first_objective = objective;
      before = after;
    }
    EXPECT_LT(before.summary.iterations.back().objective, first_objective);
  }
}

TEST(KMeansHash, WithoutAffinityTheObjectiveNeverRises) {
  const MatrixF data = MakeClusters(12, 2000, 20, 4);
  const Trained<HashModel> trained = TrainKmh(data, {.bits = 12, .lambda = 0, .iterations = 200});
  EXPECT_TRUE(trained.summary.converged);
  const auto& iterations = trained.summary.iterations;
  for (size_t i = 1; i < iterations.size(); ++i) {
    EXPECT_LE(iterations[i].objective, iterations[i - 1].objective * (1 + 1e-9));
    EXPECT_LT(iterations[i].flipped, 0.5);
  }
}

// The share of the 50 nearest neighbours that are among the 50 nearest by code.
double NeighboursKept(const HashModel& model, const MatrixF& data) {
  const BinaryCodes codes = model.encoder->Encode(data);
  const Index n = data.cols();
  double kept = 0;
  for (Index query = 0; query < n; query += 20) {
    std::vector<Index> near(static_cast<size_t>(n));
    std::iota(near.begin(), near.end(), 0);
    std::vector<Index> alike = near;
    std::sort(near.begin(), near.end(), [&](Index a, Index b) {
      return (data.col(a) - data.col(query)).squaredNorm() <
             (data.col(b) - data.col(query)).squaredNorm();
    });
    std::stable_sort(alike.begin(), alike.end(), [&](Index a, Index b) {
      return HammingDistance(codes.code(a), codes.code(query)) <
             HammingDistance(codes.code(b), codes.code(query));
    });
    for (size_t i = 0; i < 50; ++i) {
      kept += std::find(alike.begin(), alike.begin() + 50, near[i]) != alike.begin() + 50 ? 1 : 0;
    }
  }
  return kept / (50 * static_cast<double>(n) / 20);
}

TEST(KMeansHash, KeepsNeighboursBetterThanLsh) {
  const MatrixF data = MakeClusters(32, 1500, 40, 5);
  const double kmh = NeighboursKept(TrainKmh(data, {.bits = 16}).model, data);
  const auto lsh = TrainLsh({.bits = 16}, MatrixColumns(data), RunContext());
  EXPECT_GT(kmh, NeighboursKept(lsh.model, data) + 0.05);
}

TEST(KMeansHash, SameAtAnyNumberOfThreads) {
  for (const Index samples : {0, 1500}) {
    ExpectSameAtAnyNumberOfThreads(
        MakeClusters(15, 5000, 9, 6), [&](const ColumnSource& source, const RunContext& context) {
          const KMeansHashOptions options{.bits = 10, .iterations = 4, .samples = samples};
          Trained<HashModel> trained = TrainKMeansHash(options, source, context);
          EXPECT_EQ(trained.summary.samples, samples == 0 ? 5000 : samples);
          return trained;
        });
  }
}

TEST(KMeansHash, OneBitFewSamplesAndEveryBitOfASubspace) {
  const MatrixF data = MakeClusters(24, 300, 8, 7);
  EXPECT_EQ(TrainKmh(data, {.bits = 1}).model.bits(), 1);
  // Fewer samples than bits, so that some subspaces have no spread in some directions.
  const MatrixF few = data.leftCols(17);
  EXPECT_EQ(TrainKmh(few, {.bits = 24}).model.encoder->Encode(data).size(), 300);
  EXPECT_EQ(TrainKmh(data.topRows(1), {.bits = 1}).model.dimension(), 1);
  const Trained<HashModel> wide = TrainKmh(data, {.bits = 18, .subspace_bits = 8, .iterations = 2});
  VectorF bits(3);
  bits << 8, 8, 2;
  EXPECT_EQ(ProductOf(wide).subspace_bits(), bits);
  EXPECT_EQ(ProductOf(wide).codewords().cols(), 256 + 256 + 4);
}

TEST(KMeansHash, Refuses) {
  EXPECT_THROW(KMeansHashOptions{.bits = 0}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.subspace_bits = 0}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.subspace_bits = 9}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.lambda = -1}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.iterations = -1}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.tolerance = NAN}.Validate(), Error);
  EXPECT_THROW(KMeansHashOptions{.samples = -1}.Validate(), Error);
  const MatrixF data = MakeClusters(8, 15, 3, 8);
  EXPECT_THAT(RefusalOf([&] { TrainKmh(data, {.bits = 9}); }),
              HasSubstr("8 dimensions has at most 8 bits, got 9"));
  EXPECT_THAT(RefusalOf([&] { TrainKmh(data, {.bits = 8}); }),
              HasSubstr("15 training samples for 16 codewords in a subspace"));
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainKMeansHash({.bits = 8, .iterations = 3}, source, context);
  });
}

}  // namespace
}  // namespace bitpool
