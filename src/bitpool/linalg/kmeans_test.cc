#include "bitpool/linalg/kmeans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <stop_token>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The nearest centroid by the definition, in double precision.
Assignment BruteForce(const MatrixF& centroids, const MatrixF& block) {
  Assignment result;
  for (Index i = 0; i < block.cols(); ++i) {
    double best = std::numeric_limits<double>::infinity();
    int32_t cluster = -1;
    for (Index j = 0; j < centroids.cols(); ++j) {
      double distance = 0;
      for (Index row = 0; row < block.rows(); ++row) {
        const double d =
            static_cast<double>(block(row, i)) - static_cast<double>(centroids(row, j));
        distance += d * d;
      }
      if (distance < best) {
        best = distance;
        cluster = static_cast<int32_t>(j);
      }
    }
    result.clusters.push_back(cluster);
    result.squared_distances.push_back(static_cast<float>(best));
  }
  return result;
}

// Samples around `groups` centres that are far apart; sample i belongs to group i % groups.
MatrixF MakeGroups(Index dimension, Index count, Index groups, uint64_t seed, float mean = 0) {
  Random random(seed);
  const MatrixF centres = 20 * random.NormalMatrix(dimension, groups);
  MatrixF data = random.NormalMatrix(dimension, count);
  for (Index i = 0; i < count; ++i) data.col(i) += centres.col(i % groups);
  data.array() += mean;
  return data;
}

double MeanSquaredDistance(const MatrixF& centroids, const MatrixF& data) {
  double sum = 0;
  for (const float distance : BruteForce(centroids, data).squared_distances) {
    sum += static_cast<double>(distance);
  }
  return sum / static_cast<double>(data.cols());
}

std::set<std::vector<float>> DistinctColumns(const MatrixF& matrix) {
  std::set<std::vector<float>> distinct;
  for (const auto& column : matrix.colwise()) distinct.emplace(column.begin(), column.end());
  return distinct;
}

TEST(Assign, AgreesWithBruteForce) {
  struct Case {
    Index dimension, clusters, count;
    float mean;
  };
  for (const auto& [dimension, clusters, count, mean] :
       {Case{1, 1, 5, 0}, Case{1, 7, 200, 0}, Case{16, 50, 1100, 0}, Case{33, 3, 100, 0},
        Case{8, 20, 300, 1e6F}, Case{3, 6000, 70, 0}}) {
    Random random(1);
    MatrixF centroids = random.NormalMatrix(dimension, clusters);
    MatrixF block = random.NormalMatrix(dimension, count);
    centroids.array() += mean;
    block.array() += mean;
    const Assignment expected = BruteForce(centroids, block);
    const Assignment got = Assign(centroids, block);
    EXPECT_EQ(got.clusters, expected.clusters) << dimension << " " << clusters << " " << mean;
    for (size_t i = 0; i < got.clusters.size(); ++i) {
      ASSERT_NEAR(got.squared_distances[i], expected.squared_distances[i],
                  1e-6F * expected.squared_distances[i]);
    }
  }
}

TEST(Assign, TiesGoToTheLowestIndex) {
  // Small whole numbers, many at the same distance, and every centroid twice.
  Random random(2);
  MatrixF half(3, 40), block(3, 500);
  for (float& value : half.reshaped()) value = static_cast<float>(random.Below(4));
  for (float& value : block.reshaped()) value = static_cast<float>(random.Below(4));
  MatrixF centroids(3, 80);
  centroids << half, half;
  for (const float shift : {0.0F, 0.1F, 4096.0F}) {
    const MatrixF moved_centroids = centroids.array() + shift, moved = block.array() + shift;
    const Assignment got = Assign(moved_centroids, moved);
    EXPECT_EQ(got.clusters, BruteForce(moved_centroids, moved).clusters) << shift;
    for (const int32_t cluster : got.clusters) EXPECT_LT(cluster, 40);
  }
}

TEST(Assign, ASampleAtItsCentroidHasDistanceZero) {
  const MatrixF centroids = 1e6F * Random(3).NormalMatrix(5, 9);
  for (const float distance : Assign(centroids, centroids).squared_distances) {
    EXPECT_EQ(distance, 0);
  }
}

