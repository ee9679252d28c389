#include "bitpool/hash/kernel_codes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "bitpool/base/error.h"
#include "bitpool/hash/initial_codes.h"
#include "bitpool/hash/kernel_columns.h"
#include "bitpool/hash/label_targets.h"
#include "bitpool/hash/testing.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

// Samples on as many rings as there are classes, one around the other, in turn: no line tells the
// classes apart.
MatrixF Rings(Index count, Index classes, uint64_t seed) {
  Random random(seed);
  MatrixF x = 0.1F * random.NormalMatrix(2, count);
  for (Index i = 0; i < count; ++i) {
    const double angle = 2 * std::numbers::pi * random.Uniform();
    const auto radius = static_cast<float>(1 + i % classes);
    x(0, i) += radius * static_cast<float>(std::cos(angle));
    x(1, i) += radius * static_cast<float>(std::sin(angle));
  }
  return x;
}

Labels InTurn(Index count, int32_t classes) {
  std::vector<int32_t> of;
  for (Index i = 0; i < count; ++i) of.push_back(static_cast<int32_t>(i) % classes);
  return Labels::Single(of);
}

struct Learned {
  std::shared_ptr<const KernelEncoder> encoder;
  TrainingSummary summary;
};
Learned Learn(const KernelCodeOptions& options, int bits, const MatrixF& x, const Labels& labels,
              const RunContext& context = RunContext()) {
  Learned learned;
  const LabelTargets targets(labels, x.cols());
  learned.encoder = LearnKernelCodes(options, bits, {.lambda = 1e-3}, MatrixColumns(x), targets,
                                     context, learned.summary);
  return learned;
}

// The share of bits in which samples of two classes differ, less that of samples of one class.
double Separation(const BinaryCodes& codes, Index classes) {
  double same = 0, other = 0, same_pairs = 0, other_pairs = 0;
  for (Index i = 0; i < codes.size(); ++i) {
    for (Index j = 0; j < i; ++j) {
      const auto distance = static_cast<double>(HammingDistance(codes.code(i), codes.code(j)));
      const bool alike = (i - j) % classes == 0;
      (alike ? same : other) += distance;
      (alike ? same_pairs : other_pairs) += 1;
    }
  }
  return (other / other_pairs - same / same_pairs) / codes.bits();
}

bool SameEncoder(const KernelEncoder& a, const KernelEncoder& b) {
  return SameBits(a.kernel().anchors(), b.kernel().anchors()) &&
         a.kernel().width() == b.kernel().width() && SameBits(a.map().weights, b.map().weights) &&
         SameBits(a.map().bias, b.map().bias);
}

TEST(KernelCodes, TellRingsApart) {
  const MatrixF x = Rings(600, 3, 1), fresh = Rings(150, 3, 2);
  const Learned learned = Learn({.anchors = 100}, 8, x, InTurn(600, 3));
  EXPECT_GT(Separation(learned.encoder->Encode(fresh), 3), 0.5);
  EXPECT_FALSE(learned.summary.interrupted);
}

// W₁ and c₁ are the ridge regression of the codes on k(x), where the codes have settled; solved
// here directly and in double precision.
TEST(KernelCodes, TheEncoderIsTheRidgeRegressionOfTheCodes) {
  const MatrixF x = Rings(200, 2, 3);
  // So strong a ridge that rounding does not matter.
  const KernelCodeOptions options{.anchors = 20, .width = 0.7, .ridge = 1e-2};
  const Learned learned = Learn(options, 4, x, InTurn(200, 2));
  const MatrixD k = learned.encoder->kernel().Columns(x).cast<double>();
  const MatrixD centred = k.colwise() - k.rowwise().mean();
  MatrixD gram = centred * centred.transpose();
  gram.diagonal().array() += options.ridge * gram.trace();
  // Two classes that the kernel tells apart have two codes, one the opposite of the other.
  const MatrixD projected = learned.encoder->Project(x).cast<double>();
  MatrixD codes(4, 200);
  for (Index i = 0; i < 200; ++i) {
    const VectorD mean = (projected.col(0) + projected.col(2) + projected.col(4)) / 3;
    codes.col(i) = (i % 2 == 0 ? 1.0 : -1.0) * mean.cwiseSign();
  }
  const MatrixD weights = gram.ldlt().solve(centred * codes.transpose()).transpose();
  const VectorD bias = codes.rowwise().mean() - weights * k.rowwise().mean();
  EXPECT_LT((learned.encoder->map().weights.cast<double>() - weights).norm(),
            1e-3 * weights.norm());
  EXPECT_LT((learned.encoder->map().bias.cast<double>() - bias).norm(), 1e-3 * bias.norm());
}

