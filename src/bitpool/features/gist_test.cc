#include "bitpool/features/gist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr double kPi = std::numbers::pi;

// The reference: the authors' three steps in double precision, with plain sums for the Fourier
// transforms. A picture is indexed (y, x) here.
using Complex = std::complex<double>;
using Plane = Eigen::MatrixXcd;

MatrixD Pad(const MatrixD& picture, Index above, Index left, Index rows, Index cols) {
  const auto reflect = [](Index i, Index size) {
    while (i < 0 || i >= size) i = i < 0 ? -1 - i : 2 * size - 1 - i;
    return i;
  };
  MatrixD padded(rows, cols);
  for (Index y = 0; y < rows; ++y) {
    for (Index x = 0; x < cols; ++x) {
      padded(y, x) = picture(reflect(y - above, picture.rows()), reflect(x - left, picture.cols()));
    }
  }
  return padded;
}

// Σ value · exp(sign · 2πi (k y / rows + l x / cols)), along the columns, then along the rows.
Plane FourierSums(const Plane& values, double sign) {
  const auto matrix = [&](Index size) {
    Plane turns(size, size);
    for (Index i = 0; i < size; ++i) {
      for (Index j = 0; j < size; ++j) {
        const double part = static_cast<double>((i * j) % size) / static_cast<double>(size);
        turns(i, j) = std::polar(1.0, sign * 2 * kPi * part);
      }
    }
    return turns;
  };
  const Plane down = matrix(values.rows());
  const Plane across = matrix(values.cols());
  Plane half = Plane::Zero(values.rows(), values.cols());
  for (Index k = 0; k < values.rows(); ++k) {
    for (Index y = 0; y < values.rows(); ++y) half.row(k) += down(k, y) * values.row(y);
  }
  Plane full = Plane::Zero(values.rows(), values.cols());
  for (Index l = 0; l < values.cols(); ++l) {
    for (Index x = 0; x < values.cols(); ++x) full.col(l) += across(l, x) * half.col(x);
  }
  return full;
}

// The frequency that place i of a transform of this size stands for.
double FrequencyAt(Index i, Index size) {
  return static_cast<double>(i < size - size / 2 ? i : i - size);
}

Plane Filtered(const Plane& values, const std::function<double(double, double)>& transfer) {
  Plane spectrum = FourierSums(values, -1);
  for (Index k = 0; k < values.rows(); ++k) {
    for (Index l = 0; l < values.cols(); ++l) {
      spectrum(k, l) *= transfer(FrequencyAt(k, values.rows()), FrequencyAt(l, values.cols()));
    }
  }
  return FourierSums(spectrum, 1) / static_cast<double>(values.size());
}

MatrixD ReferencePrefilter(const MatrixD& picture, double cutoff) {
  const Index border = 5;
  const Index rows = picture.rows() + 2 * border;
  const Index cols = picture.cols() + 2 * border;
  Index side = std::max(rows, cols);
  side += side % 2;
  const MatrixD logarithms = (picture.array() + 1).log();
  const MatrixD padded = Pad(Pad(logarithms, border, border, rows, cols), 0, 0, side, side);
  const double width = cutoff / std::sqrt(std::log(2.0));
  const auto gaussian = [&](double fy, double fx) {
    return std::exp(-(fx * fx + fy * fy) / (width * width));
  };
  const MatrixD white = padded - Filtered(padded.cast<Complex>(), gaussian).real();
  const MatrixD energy = white.cwiseAbs2();
  const MatrixD local = Filtered(energy.cast<Complex>(), gaussian).cwiseAbs().cwiseSqrt();
  const MatrixD output = white.array() / (0.2 + local.array());
  return output.block(border, border, picture.rows(), picture.cols());
}

// In cycles per pixel, so that a filter means the same across and down when a picture is not
// square; the authors' grid, in cycles per picture, is the same for square ones.
double ReferenceGabor(double fy, double fx, double rows, double cols, int scale, int orientations,
                      int orientation) {
  const Complex wave(fx / cols, fy / rows);
  const double radius = std::abs(wave);
  double angle = std::arg(wave) + kPi / orientations * orientation;
  if (angle < -kPi) angle += 2 * kPi;
  if (angle > kPi) angle -= 2 * kPi;
  const double centre = 0.3 / std::pow(1.85, scale);
  const double narrowness = 16.0 * orientations * orientations / (32.0 * 32.0);
  return std::exp(-10 * 0.35 * std::pow(radius / centre - 1, 2) -
                  2 * narrowness * kPi * angle * angle);
}

