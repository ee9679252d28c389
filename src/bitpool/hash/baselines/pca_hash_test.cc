#include "bitpool/hash/baselines/pca_hash.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "bitpool/hash/baselines/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

Trained<HashModel> TrainPca(const MatrixF& data, int bits) {
  return TrainPcaHash({.bits = bits}, MatrixColumns(data), RunContext());
}

TEST(PcaHash, CodesAreSignsOfSingularVectors) {
  for (const float mean : {0.0F, 100.0F}) {
    const MatrixF data = MakeClusters(16, 600, 11, 1, mean);
    const Trained<HashModel> trained = TrainPca(data, 10);
    EXPECT_EQ(trained.model.method, "pcah");
    EXPECT_EQ(trained.summary.samples, 600);
    const MatrixD centred = data.cast<double>().colwise() - MeanOf(data);
    const Eigen::JacobiSVD<MatrixD> svd(centred, Eigen::ComputeThinU);
    const MatrixD expected = svd.matrixU().leftCols(10).transpose() * centred;
    const MatrixF projected = trained.model.encoder->Project(data);
    const BinaryCodes codes = trained.model.encoder->Encode(data);
    for (int bit = 0; bit < 10; ++bit) {
      const VectorD h = projected.row(bit).cast<double>().transpose();
      const VectorD wanted = expected.row(bit).transpose();
      const double side = h.dot(wanted) > 0 ? 1 : -1;  // a singular vector may point either way
      EXPECT_LT((h - side * wanted).norm(), 2e-2 * wanted.norm()) << bit;
      for (Index i = 0; i < 600; ++i) {
        if (std::abs(wanted[i]) > 0.05) {
          EXPECT_EQ(BitOf(codes, i, bit), side * wanted[i] > 0);
        }
      }
    }
  }
}

TEST(PcaHash, ReconstructsBetterWithMoreBits) {
  const MatrixF data = MakeClusters(16, 2000, 11, 2);
  const MatrixColumns source(data);
  double previous = (data.cast<double>().colwise() - MeanOf(data)).squaredNorm() / 2000;
  for (const int bits : {1, 4, 16}) {
    const double error = ReconstructionError(TrainPca(data, bits).model, source, RunContext());
    EXPECT_LT(error, previous) << bits;
    previous = error;
  }
}

TEST(PcaHash, SameAtAnyNumberOfThreads) {
  ExpectSameAtAnyNumberOfThreads(MakeClusters(12, 5000, 9, 3),
                                 [](const ColumnSource& source, const RunContext& context) {
                                   return TrainPcaHash({.bits = 12}, source, context);
                                 });
}

TEST(PcaHash, OneBitOneDimensionAndFewSamples) {
  const MatrixF data = MakeClusters(20, 6, 3, 4);
  EXPECT_EQ(TrainPca(data, 1).model.bits(), 1);
  EXPECT_EQ(TrainPca(data, 20).model.encoder->Encode(data).size(), 6);
  MatrixF line(1, 4);
  line << -3, -1, 2, 2;
  const BinaryCodes codes = TrainPca(line, 1).model.encoder->Encode(line);
  EXPECT_FALSE(BitOf(codes, 0, 0));
  EXPECT_FALSE(BitOf(codes, 1, 0));
  EXPECT_TRUE(BitOf(codes, 2, 0));
}

TEST(PcaHash, Refuses) {
  EXPECT_THROW(PcaHashOptions{.bits = 0}.Validate(), Error);
  EXPECT_THAT(RefusalOf([] { TrainPca(MakeClusters(4, 10, 2, 5), 5); }),
              HasSubstr("4 dimensions has at most 4 bits, got 5"));
  ExpectRefusesBadData([](const ColumnSource& source, const RunContext& context) {
    return TrainPcaHash({.bits = 8}, source, context);
  });
}

}  // namespace
}  // namespace bitpool
