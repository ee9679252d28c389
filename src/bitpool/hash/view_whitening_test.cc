#include "bitpool/hash/view_whitening.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <bit>
#include <limits>

#include "bitpool/hash/itq.h"
#include "bitpool/hash/mapped_encoder.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/hash/view_columns.h"
#include "bitpool/hash/view_sums.h"
#include "bitpool/hash/view_testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

// S by its definition.
MatrixD WithinPictures(const MatrixF& images, Index per_picture) {
  MatrixD sum = MatrixD::Zero(images.rows(), images.rows());
  for (Index first = 0; first < images.cols(); first += per_picture) {
    const MatrixD own = images.middleCols(first, per_picture).cast<double>();
    const MatrixD apart = own.colwise() - own.rowwise().mean();
    for (Index i = 0; i < per_picture; ++i) sum += apart.col(i) * apart.col(i).transpose();
  }
  return sum / static_cast<double>(images.cols());
}

MatrixD Evened(MatrixD within, double epsilon) {
  const auto dimension = static_cast<double>(within.rows());
  within += epsilon * within.trace() / dimension * MatrixD::Identity(within.rows(), within.rows());
  return within;
}

ViewWhitening LearnWhitening(const MatrixF& images, Index per_picture, double epsilon = 0.2,
                             int threads = 2) {
  const MatrixColumns source(images);
  return LearnWhitening({.epsilon = epsilon}, {.vectors = source, .per_picture = per_picture},
                        RunContext({.threads = threads}));
}

bool SameWhitening(const ViewWhitening& a, const ViewWhitening& b) {
  return SameBits(a.forward.weights, b.forward.weights) &&
         SameBits(a.forward.bias, b.forward.bias) && SameBits(a.back.weights, b.back.weights) &&
         SameBits(a.back.bias, b.back.bias);
}

void ExpectByDefinition(const MatrixF& images, Index per_picture, double epsilon) {
  const ViewWhitening whitening = LearnWhitening(images, per_picture, epsilon);
  const MatrixD evened = Evened(WithinPictures(images, per_picture), epsilon);
  const MatrixD a = whitening.forward.weights.cast<double>();
  const MatrixD identity = MatrixD::Identity(images.rows(), images.rows());
  EXPECT_LT((a * evened * a.transpose() - identity).norm(), 5e-3);
  const MatrixD metric = evened.inverse();
  EXPECT_LT((a.transpose() * a - metric).norm(), 5e-3 * metric.norm());
  const VectorD mean = images.cast<double>().rowwise().mean();
  EXPECT_LT((whitening.forward.bias.cast<double>() + a * mean).norm(), 1e-3 * (a * mean).norm());
  // And back.
  const MatrixD back = whitening.back.weights.cast<double>();
  EXPECT_LT((back * a - identity).norm(), 5e-3);
  EXPECT_LT((whitening.back.bias.cast<double>() - mean).norm(), 1e-4 * mean.norm());
}

TEST(LearnWhitening, IsWhatItsDefinitionSays) {
  for (const Index each : {2, 3, 9}) {
    for (const double epsilon : {0.03, 0.2, 3.0}) {
      ExpectByDefinition(ViewSamples(12, 300, each, 1), each, epsilon);
    }
  }
}

// Four pictures differ from their means in six directions at most.
TEST(LearnWhitening, WorksWithFewerPicturesThanDimensions) {
  ExpectByDefinition(ViewSamples(40, 4, 3, 2), 3, 0.2);
  ExpectByDefinition(ViewSamples(40, 2, 2, 3), 2, 1);
}