VectorD ReferenceGist(const GistOptions& options, const MatrixD& original) {
  MatrixD picture = original.array() - original.minCoeff();
  if (picture.maxCoeff() > 0) picture *= 255 / picture.maxCoeff();
  const Index border = options.boundary_extension;
  const Index rows = picture.rows() + 2 * border;
  const Index cols = picture.cols() + 2 * border;
  const Plane padded =
      Pad(ReferencePrefilter(picture, options.prefilter_cutoff), border, border, rows, cols)
          .cast<Complex>();
  std::vector<double> descriptor;
  for (int scale = 0; scale < static_cast<int>(options.orientations_per_scale.size()); ++scale) {
    const int orientations = options.orientations_per_scale[static_cast<size_t>(scale)];
    for (int i = 0; i < orientations; ++i) {
      const Plane response = Filtered(padded, [&](double fy, double fx) {
        return ReferenceGabor(fy, fx, static_cast<double>(rows), static_cast<double>(cols), scale,
                              orientations, i);
      });
      for (Index bx = 0; bx < options.blocks; ++bx) {
        for (Index by = 0; by < options.blocks; ++by) {
          double sum = 0;
          Index count = 0;
          for (Index y = by * picture.rows() / options.blocks;
               y < (by + 1) * picture.rows() / options.blocks; ++y) {
            for (Index x = bx * picture.cols() / options.blocks;
                 x < (bx + 1) * picture.cols() / options.blocks; ++x) {
              sum += std::abs(response(border + y, border + x));
              ++count;
            }
          }
          descriptor.push_back(sum / static_cast<double>(count));
        }
      }
    }
  }
  return Eigen::Map<VectorD>(descriptor.data(), static_cast<Index>(descriptor.size()));
}

// A picture from its value at (y, x), as a column of pixels row by row.
template <class Value>
VectorF PictureColumn(Index width, Index height, const Value& value) {
  VectorF picture(width * height);
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      picture[y * width + x] =
          static_cast<float>(value(static_cast<double>(y), static_cast<double>(x)));
    }
  }
  return picture;
}

VectorF Noise(Index width, Index height, uint64_t seed) {
  Random random(seed);
  return PictureColumn(width, height,
                       [&](double, double) { return static_cast<double>(random.Below(256)); });
}

// Bright disc, dark bar and a slope.
VectorF Scene(Index width, Index height) {
  return PictureColumn(width, height, [&](double y, double x) {
    const double disc = std::hypot(y - 10, x - 18) < 6 ? 90 : 0;
    const double bar = std::abs(x - 5 - y / 4) < 2 ? -40 : 0;
    return 60 + 2 * y + x + disc + bar;
  });
}

MatrixD AsMatrix(const VectorF& picture, Index width, Index height) {
  return Eigen::Map<const MatrixF>(picture.data(), width, height).transpose().cast<double>();
}

// A wave whose logarithm, which is what the filters see, is a pure cosine. `angle` is the direction
// in which it runs, from x towards y.
VectorF Grating(Index size, double cycles_per_pixel, double angle) {
  return PictureColumn(size, size, [&](double y, double x) {
    const double phase =
        2 * kPi * cycles_per_pixel * (std::cos(angle) * x + std::sin(angle) * y) + 0.3;
    return std::exp(std::log(256.0) * (0.5 + 0.5 * std::cos(phase))) - 1;
  });
}

VectorF GistOf(const VectorF& picture, Index width = 32, Index height = 32,
               const GistOptions& options = {}) {
  return GistExtractor(options, width, height).Extract(picture);
}

// The mean response of each filter.
VectorF FilterMeans(const VectorF& descriptor, Index blocks = 4) {
  const Index each = blocks * blocks;
  return Eigen::Map<const MatrixF>(descriptor.data(), each, descriptor.size() / each)
      .colwise()
      .mean();
}

TEST(Gist, HasTheDimensionOfTheLiterature) {
  EXPECT_EQ(GistExtractor({}, 32, 32).dimension(), 320);
  EXPECT_EQ(GistExtractor({.orientations_per_scale = {8, 8, 8, 8}}, 28, 20).dimension(), 512);
  EXPECT_EQ(GistExtractor({.orientations_per_scale = {3}, .blocks = 2}, 9, 7).dimension(), 12);
}

