#include "bitpool/pool/coupling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "bitpool/linalg/testing.h"
#include "bitpool/pool/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// A and b as the formulas have them.
struct Dense {
  MatrixD matrix;
  VectorD term;
};

Dense DenseAutoencoder(const LinearMap& encoder, const LinearMap& decoder, double scale) {
  const MatrixD w = decoder.weights.cast<double>() * encoder.weights.cast<double>();
  const MatrixD m = MatrixD::Identity(w.rows(), w.cols()) - w;
  const VectorD c =
      decoder.weights.cast<double>() * encoder.bias.cast<double>() + decoder.bias.cast<double>();
  return {scale * scale * m.transpose() * m, scale * m.transpose() * c};
}

Dense DenseLabels(const LinearMap& encoder, const LinearMap& decoder, double scale,
                  const VectorF& label) {
  const MatrixD w = decoder.weights.cast<double>() * encoder.weights.cast<double>();
  const VectorD rest = label.cast<double>() -
                       decoder.weights.cast<double>() * encoder.bias.cast<double>() -
                       decoder.bias.cast<double>();
  return {scale * scale * w.transpose() * w, scale * w.transpose() * rest};
}

void ExpectSame(const Coupling& coupling, const VectorF& term, const Dense& expected) {
  const double size = expected.matrix.norm();
  EXPECT_LT((coupling.DenseMatrix() - expected.matrix).norm(), 1e-12 * size);
  EXPECT_LT((term.cast<double>() - expected.term).norm(), 1e-6 * (expected.term.norm() + 1e-6));
  const VectorD in = Random(99).NormalMatrix(coupling.dimension(), 1).cast<double>();
  EXPECT_LT((coupling.Apply(in) - expected.matrix * in).norm(), 1e-12 * size * in.norm());
  const MatrixD gram = coupling.basis().transpose() * coupling.basis();
  EXPECT_LT((gram - MatrixD::Identity(coupling.rank(), coupling.rank())).norm(), 1e-12);
  if (coupling.rank() > 0) {
    EXPECT_GE((coupling.eigenvalues().array() + coupling.identity()).minCoeff(), 0);
  }
}

TEST(Coupling, AutoencoderIsTheFormula) {
  for (const double scale : {1.0, 0.01, 300.0}) {
    for (const auto& [dimension, bits] :
         std::vector<std::pair<Index, Index>>{{40, 6}, {10, 5}, {7, 6}, {3, 8}, {1, 1}}) {
      const LinearMap encoder = RandomMap(bits, dimension, 1);
      const LinearMap decoder = RandomMap(dimension, bits, 2);
      const Coupling coupling = Coupling::Autoencoder(encoder, decoder, scale);
      EXPECT_EQ(coupling.dimension(), dimension);
      EXPECT_EQ(coupling.rank(), std::min(dimension, 2 * bits));
      EXPECT_EQ(coupling.label_size(), 0);
      ExpectSame(coupling, coupling.RightHandSide(), DenseAutoencoder(encoder, decoder, scale));
    }
  }
}

TEST(Coupling, AutoencoderThatIsAProjection) {
  // W₁ = W₂ᵀ with orthonormal columns: the 2 × bits columns have rank `bits`, and A is zero there.
  LinearMap decoder = RandomMap(12, 3, 3);
  decoder.weights = MatrixF::Identity(12, 3);
  LinearMap encoder = RandomMap(3, 12, 4);
  encoder.weights = decoder.weights.transpose();
  const Coupling coupling = Coupling::Autoencoder(encoder, decoder);
  ExpectSame(coupling, coupling.RightHandSide(), DenseAutoencoder(encoder, decoder, 1));
  EXPECT_NEAR(coupling.Apply(VectorD::Unit(12, 1)).norm(), 0, 1e-14);
}