// The images of the first picture lie 2 from their mean along x, those of the second 1 along y:
// S = diag(8/4, 2/4), whose mean variance is 1.25, and ε = 0.4 adds a half to both.
TEST(LearnWhitening, ByHandInTwoDimensions) {
  const MatrixF images = (MatrixF(2, 4) << 12, 8, 0, 0,  //
                          0, 0, 1, -1)
                             .finished();
  const ViewWhitening whitening = LearnWhitening(images, 2, 0.4);
  const MatrixF a = (MatrixF(2, 2) << 1 / std::sqrt(2.5F), 0, 0, 1).finished();
  EXPECT_TRUE(whitening.forward.weights.isApprox(a, 1e-5F)) << whitening.forward.weights;
  EXPECT_TRUE(whitening.forward.bias.isApprox(VectorF(-a * VectorF{{5, 0}}), 1e-5F));
  EXPECT_TRUE(whitening.back.weights.isApprox(MatrixF(a.inverse()), 1e-5F));
  EXPECT_TRUE(whitening.back.bias.isApprox(VectorF{{5, 0}}, 1e-5F));
}

// By the diagonal all images of a picture differ: S = (1 1; 1 1), and with ε = 1 the metric is
// (2 1; 1 2)⁻¹ = (2 −1; −1 2) / 3.
TEST(LearnWhitening, ByHandAlongADiagonal) {
  const MatrixF images = (MatrixF(2, 4) << 1, -1, 8, 6,  //
                          1, -1, 3, 1)
                             .finished();
  const ViewWhitening whitening = LearnWhitening(images, 2, 1);
  const MatrixF metric = whitening.forward.weights.transpose() * whitening.forward.weights;
  const MatrixF expected = (MatrixF(2, 2) << 2, -1, -1, 2).finished() / 3;
  EXPECT_TRUE(metric.isApprox(expected, 1e-5F)) << metric;
}

TEST(LearnWhitening, RefusesWhatHasNoViews) {
  const MatrixF images = ViewSamples(4, 6, 2, 1);
  const auto refusal = [](const MatrixF& some, Index per_picture, double epsilon = 0.2) {
    return RefusalOf([&] { LearnWhitening(some, per_picture, epsilon); });
  };
  EXPECT_EQ(refusal(images, 2), "(no error)");
  EXPECT_THAT(refusal(images, 1), ::testing::HasSubstr("at least 2 images of each"));
  EXPECT_THAT(refusal(images, 1), ::testing::HasSubstr("got 12 with 1"));
  EXPECT_THAT(refusal(images, 12), ::testing::HasSubstr("got 1 with 12"));
  EXPECT_THAT(refusal(MatrixF(4, 0), 2), ::testing::HasSubstr("got 0 with 2"));
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal(images, 2, bad), ::testing::HasSubstr("epsilon")) << bad;
  }
}

// Equal views say nothing, even where their means are rounded, far from the origin.
TEST(LearnWhitening, RefusesViewsThatAreAllEqual) {
  for (const Index each : {2, 3, 9}) {
    for (const float away : {0.0F, 0.1F, 100.0F}) {
      MatrixF images = ViewSamples(8, 50, each, 1);
      for (Index i = 0; i < images.cols(); ++i) images.col(i) = images.col(i - i % each);
      images.array() += away;
      EXPECT_THAT(RefusalOf([&] { LearnWhitening(images, each); }),
                  ::testing::HasSubstr("the views of no picture differ"));
    }
  }
  EXPECT_THAT(RefusalOf([&] { LearnWhitening(MatrixF::Constant(4, 12, 3), 3); }),
              ::testing::HasSubstr("the views of no picture differ"));
}

TEST(LearnWhitening, NamesAColumnThatIsNoNumber) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    MatrixF images = ViewSamples(4, 20, 3, 1);
    images(2, 17) = bad;
    EXPECT_THAT(RefusalOf([&] { LearnWhitening(images, 3); }), ::testing::HasSubstr("column 17"));
  }
}

TEST(LearnWhitening, IsTheSameAtAnyNumberOfThreadsAndFromAFile) {
  const MatrixF images = ViewSamples(16, 5000, 3, 1);
  const ViewWhitening one = LearnWhitening(images, 3, 0.2, 1);
  EXPECT_TRUE(SameWhitening(LearnWhitening(images, 3, 0.2, 4), one));
  const CopiedColumns copied(images);
  EXPECT_TRUE(SameWhitening(LearnWhitening({.epsilon = 0.2}, {.vectors = copied, .per_picture = 3},
                                           RunContext({.threads = 4})),
                            one));
}