TEST(Gist, AgreesWithPlainSums) {
  struct Case {
    GistOptions options;
    Index width, height;
  };
  const std::vector<Case> cases = {
      {{}, 32, 32},
      {{.orientations_per_scale = {4, 1}, .blocks = 3, .boundary_extension = 6}, 14, 10},
      {{.orientations_per_scale = {3, 2, 5}, .prefilter_cutoff = 2.5, .boundary_extension = 3},
       9,
       13},
      {{.orientations_per_scale = {6}, .blocks = 1, .boundary_extension = 0}, 11, 11},
      // The extension is larger than the picture, which is mirrored again and again.
      {{.orientations_per_scale = {2, 2}, .blocks = 2, .boundary_extension = 11}, 4, 3},
      {{.orientations_per_scale = {2}, .blocks = 1, .boundary_extension = 2}, 1, 1}};
  for (const auto& [options, width, height] : cases) {
    for (const VectorF& picture : {Noise(width, height, 1), Scene(width, height)}) {
      const VectorD expected = ReferenceGist(options, AsMatrix(picture, width, height));
      const VectorD actual = GistOf(picture, width, height, options).cast<double>();
      ASSERT_EQ(actual.size(), expected.size());
      EXPECT_LT((actual - expected).cwiseAbs().maxCoeff(), 2e-6 * (1 + expected.maxCoeff()))
          << width << " × " << height;
    }
  }
}

TEST(Gist, ConstantPictureHasNoResponse) {
  for (const float value : {0.0F, 77.0F, 255.0F, -1e30F}) {
    EXPECT_TRUE(GistOf(VectorF::Constant(1024, value)).isZero(0)) << value;
  }
}

TEST(Gist, ContrastAndBrightnessDoNotMatter) {
  const VectorF picture = Scene(32, 32);
  const VectorF plain = GistOf(picture);
  EXPECT_GT(plain.minCoeff(), 0);
  for (const float factor : {0.01F, 0.5F, 1e6F}) {
    const VectorF scaled = GistOf((picture.array() * factor + 3 * factor).matrix());
    EXPECT_LT((scaled - plain).cwiseAbs().maxCoeff(), 1e-4F) << factor;
  }
  // A range that a float cannot hold.
  VectorF extreme = VectorF::Constant(1024, -std::numeric_limits<float>::max());
  VectorF binary = VectorF::Zero(1024);
  for (const Index i : {100, 101, 400, 800}) {
    extreme[i] = std::numeric_limits<float>::max();
    binary[i] = 1;
  }
  EXPECT_LT((GistOf(extreme) - GistOf(binary)).cwiseAbs().maxCoeff(), 1e-6F);
}

TEST(Gist, GratingsAnswerAtTheirFilter) {
  const std::vector<int> orientations = {8, 8, 4};
  Index first = 0;
  for (size_t scale = 0; scale < orientations.size(); ++scale) {
    const double frequency = 0.3 / std::pow(1.85, scale);
    for (int i = 0; i < orientations[scale]; ++i) {
      // The filter of orientation θ passes waves that run in the direction −θ.
      const double angle = -kPi * i / orientations[scale];
      Index strongest = -1;
      FilterMeans(GistOf(Grating(32, frequency, angle))).maxCoeff(&strongest);
      EXPECT_EQ(strongest, first + i) << "scale " << scale << " orientation " << i;
    }
    first += orientations[scale];
  }
}

TEST(Gist, VerticalStripesAreTheFirstOrientation) {
  const auto stripes = [](double position) { return std::fmod(position, 4) < 2 ? 20.0 : 200.0; };
  const VectorF upright =
      FilterMeans(GistOf(PictureColumn(32, 32, [&](double, double x) { return stripes(x); })));
  const VectorF level =
      FilterMeans(GistOf(PictureColumn(32, 32, [&](double y, double) { return stripes(y); })));
  EXPECT_GT(upright[0], 5 * upright[4]);
  EXPECT_GT(level[4], 5 * level[0]);
  EXPECT_NEAR(upright[0], level[4], 1e-3F);
}

TEST(Gist, RotationPermutes) {
  // Not to the last digit: the transfer at frequency 0 depends on the orientation, and the highest
  // frequency counts as negative only.
  const auto value = [](double y, double x) {
    return 100 + 50 * std::sin(0.5 * x + 0.2 * y) + 40 * std::exp(-std::hypot(x - 8, y - 20) / 5);
  };
  const VectorF plain = GistOf(PictureColumn(32, 32, value));
  // A quarter turn to the left: the right column becomes the top row.
  const VectorF turned =
      GistOf(PictureColumn(32, 32, [&](double y, double x) { return value(x, 31 - y); }));
  Index filter = 0;
  for (const Index orientations : {8, 8, 4}) {
    for (Index i = 0; i < orientations; ++i) {
      const Index partner = (i + orientations / 2) % orientations;
      for (Index bx = 0; bx < 4; ++bx) {
        for (Index by = 0; by < 4; ++by) {
          const float before = plain[(filter + i) * 16 + bx * 4 + by];
          const float after = turned[(filter + partner) * 16 + by * 4 + (3 - bx)];
          EXPECT_NEAR(before, after, 1e-2F * plain.maxCoeff())
              << filter + i << " " << bx << " " << by;
        }
      }
    }
    filter += orientations;
  }
}