TEST(KernelCodes, AnchorsAreDifferentTrainingVectorsAndTheWidthIsAMultiple) {
  const MatrixF x = Rings(90, 3, 4);
  const Learned learned = Learn({.anchors = 40, .width = 2}, 5, x, InTurn(90, 3));
  const AnchorKernel& kernel = learned.encoder->kernel();
  ASSERT_EQ(kernel.size(), 40);
  Index before = -1;
  for (Index anchor = 0; anchor < 40; ++anchor) {
    Index found = before + 1;  // in the order of the samples
    while (found < 90 && x.col(found) != kernel.anchors().col(anchor)) ++found;
    ASSERT_LT(found, 90) << anchor;
    before = found;
  }
  double squares = 0;
  for (Index i = 0; i < 90; ++i) {
    for (Index anchor = 0; anchor < 40; ++anchor) {
      squares += (x.col(i) - kernel.anchors().col(anchor)).squaredNorm();
    }
  }
  EXPECT_NEAR(kernel.width(), 2 * std::sqrt(squares / (90 * 40)), 1e-4);
  EXPECT_EQ(Learn({.anchors = 1000}, 5, x, InTurn(90, 3)).encoder->kernel().size(), 90)
      << "all, when there are fewer";
  EXPECT_EQ(Learn({.anchors = 1}, 5, x, InTurn(90, 3)).encoder->kernel().size(), 1);
}

TEST(KernelCodes, AreTheSameAtAnyNumberOfThreadsAndHoweverMuchMemoryThereIs) {
  const MatrixF x = Rings(2500, 3, 5);
  const Labels labels = InTurn(2500, 3);
  const KernelCodeOptions options{.anchors = 50};
  const Learned one = Learn(options, 10, x, labels, RunContext({.threads = 1}));
  const Learned four = Learn(options, 10, x, labels, RunContext({.threads = 4}));
  EXPECT_TRUE(SameEncoder(*one.encoder, *four.encoder));
  const Learned lazy =
      Learn({.anchors = 50, .memory = 0}, 10, x, labels, RunContext({.threads = 2}));
  EXPECT_TRUE(SameEncoder(*one.encoder, *lazy.encoder));
  const Learned seeded = Learn(options, 10, x, labels, RunContext({.seed = 2}));
  EXPECT_FALSE(SameEncoder(*one.encoder, *seeded.encoder));
}

// Samples around the corners of a square, in turn.
MatrixF Corners(Index count, uint64_t seed) {
  MatrixF x = 0.3F * Random(seed).NormalMatrix(2, count);
  for (Index i = 0; i < count; ++i) {
    x(0, i) += i % 4 % 2 == 0 ? 0.0F : 5.0F;
    x(1, i) += i % 4 < 2 ? 0.0F : 5.0F;
  }
  return x;
}