// The sums over shards of whole pictures, merged in their order.
TEST(FindWhitening, AddsUpOverShardsOfPictures) {
  constexpr Index kEach = 3, kPictures = 5000;
  const MatrixF images = ViewSamples(16, kPictures, kEach, 1);
  TermMerger<Sums> merger;
  for (const auto& [first, end] :
       {std::pair<Index, Index>{0, kShardAlignment}, {kShardAlignment, kPictures}}) {
    const MatrixF part = images.middleCols(kEach * first, kEach * (end - first));
    const MatrixColumns columns(part);
    auto terms = SumViews({.first = first, .count = end - first, .total = kPictures},
                          {.vectors = columns, .per_picture = kEach}, RunContext());
    merger.Add(terms);
  }
  EXPECT_TRUE(SameWhitening(FindWhitening({.epsilon = 0.2}, merger.Take(BlankViewSums(16)), kEach),
                            LearnWhitening(images, kEach)));
}

// Far from the origin the difference of two scatters in single precision would have no digit left.
TEST(LearnWhitening, DoesNotCareHowFarThePicturesAreApart) {
  MatrixF images = ViewSamples(8, 100, 4, 3);
  const MatrixD expected = WithinPictures(images, 4);
  for (Index i = 0; i < images.cols(); ++i) {
    images.col(i).array() += static_cast<float>(64 * (i / 4 % 3));
  }
  const MatrixD a = LearnWhitening(images, 4, 0.2).forward.weights.cast<double>();
  const MatrixD whitened = a * Evened(expected, 0.2) * a.transpose();
  EXPECT_LT((whitened - MatrixD::Identity(8, 8)).norm(), 1e-3);
}

// What a model of whitened vectors makes of them.
struct Behind {
  MatrixF images, whitened;
  ViewWhitening whitening;

  explicit Behind(uint64_t seed) : images(ViewSamples(12, 200, 3, seed)) {
    whitening = LearnWhitening(images, 3);
    whitened = (whitening.forward.weights * images).colwise() + whitening.forward.bias;
  }
};

// Bits that differ and lie farther from zero than rounding.
Index Differing(const MatrixF& a, const MatrixF& b, float tolerance) {
  return (((a.array() >= 0) != (b.array() >= 0)) && (a.array().abs() > tolerance)).count();
}

void ExpectReconstructsTheSame(const HashModel& folded, const HashModel& model,
                               const Behind& behind) {
  const BinaryCodes codes = model.encoder->Encode(behind.whitened);
  const MatrixF whitened = model.Reconstruct(codes);
  const MatrixF expected =
      (behind.whitening.back.weights * whitened).colwise() + behind.whitening.back.bias;
  EXPECT_TRUE(folded.Reconstruct(codes).isApprox(expected, 1e-4F));
  // Which is nearer to the images than their mean is.
  const VectorF mean = behind.images.rowwise().mean();
  EXPECT_LT((expected - behind.images).squaredNorm(),
            (behind.images.colwise() - mean).squaredNorm());
}

TEST(FoldWhitening, OfALinearModelGivesALinearOneWithItsCodes) {
  const Behind behind(1);
  const HashModel model = TrainItq({.bits = 8}, MatrixColumns(behind.whitened), RunContext()).model;
  const HashModel folded = FoldWhitening(behind.whitening, model);
  EXPECT_EQ(folded.method, "itq");
  EXPECT_NE(dynamic_cast<const LinearEncoder*>(folded.encoder.get()), nullptr);
  EXPECT_EQ(folded.encoder->Parameters().size(), model.encoder->Parameters().size());
  const MatrixF expected = model.encoder->Project(behind.whitened);
  const MatrixF projected = folded.encoder->Project(behind.images);
  EXPECT_TRUE(projected.isApprox(expected, 1e-4F));
  EXPECT_EQ(Differing(projected, expected, 1e-3F), 0);
  ExpectReconstructsTheSame(folded, model, behind);
}