TEST(Assign, RefusesBadData) {
  const MatrixF centroids = MatrixF::Zero(2, 3);
  MatrixF block = MatrixF::Zero(2, 3000);
  EXPECT_TRUE(Assign(centroids, MatrixF(2, 0)).clusters.empty());
  EXPECT_THROW(Assign(centroids, MatrixF::Zero(3, 1)), Error);
  EXPECT_THROW(Assign(MatrixF(2, 0), block), Error);
  block(1, 2500) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { Assign(centroids, block); }), StartsWith("column 2500, row 1"));
  block(1, 2500) = 1e25F;
  EXPECT_THAT(RefusalOf([&] { Assign(centroids, block); }), HasSubstr("column 2500: its values"));
}

TEST(KMeans, FindsSeparateGroups) {
  for (const float mean : {0.0F, 1e4F}) {
    const MatrixF data = MakeGroups(6, 3000, 8, 4, mean);
    const auto [model, summary] =
        TrainKMeans({.clusters = 8}, MatrixColumns(data), RunContext({.seed = 3}));
    EXPECT_TRUE(summary.converged);
    const Assignment assignment = model.Assign(data);
    std::set<int32_t> used;
    for (size_t i = 0; i < 3000; ++i) {
      EXPECT_EQ(assignment.clusters[i], assignment.clusters[i % 8]);
      used.insert(assignment.clusters[i]);
    }
    EXPECT_EQ(used.size(), 8U);
    // Six dimensions of unit variance around each centre.
    EXPECT_NEAR(MeanSquaredDistance(model.centroids(), data), 6, 0.3);
  }
}