TEST(Gist, BlocksAreLocal) {
  // One dot: its block answers most, in the authors' order (top to bottom first).
  const VectorF dot =
      PictureColumn(32, 32, [](double y, double x) { return y == 20 && x == 3 ? 255 : 0; });
  const VectorF descriptor = GistOf(dot);
  for (Index filter = 0; filter < 16; ++filter) {
    Index strongest = -1;
    descriptor.segment(filter * 16, 16).maxCoeff(&strongest);
    EXPECT_EQ(strongest, 0 * 4 + 2) << filter;
  }
}

TEST(Gist, TheSameAtAnyNumberOfThreadsAndBesideAnyPicture) {
  const Index count = 150;
  MatrixF pictures(20 * 24, count);
  for (Index i = 0; i < count; ++i) pictures.col(i) = Noise(20, 24, static_cast<uint64_t>(i));
  const GistExtractor extractor({}, 20, 24);
  const MatrixF one = ExtractAll(extractor, pictures, RunContext({.threads = 1}));
  EXPECT_TRUE(SameBits(one, ExtractAll(extractor, pictures, RunContext({.threads = 4}))));
  EXPECT_TRUE(SameBits(one, extractor.Extract(pictures)));
  for (const Index i : {0, 1, 63, 64, 149}) {
    // From an odd address, too.
    VectorF shifted(pictures.rows() + 1);
    shifted.tail(pictures.rows()) = pictures.col(i);
    const MatrixF alone = extractor.Extract(shifted.tail(pictures.rows()));
    EXPECT_TRUE(SameBits(alone, MatrixF(one.col(i)))) << i;
  }
}

TEST(Gist, NoPictures) {
  const GistExtractor extractor({}, 32, 32);
  for (const MatrixF& none : {extractor.Extract(MatrixF(1024, 0)),
                              ExtractAll(extractor, MatrixF(1024, 0), RunContext())}) {
    EXPECT_EQ(none.rows(), 320);
    EXPECT_EQ(none.cols(), 0);
  }
}

TEST(Gist, RefusesPicturesOfAnotherSize) {
  const GistExtractor extractor({}, 32, 16);
  EXPECT_THAT(RefusalOf([&] { extractor.Extract(MatrixF::Zero(1024, 2)); }),
              HasSubstr("pictures of 1024 pixels; the extractor was made for 32 × 16 = 512"));
  for (const Index count : {0, 1}) {
    EXPECT_THAT(RefusalOf([&] { ExtractAll(extractor, MatrixF::Zero(511, count), RunContext()); }),
                HasSubstr("pictures of 511 pixels"))
        << count;
  }
}

TEST(Gist, NamesThePictureThatIsNotFinite) {
  const GistExtractor extractor({.blocks = 1}, 8, 8);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    MatrixF pictures = MatrixF::Random(64, 200);
    pictures(63, 199) = bad;
    pictures(5, 130) = bad;
    EXPECT_THAT(RefusalOf([&] { ExtractAll(extractor, pictures, RunContext()); }),
                HasSubstr("picture 130: a pixel is not a finite number"));
    EXPECT_THAT(RefusalOf([&] { extractor.Extract(pictures); }), HasSubstr("picture 130: "));
  }
}

TEST(Gist, RefusesOptionsWithoutMeaning) {
  const auto refusal = [](const GistOptions& options) {
    return RefusalOf([&] { GistExtractor(options, 32, 32); });
  };
  EXPECT_THAT(refusal({.orientations_per_scale = {}}),
              HasSubstr("scales of orientations_per_scale: expected 1 to 16, got 0"));
  EXPECT_THAT(refusal({.orientations_per_scale = {8, 0}}),
              HasSubstr("orientations_per_scale: expected 1 to 64, got 0"));
  EXPECT_THAT(refusal({.blocks = 0}), HasSubstr("blocks: expected 1 to"));
  EXPECT_THAT(refusal({.boundary_extension = -1}), HasSubstr("boundary_extension: expected 0 to"));
  for (const double cutoff : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal({.prefilter_cutoff = cutoff}),
                HasSubstr("prefilter_cutoff: expected a number above 0"));
  }
  EXPECT_THAT(RefusalOf([] { GistExtractor({}, 3, 32); }),
              HasSubstr("width of pictures: expected 4 to 1024, got 3"));
  EXPECT_THAT(RefusalOf([] { GistExtractor({}, 32, 2000); }),
              HasSubstr("height of pictures: expected 4 to 1024, got 2000"));
}

TEST(Gist, StopsWhenAsked) {
  std::stop_source source;
  source.request_stop();
  const RunContext context({.stop = source.get_token()});
  try {
    ExtractAll(GistExtractor({}, 32, 32), MatrixF::Zero(1024, 3), context);
    ADD_FAILURE() << "not stopped";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace bitpool