TEST(Coupling, LabelsAreTheFormula) {
  for (const double scale : {1.0, 20.0}) {
    for (const Index classes : {1, 3, 20}) {
      const LinearMap encoder = RandomMap(6, 30, 5);
      const LinearMap decoder = RandomMap(classes, 6, 6);
      const Coupling coupling = Coupling::Labels(encoder, decoder, scale);
      EXPECT_EQ(coupling.label_size(), classes);
      EXPECT_EQ(coupling.rank(), 6);
      const VectorF label = VectorF::Unit(classes, classes - 1);
      const VectorF term =
          coupling.RightHandSide({label.data(), static_cast<size_t>(label.size())});
      ExpectSame(coupling, term, DenseLabels(encoder, decoder, scale, label));
    }
  }
}

TEST(Coupling, NoneIsZero) {
  const Coupling coupling = Coupling::None(5);
  EXPECT_EQ(coupling.rank(), 0);
  EXPECT_TRUE(coupling.DenseMatrix().isZero(0));
  EXPECT_TRUE(coupling.Apply(VectorD::Ones(5)).isZero(0));
  EXPECT_TRUE(coupling.RightHandSide().isZero(0));
}

TEST(Coupling, RefusesWhatDoesNotFit) {
  const LinearMap encoder = RandomMap(3, 8, 1);
  const LinearMap decoder = RandomMap(8, 3, 2);
  EXPECT_THAT(RefusalOf([] { Coupling::None(0); }), HasSubstr("dimension"));
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, RandomMap(8, 4, 2)); }),
              HasSubstr("expected 3 inputs"));
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, RandomMap(7, 3, 2)); }),
              HasSubstr("expected 8 outputs"));
  EXPECT_THAT(RefusalOf([&] { Coupling::Labels(encoder, RandomMap(2, 4, 2)); }),
              HasSubstr("expected 3 inputs"));
  LinearMap odd = encoder;
  odd.bias.conservativeResize(2);
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(odd, decoder); }), HasSubstr("encoder"));
  LinearMap bad = decoder;
  bad.weights(1, 1) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, bad); }), HasSubstr("finite"));
  const LinearMap nothing = {.weights = MatrixF(3, 0), .bias = VectorF::Zero(3)};
  EXPECT_THAT(RefusalOf([&] { Coupling::Labels(nothing, RandomMap(2, 3, 2)); }),
              HasSubstr("dimension"));
  for (const double scale : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, decoder, scale); }),
                HasSubstr("scale"));
  }
  const std::vector<float> label = {1, 0};
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, decoder).RightHandSide(label); }),
              HasSubstr("expected 0 values, got 2"));
  EXPECT_THAT(RefusalOf([&] { Coupling::Labels(encoder, RandomMap(4, 3, 2)).RightHandSide(); }),
              HasSubstr("expected 4 values, got 0"));
}

// In the metric FᵀF, whatever F is, against the matrices written out.
TEST(Coupling, AutoencoderInAMetric) {
  constexpr Index kDimension = 9;
  const LinearMap encoder = RandomMap(4, kDimension, 1), decoder = RandomMap(kDimension, 4, 2);
  const MatrixF metric = Random(3).NormalMatrix(kDimension, kDimension);
  const Coupling coupling = Coupling::Autoencoder(encoder, decoder, metric);
  const MatrixD f = metric.cast<double>();
  const MatrixD m = MatrixD::Identity(kDimension, kDimension) -
                    decoder.weights.cast<double>() * encoder.weights.cast<double>();
  const VectorD constant =
      decoder.weights.cast<double>() * encoder.bias.cast<double>() + decoder.bias.cast<double>();
  const MatrixD expected = m.transpose() * f.transpose() * f * m;
  const VectorD term = m.transpose() * f.transpose() * f * constant;
  EXPECT_LT((coupling.DenseMatrix() - expected).norm(), 1e-10 * expected.norm());
  EXPECT_LT((coupling.RightHandSide().cast<double>() - term).norm(), 1e-6 * term.norm());
  // An empty one is the plain metric.
  EXPECT_EQ(Coupling::Autoencoder(encoder, decoder, MatrixF()).DenseMatrix(),
            Coupling::Autoencoder(encoder, decoder).DenseMatrix());
  EXPECT_THAT(RefusalOf([&] { Coupling::Autoencoder(encoder, decoder, MatrixF(3, 3)); }),
              HasSubstr("metric"));
}

}  // namespace
}  // namespace bitpool