// Both layers read the vectors, so the whitening must become part of both.
TEST(FoldWhitening, OfTwoLayersGivesTwoLayersWithTheirNumbers) {
  constexpr Index kUnits = 20, kBits = 6;
  const Behind behind(3);
  Random random(8);
  const auto some = [&](Index rows, Index cols) -> MatrixF {
    return 0.3F * random.NormalMatrix(rows, cols);
  };
  const TwoLayerMap map{.linear = {.weights = some(kBits, 12), .bias = some(kBits, 1)},
                        .hidden = {.weights = some(kUnits, 12), .bias = some(kUnits, 1)},
                        .output = some(kBits, kUnits)};
  HashModel model{
      .method = "sav", .encoder = std::make_shared<TwoLayerEncoder>(map), .decoder = {}};
  model.decoder = FitDecoder(*model.encoder, MatrixColumns(behind.whitened), RunContext());
  const HashModel folded = FoldWhitening(behind.whitening, model);
  EXPECT_EQ(folded.method, "sav");
  const auto* layers = dynamic_cast<const TwoLayerEncoder*>(folded.encoder.get());
  ASSERT_NE(layers, nullptr);
  EXPECT_TRUE(SameBits(layers->map().output, map.output));
  const MatrixF expected = model.encoder->Project(behind.whitened);
  const MatrixF projected = folded.encoder->Project(behind.images);
  EXPECT_TRUE(projected.isApprox(expected, 1e-4F));
  EXPECT_EQ(Differing(projected, expected, 1e-3F), 0);
  ExpectReconstructsTheSame(folded, model, behind);
  // The hidden layer bends, and each of the layers counts.
  const MatrixF hidden = HiddenUnits(map, behind.whitened);
  EXPECT_GT((hidden.array() == 0).count(), hidden.size() / 4);
  EXPECT_GT((hidden.array() > 0).count(), hidden.size() / 4);
  const MatrixF bent = map.output * hidden;
  EXPECT_GT(bent.norm(), 0.1F * expected.norm());
  EXPECT_GT((expected - bent).norm(), 0.1F * expected.norm());
}

// Distances to points, which no linear map can have.
class PointEncoder : public HashEncoder {
 public:
  explicit PointEncoder(MatrixF points) : points_(std::move(points)) {}
  Index dimension() const override { return points_.rows(); }
  int bits() const override { return static_cast<int>(points_.cols()); }
  std::string_view kind() const override { return "points"; }
  std::vector<NamedMatrix> Parameters() const override { return {{"points", points_}}; }

 private:
  MatrixF ProjectColumns(const MatrixFRef& block) const override {
    MatrixF values(points_.cols(), block.cols());
    for (Index i = 0; i < block.cols(); ++i) {
      values.col(i) = (points_.colwise() - block.col(i)).colwise().norm().transpose();
    }
    return (values.array() - 9).matrix();
  }

  MatrixF points_;
};

TEST(FoldWhitening, StandsBeforeAnyOtherEncoder) {
  const Behind behind(2);
  HashModel model{.method = "points",
                  .encoder = std::make_shared<PointEncoder>(2 * Random(7).NormalMatrix(12, 6)),
                  .decoder = {}};
  model.decoder = FitDecoder(*model.encoder, MatrixColumns(behind.whitened), RunContext());
  const HashModel folded = FoldWhitening(behind.whitening, model);
  EXPECT_NE(dynamic_cast<const MappedEncoder*>(folded.encoder.get()), nullptr);
  EXPECT_EQ(folded.dimension(), 12);
  EXPECT_EQ(folded.bits(), 6);
  EXPECT_TRUE(
      SameBits(folded.encoder->Project(behind.images), model.encoder->Project(behind.whitened)));
  ExpectReconstructsTheSame(folded, model, behind);
}

}  // namespace
}  // namespace bitpool