TEST(KMeans, CentroidsAreTheMeansOfTheirClustersAtTheEnd) {
  const MatrixF data = Random(5).NormalMatrix(4, 2500);
  const auto [model, summary] = TrainKMeans({.clusters = 10, .iterations = 500, .tolerance = 0},
                                            MatrixColumns(data), RunContext());
  ASSERT_TRUE(summary.converged);
  EXPECT_EQ(summary.iterations.back().moved, 0);
  const Assignment assignment = BruteForce(model.centroids(), data);
  MatrixD sums = MatrixD::Zero(4, 10);
  VectorD counts = VectorD::Zero(10);
  for (Index i = 0; i < data.cols(); ++i) {
    const Index cluster = assignment.clusters[static_cast<size_t>(i)];
    sums.col(cluster) += data.col(i).cast<double>();
    ++counts[cluster];
  }
  const MatrixD means = sums * counts.cwiseInverse().asDiagonal();
  EXPECT_LT((model.centroids().cast<double>() - means).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(KMeans, TheObjectiveNeverRisesAndIsTheTrueOne) {
  const MatrixF data = Random(6).NormalMatrix(5, 2100);
  const auto [model, summary] = TrainKMeans({.clusters = 40, .iterations = 12, .tolerance = 0},
                                            MatrixColumns(data), RunContext());
  ASSERT_EQ(summary.iterations.size(), 12U);
  for (size_t i = 1; i < summary.iterations.size(); ++i) {
    EXPECT_LE(summary.iterations[i].objective, summary.iterations[i - 1].objective * (1 + 1e-6));
  }
  EXPECT_EQ(summary.iterations[0].moved, 1);
  EXPECT_LT(summary.iterations[5].moved, 0.5);
  // One more iteration starts with the centroids that twelve end with.
  const auto longer = TrainKMeans({.clusters = 40, .iterations = 13, .tolerance = 0},
                                  MatrixColumns(data), RunContext());
  EXPECT_NEAR(longer.summary.iterations[12].objective, MeanSquaredDistance(model.centroids(), data),
              1e-6);
}

TEST(KMeans, TheToleranceDecidesWhenToStop) {
  const MatrixF data = Random(14).NormalMatrix(5, 2000);
  for (const double tolerance : {0.02, 1e-3}) {
    const auto [model, summary] =
        TrainKMeans({.clusters = 20, .iterations = 100, .tolerance = tolerance},
                    MatrixColumns(data), RunContext());
    EXPECT_TRUE(summary.converged);
    ASSERT_GE(summary.iterations.size(), 2U);
    for (size_t i = 1; i < summary.iterations.size(); ++i) {
      const double fall = 1 - summary.iterations[i].objective / summary.iterations[i - 1].objective;
      EXPECT_EQ(fall <= tolerance, i + 1 == summary.iterations.size()) << i;
    }
  }
}

TEST(KMeans, SeedingIsBetterThanRandom) {
  // 30 groups, most of them small: random seeds miss many, k-means++ nearly none.
  const MatrixF data = MakeGroups(4, 3000, 30, 7);
  const auto [model, summary] =
      TrainKMeans({.clusters = 30, .iterations = 1}, MatrixColumns(data), RunContext());
  double random_total = 0;
  for (uint64_t seed = 0; seed < 5; ++seed) {
    std::vector<Index> columns;
    for (const uint64_t i : Random(seed).Sample(3000, 30)) columns.push_back(static_cast<Index>(i));
    random_total += MeanSquaredDistance(GatherColumns(MatrixColumns(data), columns), data);
  }
  EXPECT_LT(summary.iterations[0].objective, 0.3 * random_total / 5);
}

TEST(KMeans, TheSameBitsAtAnyNumberOfThreadsAndFromAnySource) {
  const MatrixF data = Random(8).NormalMatrix(7, 9000);
  const KMeansOptions options = {.clusters = 33, .iterations = 6};
  const auto one = TrainKMeans(options, MatrixColumns(data), RunContext({.threads = 1}));
  for (const int threads : {2, 5}) {
    const auto many = TrainKMeans(options, CopiedColumns(data), RunContext({.threads = threads}));
    EXPECT_TRUE(SameBits(many.model.centroids(), one.model.centroids()));
    ASSERT_EQ(many.summary.iterations.size(), one.summary.iterations.size());
    for (size_t i = 0; i < one.summary.iterations.size(); ++i) {
      EXPECT_EQ(many.summary.iterations[i].objective, one.summary.iterations[i].objective);
      EXPECT_EQ(many.summary.iterations[i].moved, one.summary.iterations[i].moved);
    }
  }
  const auto other = TrainKMeans(options, MatrixColumns(data), RunContext({.seed = 2}));
  EXPECT_FALSE(SameBits(other.model.centroids(), one.model.centroids()));
}

TEST(KMeans, OneClusterIsTheMean) {
  const MatrixF data = Random(9).NormalMatrix(3, 500);
  const auto [model, summary] = TrainKMeans({.clusters = 1}, MatrixColumns(data), RunContext());
  EXPECT_LT((model.centroids().col(0).cast<double>() - data.cast<double>().rowwise().mean()).norm(),
            1e-6);
  EXPECT_TRUE(summary.converged);
}

TEST(KMeans, AsManyClustersAsSamples) {
  const MatrixF data = Random(10).NormalMatrix(3, 25);
  const auto [model, summary] = TrainKMeans({.clusters = 25}, MatrixColumns(data), RunContext());
  EXPECT_EQ(DistinctColumns(model.centroids()), DistinctColumns(data));
  EXPECT_EQ(summary.iterations.back().objective, 0);
}

TEST(KMeans, FewerDifferentSamplesThanClusters) {
  const MatrixF distinct = Random(11).NormalMatrix(2, 5);
  const MatrixF data = distinct.replicate(1, 40);
  const auto [model, summary] = TrainKMeans({.clusters = 12}, MatrixColumns(data), RunContext());
  EXPECT_EQ(DistinctColumns(model.centroids()), DistinctColumns(distinct));
  EXPECT_EQ(summary.iterations.back().objective, 0);
  EXPECT_EQ(summary.iterations.back().empty, 7);
  EXPECT_TRUE(summary.converged);
  const MatrixF constant = MatrixF::Constant(2, 10, 3);
  const auto same = TrainKMeans({.clusters = 4}, MatrixColumns(constant), RunContext());
  EXPECT_EQ(same.model.centroids(), MatrixF::Constant(2, 4, 3));
}

TEST(KMeans, EmptyClustersTakeTheFarthestSamples) {
  // 6000 samples at 0 and six others, each far away. The seeds come from 8 random samples, which
  // are all at 0, so seven clusters start empty and must find the six.
  MatrixF data = MatrixF::Zero(1, 6006);
  for (Index i = 0; i < 6; ++i) data(0, 1000 * i + 17) = static_cast<float>(100 * (i + 1));
  const auto [model, summary] =
      TrainKMeans({.clusters = 8, .seeding_samples = 8}, MatrixColumns(data), RunContext());
  EXPECT_EQ(summary.iterations[0].empty, 7);
  EXPECT_EQ(DistinctColumns(model.centroids()), DistinctColumns(data));
  EXPECT_EQ(summary.iterations.back().objective, 0);
}

TEST(KMeans, RepeatedOutliersTakeOneEmptyCluster) {
  MatrixF data = MatrixF::Zero(1, 4000);
  for (Index i = 0; i < 10; ++i) data(0, 100 * i + 3) = 1000;  // the same place ten times
  data(0, 2222) = 7;
  const auto [model, summary] = TrainKMeans({.clusters = 3, .iterations = 1, .seeding_samples = 3},
                                            MatrixColumns(data), RunContext());
  EXPECT_EQ(summary.iterations[0].empty, 2);
  const std::set<std::vector<float>> centroids = DistinctColumns(model.centroids());
  EXPECT_TRUE(centroids.contains({1000.0F}));
  EXPECT_TRUE(centroids.contains({7.0F}));
}

TEST(KMeans, RefusesWhatHasNoMeaning) {
  const MatrixF data = MatrixF::Zero(2, 5);
  EXPECT_THAT(RefusalOf([&] { TrainKMeans({.clusters = 6}, MatrixColumns(data), RunContext()); }),
              HasSubstr("6 cannot be found in 5 samples of 2 dimensions; ask for fewer clusters"));
  const MatrixF none(2, 0), flat(0, 9);
  EXPECT_THROW(TrainKMeans({.clusters = 1}, MatrixColumns(none), RunContext()), Error);
  EXPECT_THROW(TrainKMeans({.clusters = 1}, MatrixColumns(flat), RunContext()), Error);
  EXPECT_THROW(KMeansOptions{.clusters = 0}.Validate(), Error);
  EXPECT_THROW(KMeansOptions{.iterations = 0}.Validate(), Error);
  EXPECT_THROW(KMeansOptions{.tolerance = -0.1}.Validate(), Error);
  EXPECT_THROW(KMeansOptions{.tolerance = std::nan("")}.Validate(), Error);
  EXPECT_THROW(KMeansOptions{.seeding_samples = -1}.Validate(), Error);
}

TEST(KMeans, NamesTheColumnThatIsNotFinite) {
  MatrixF data = Random(12).NormalMatrix(3, 9000);
  data(2, 4321) = std::numeric_limits<float>::infinity();
  for (const int threads : {1, 3}) {
    // Whether or not the sample for seeding has it.
    for (const Index seeding : {2, 9000}) {
      EXPECT_THAT(RefusalOf([&] {
                    TrainKMeans({.clusters = 2, .seeding_samples = seeding}, MatrixColumns(data),
                                RunContext({.threads = threads}));
                  }),
                  StartsWith("column 4321, row 2"));
    }
  }
}

TEST(KMeans, StopsWhenAskedAndReportsBriefly) {
  const MatrixF data = Random(13).NormalMatrix(2, 100);
  std::stop_source source;
  source.request_stop();
  try {
    TrainKMeans({.clusters = 2}, MatrixColumns(data), RunContext({.stop = source.get_token()}));
    FAIL() << "ran to its end";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  const auto trained = TrainKMeans({.clusters = 2}, MatrixColumns(data), RunContext());
  const std::string report = trained.summary.BriefReport();
  EXPECT_THAT(report, StartsWith("k-means: 2 clusters of 100 samples, "));
  EXPECT_EQ(report.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace bitpool