// Two corners of a square have one label, the others another one. Nothing but the vectors tells the
// corners of one label apart.
TEST(KernelCodes, TellWithTheVectorsAlsoWhatHasNoLabel) {
  const MatrixF x = Corners(400, 9), fresh = Corners(100, 10);
  std::vector<int32_t> side;
  for (Index i = 0; i < 400; ++i) side.push_back(static_cast<int32_t>(i % 2));
  const Labels labels = Labels::Single(side);
  const auto separation = [&](double vectors) {
    const Learned learned =
        Learn({.anchors = 100, .ridge = 1e-4, .vectors = vectors}, 16, x, labels);
    const BinaryCodes codes = learned.encoder->Encode(fresh);
    BinaryCodes one_label(16);  // of two corners, in turn
    for (Index i = 0; i < 100; i += 2) one_label.Append(codes.code(i));
    return Separation(one_label, 2);
  };
  EXPECT_LT(separation(0), 0.05);
  EXPECT_GT(separation(1), 0.2);
}

// With the vectors the first codes stay, so there is nothing that an interruption could end.
TEST(KernelCodes, OfTheVectorsAreNotImproved) {
  std::stop_source stop;
  stop.request_stop();
  const MatrixF x = Corners(200, 11);
  const KernelCodeOptions options{.anchors = 50, .ridge = 1e-4, .vectors = 1};
  const Learned stopped =
      Learn(options, 8, x, InTurn(200, 4), RunContext({.stop = stop.get_token()}));
  EXPECT_FALSE(stopped.summary.interrupted);
  EXPECT_TRUE(SameEncoder(*stopped.encoder, *Learn(options, 8, x, InTurn(200, 4)).encoder));
}

TEST(KernelCodes, AnInterruptionLeavesTheFirstCodes) {
  std::stop_source stop;
  stop.request_stop();
  const MatrixF x = Rings(300, 3, 6);
  const Learned stopped =
      Learn({.anchors = 60}, 8, x, InTurn(300, 3), RunContext({.stop = stop.get_token()}));
  EXPECT_TRUE(stopped.summary.interrupted);
  EXPECT_GT(Separation(stopped.encoder->Encode(Rings(90, 3, 7)), 3), 0.2);
}

TEST(KernelColumns, AreTheSameKeptAndMadeAnew) {
  const MatrixF x = Rings(1500, 2, 8);
  const AnchorKernel kernel(x.leftCols(30), 0.8);
  const MatrixColumns source(x);
  const auto kept = MakeKernelColumns(kernel, source, size_t{30} * 1500 * 4, RunContext());
  const auto lazy = MakeKernelColumns(kernel, source, size_t{30} * 1500 * 4 - 1, RunContext());
  MatrixF a, b;
  for (const auto& columns : {kept.get(), lazy.get()}) {
    EXPECT_EQ(columns->dimension(), 30);
    EXPECT_EQ(columns->size(), 1500);
  }
  const ColumnsView in_memory = kept->Read(3, 7, a), anew = lazy->Read(3, 7, b);
  EXPECT_EQ(a.size(), 0) << "they have a memory of their own";
  EXPECT_EQ(anew.data(), b.data());
  EXPECT_LT((in_memory - anew).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(KernelCodeOptions, RefusesWhatHasNoMeaning) {
  const auto refusal = [](const KernelCodeOptions& options) {
    return RefusalOf([&] { options.Validate(); });
  };
  EXPECT_EQ(refusal({}), "(no error)");
  EXPECT_THAT(refusal({.anchors = -1}), HasSubstr("anchors: expected 1 or more, or 0"));
  EXPECT_THAT(refusal({.width = 0}), HasSubstr("width of the kernel"));
  EXPECT_THAT(refusal({.width = INFINITY}), HasSubstr("width of the kernel"));
  EXPECT_THAT(refusal({.ridge = NAN}), HasSubstr("ridge of the kernel"));
  EXPECT_THAT(refusal({.vectors = -1}), HasSubstr("weight of the vectors beside the labels"));
  EXPECT_THAT(refusal({.vectors = NAN}), HasSubstr("expected 0 or more, got nan"));
}

}  // namespace
}  // namespace bitpool
