#include "bitpool/features/sift_extractor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <thread>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"

namespace bitpool {
namespace {

// A scene without pixels: round spots, dark and light, so that it can be seen from anywhere.
struct Spot {
  double x, y, radius, light;
};

std::vector<Spot> MakeScene(double side, int spots, uint64_t seed) {
  Random random(seed);
  std::vector<Spot> scene;
  for (int i = 0; i < spots; ++i) {
    scene.push_back({.x = side * random.Uniform(),
                     .y = side * random.Uniform(),
                     .radius = 2 + 5 * random.Uniform(),
                     .light = random.Uniform() - 0.5});
  }
  return scene;
}

// How pixels see the scene: a pixel p shows what is at scale · turn(p − centre) + centre.
struct View {
  double centre = 0;
  double scale = 1;
  double angle = 0;

  std::pair<double, double> SceneOf(double x, double y) const {
    const double c = scale * std::cos(angle), s = scale * std::sin(angle);
    return {c * (x - centre) - s * (y - centre) + centre,
            s * (x - centre) + c * (y - centre) + centre};
  }
};

GreyPicture Render(const std::vector<Spot>& scene, Index width, Index height, const View& view) {
  GreyPicture picture = {.width = width, .height = height, .pixels = {}};
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      const auto [u, v] = view.SceneOf(static_cast<double>(x), static_cast<double>(y));
      double light = 0.5;
      for (const Spot& spot : scene) {
        const double squared = std::pow(u - spot.x, 2) + std::pow(v - spot.y, 2);
        light += spot.light * std::exp(-squared / (2 * spot.radius * spot.radius));
      }
      picture.pixels.push_back(static_cast<float>(std::clamp(light, 0.0, 1.0)));
    }
  }
  return picture;
}

GreyPicture MakeTexture(Index width, Index height, uint64_t seed) {
  Random random(seed);
  GreyPicture picture = {.width = width, .height = height, .pixels = {}};
  for (Index i = 0; i < width * height; ++i) {
    picture.pixels.push_back(static_cast<float>(random.Uniform()));
  }
  return picture;
}

GreyPicture Uniform(Index width, Index height, float value) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<float>(static_cast<size_t>(width * height), value)};
}

bool SameBits(const MatrixF& a, const MatrixF& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 ||
          std::memcmp(a.data(), b.data(), sizeof(float) * static_cast<size_t>(a.size())) == 0);
}

// Of the regions of the first view that the second one shows too, the share whose nearest
// descriptor is that of the same place.
double MatchingShare(const HessianAffineSift& extractor, const std::vector<Spot>& scene, Index side,
                     const View& second) {
  const View first = {.centre = second.centre};
  const DescribedRegions a = extractor.Describe(Render(scene, side, side, first));
  const DescribedRegions b = extractor.Describe(Render(scene, side, side, second));
  EXPECT_GT(a.regions.size(), 30);
  EXPECT_GT(b.regions.size(), 30);
  int visible = 0, matching = 0;
  for (size_t i = 0; i < a.regions.size(); ++i) {
    const auto distance = [&](const AffineRegion& region) {
      const auto [x, y] =
          second.SceneOf(static_cast<double>(region.x), static_cast<double>(region.y));
      return std::hypot(x - static_cast<double>(a.regions[i].x),
                        y - static_cast<double>(a.regions[i].y));
    };
    if (std::ranges::none_of(b.regions, [&](const auto& r) { return distance(r) < 2; })) continue;
    ++visible;
    Index nearest = 0;
    (b.descriptors.colwise() - a.descriptors.col(static_cast<Index>(i)))
        .colwise()
        .squaredNorm()
        .minCoeff(&nearest);
    if (distance(b.regions[static_cast<size_t>(nearest)]) < 2) ++matching;
  }
  EXPECT_GT(visible, 20);
  return static_cast<double>(matching) / visible;
}

TEST(HessianAffineSift, FindsSpots) {
  const std::vector<Spot> scene = {{.x = 40, .y = 50, .radius = 4, .light = 0.4},
                                   {.x = 120, .y = 45, .radius = 8, .light = -0.4},
                                   {.x = 75, .y = 110, .radius = 6, .light = 0.3}};
  for (const int first_octave : {-1, 0}) {
    const HessianAffineSift extractor({.first_octave = first_octave});
    const DescribedRegions found = extractor.Describe(Render(scene, 160, 150, {}));
    EXPECT_EQ(found.descriptors.rows(), 128);
    EXPECT_EQ(found.descriptors.cols(), static_cast<Index>(found.regions.size()));
    for (const Spot& spot : scene) {
      const auto at_spot = [&](const AffineRegion& region) {
        // A round spot is seen round, and as large as it is.
        const float area = region.a11 * region.a22 - region.a12 * region.a21;
        return std::hypot(static_cast<double>(region.x) - spot.x,
                          static_cast<double>(region.y) - spot.y) < 1 &&
               std::abs(std::sqrt(static_cast<double>(area)) / spot.radius - 1) < 0.35;
      };
      EXPECT_TRUE(std::ranges::any_of(found.regions, at_spot)) << spot.x << " " << first_octave;
    }
  }
}

TEST(HessianAffineSift, StrongestFirstAndNoMoreThanAsked) {
  const GreyPicture picture = Render(MakeScene(160, 80, 1), 160, 160, {});
  const DescribedRegions all = HessianAffineSift().Describe(picture);
  ASSERT_GT(all.regions.size(), 20);
  const auto rank = [](const AffineRegion& region) {
    return std::pair(region.score > 0, std::abs(region.score));
  };
  EXPECT_TRUE(std::ranges::is_sorted(all.regions, std::greater(), rank));
  EXPECT_LT(all.regions.back().score, 0);
  const DescribedRegions some = HessianAffineSift({.max_regions = 10}).Describe(picture);
  ASSERT_EQ(some.regions.size(), 10);
  EXPECT_TRUE(SameBits(some.descriptors, all.descriptors.leftCols(10)));
  const float between = (all.regions[9].score + all.regions[10].score) / 2;
  const DescribedRegions strong =
      HessianAffineSift({.peak_threshold = static_cast<double>(between)}).Describe(picture);
  EXPECT_EQ(std::ranges::count_if(strong.regions, [](const auto& r) { return r.score > 0; }), 10);
}

TEST(HessianAffineSift, SeesTheSamePlacesAgain) {
  const Index side = 220;
  const std::vector<Spot> scene = MakeScene(static_cast<double>(side), 150, 2);
  const View same = {.centre = 110}, larger = {.centre = 110, .scale = 0.77};
  const View turned = {.centre = 110, .angle = 1};
  const View both = {.centre = 110, .scale = 0.8, .angle = -2};
  const HessianAffineSift upright, oriented({.upright = false});
  EXPECT_EQ(MatchingShare(upright, scene, side, same), 1);
  EXPECT_GT(MatchingShare(upright, scene, side, larger), 0.8);
  EXPECT_GT(MatchingShare(oriented, scene, side, larger), 0.7);
  EXPECT_GT(MatchingShare(oriented, scene, side, turned), 0.7);
  EXPECT_GT(MatchingShare(oriented, scene, side, both), 0.7);
  // Upright patches tell turned places apart from their originals.
  EXPECT_LT(MatchingShare(upright, scene, side, turned), 0.5);
}

TEST(SiftExtractors, RootHasUnitLengthAndTheRightValues) {
  const GreyPicture picture = Render(MakeScene(100, 40, 3), 100, 100, {});
  const auto check = [](const MatrixF& root, const MatrixF& plain) {
    ASSERT_GT(root.cols(), 10);
    ASSERT_EQ(root.cols(), plain.cols());
    EXPECT_LT((root.colwise().norm().array() - 1).abs().maxCoeff(), 1e-5F);
    EXPECT_GE(root.minCoeff(), 0);
    for (Index i = 0; i < root.cols(); ++i) {
      const VectorF expected = (plain.col(i) / plain.col(i).sum()).cwiseSqrt();
      ASSERT_LT((root.col(i) - expected).norm(), 1e-5F);
    }
  };
  check(HessianAffineSift().Describe(picture).descriptors,
        HessianAffineSift({.root = false}).Describe(picture).descriptors);
  check(DenseSift().Describe(picture), DenseSift({.root = false}).Describe(picture));
}

TEST(SiftExtractors, NothingToDescribe) {
  for (const float value : {0.0F, 0.7F, 1.0F}) {
    for (const Index side : {16, 100}) {
      const GreyPicture picture = Uniform(side, side + 5, value);
      EXPECT_EQ(HessianAffineSift().Describe(picture).descriptors.cols(), 0);
      EXPECT_EQ(DenseSift().Describe(picture).cols(), 0);
      EXPECT_EQ(DenseSift().Describe(picture).rows(), 128);
    }
  }
}

TEST(SiftExtractors, SmallPicturesOfAnyShape) {
  const HessianAffineSift whole({.peak_threshold = 0}),
      doubled({.peak_threshold = 0, .first_octave = -1});
  const HessianAffineSift oriented({.peak_threshold = 0, .upright = false});
  const DenseSift dense({.step = 1, .bin_sizes = {1, 3}, .contrast_threshold = 0});
  for (const Index width : {1, 2, 3, 4, 9, 14, 15, 16, 17, 31, 90}) {
    for (const Index height : {1, 3, 4, 10, 15, 16, 20, 33}) {
      const GreyPicture picture = MakeTexture(width, height, 4);
      for (const HessianAffineSift* extractor : {&whole, &doubled, &oriented}) {
        const MatrixF found = extractor->Describe(picture).descriptors;
        EXPECT_EQ(found.rows(), 128);
        EXPECT_TRUE(found.allFinite());
        if (width < 16 || height < 16) {
          EXPECT_EQ(found.cols(), 0);
        }
      }
      // The places' centres are 3 bins from end to end.
      const auto grid = [&](Index bin) {
        return std::max<Index>(0, width - 3 * bin) * std::max<Index>(0, height - 3 * bin);
      };
      const MatrixF found = dense.Describe(picture);
      EXPECT_EQ(found.cols(), grid(1) + grid(3)) << width << " " << height;
      EXPECT_TRUE(found.allFinite());
    }
  }
}

TEST(SiftExtractors, APictureAndItsGrey) {
  Random random(5);
  Picture picture = {.width = 60, .height = 50, .pixels = {}};
  for (Index i = 0; i < 3 * 60 * 50; ++i) {
    picture.pixels.push_back(static_cast<uint8_t>(random.Below(256)));
  }
  const HessianAffineSift regions;
  const DenseSift dense({.step = 2, .bin_sizes = {3}});
  const MatrixF found = regions.Extract(picture);
  EXPECT_GT(found.cols(), 0);
  EXPECT_TRUE(SameBits(found, regions.Describe(GreyOf(picture)).descriptors));
  EXPECT_TRUE(SameBits(dense.Extract(picture), dense.Describe(GreyOf(picture))));
  EXPECT_EQ(dense.Extract(picture).cols(), 26 * 21);
  picture.pixels.pop_back();
  EXPECT_THROW(regions.Extract(picture), Error);
  EXPECT_THROW(dense.Extract(picture), Error);
}

TEST(DenseSift, HasSomeThousandDescriptorsByDefault) {
  for (const auto& [width, height] : {std::pair<Index, Index>{480, 360}, {480, 320}, {360, 480}}) {
    const Index count = DenseSift().Describe(MakeTexture(width, height, 1)).cols();
    EXPECT_GE(count, 1500);
    EXPECT_LE(count, 3000);
  }
}

TEST(DenseSift, MovesWithThePicture) {
  constexpr Index kSide = 80, kStep = 4, kBin = 4, kRight = 2, kDown = 1;  // moved by steps
  const GreyPicture large = MakeTexture(kSide + kStep * kRight, kSide + kStep * kDown, 6);
  const auto window = [&](Index left, Index top) {
    GreyPicture part = {.width = kSide, .height = kSide, .pixels = {}};
    for (Index y = 0; y < kSide; ++y) {
      for (Index x = 0; x < kSide; ++x) {
        part.pixels.push_back(
            large.pixels[static_cast<size_t>((y + top) * large.width + x + left)]);
      }
    }
    return part;
  };
  for (const bool fast : {false, true}) {
    const DenseSift extractor({.step = kStep, .bin_sizes = {kBin}, .fast = fast});
    const MatrixF here = extractor.Describe(window(0, 0));
    const MatrixF moved = extractor.Describe(window(kStep * kRight, kStep * kDown));
    const Index across = (kSide - 3 * kBin - 1) / kStep + 1;
    ASSERT_EQ(here.cols(), across * across);
    // Two steps from the border neither places nor smoothing reach over it.
    int compared = 0;
    for (Index y = 2; y < across - 2 - kDown; ++y) {
      for (Index x = 2; x < across - 2 - kRight; ++x, ++compared) {
        const VectorF expected = here.col((y + kDown) * across + x + kRight);
        ASSERT_LT((moved.col(y * across + x) - expected).norm(), 1e-4F) << x << " " << y;
      }
    }
    EXPECT_GT(compared, 100);
  }
}

// A ramp has one direction: half of the mass of every place must be in at most two neighbours.
TEST(DenseSift, KnowsDirections) {
  const auto ramp = [](double angle) {
    GreyPicture picture = {.width = 30, .height = 30, .pixels = {}};
    for (Index y = 0; y < 30; ++y) {
      for (Index x = 0; x < 30; ++x) {
        const double along = std::cos(angle) * static_cast<double>(x - 15) +
                             std::sin(angle) * static_cast<double>(y - 15);
        picture.pixels.push_back(static_cast<float>(0.5 + along / 50));
      }
    }
    return picture;
  };
  for (int direction = 0; direction < 8; ++direction) {
    const DenseSift extractor({.step = 30, .bin_sizes = {4}});
    const MatrixF found = extractor.Describe(ramp(direction * std::numbers::pi / 4));
    ASSERT_EQ(found.cols(), 1);
    for (Index place = 0; place < 16; ++place) {
      EXPECT_GT(found(8 * place + direction, 0), 0.2F);
      EXPECT_LT(found(8 * place + (direction + 4) % 8, 0), 0.05F);
    }
  }
}

TEST(DenseSift, TinyPicturesOfDigits) {
  const DenseSift extractor({.step = 2, .bin_sizes = {3, 4}});
  const MatrixF found = extractor.Describe(Render(MakeScene(28, 6, 7), 28, 28, {}));
  EXPECT_GT(found.cols(), 50);
  EXPECT_LE(found.cols(), 10 * 10 + 8 * 8);
}

TEST(SiftExtractors, ManyThreadsAtOnce) {
  std::vector<GreyPicture> pictures;
  for (uint64_t i = 0; i < 4; ++i) {
    pictures.push_back(Render(MakeScene(90, 40, 10 + i), 90, 90, {}));
  }
  const auto run = [&] {
    const HessianAffineSift upright, oriented({.upright = false});
    const DenseSift dense;
    std::vector<MatrixF> found;
    for (const GreyPicture& picture : pictures) {
      found.push_back(upright.Describe(picture).descriptors);
      found.push_back(oriented.Describe(picture).descriptors);
      found.push_back(dense.Describe(picture));
    }
    return found;
  };
  std::vector<std::vector<MatrixF>> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (auto& result : results) threads.emplace_back([&] { result = run(); });
  for (std::thread& thread : threads) thread.join();
  const std::vector<MatrixF> alone = run();
  for (const auto& result : results) {
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_GT(alone[i].cols(), 0);
      EXPECT_TRUE(SameBits(result[i], alone[i])) << i;
    }
  }
}

TEST(SiftExtractors, RefuseWhatIsNoPicture) {
  const HessianAffineSift regions;
  const DenseSift dense;
  const auto expect_refused = [&](const GreyPicture& picture) {
    EXPECT_THROW(regions.Describe(picture), Error);
    EXPECT_THROW(dense.Describe(picture), Error);
  };
  expect_refused({});
  expect_refused({.width = 20, .height = 20, .pixels = std::vector<float>(399)});
  expect_refused({.width = -20, .height = -20, .pixels = std::vector<float>(400)});
  expect_refused(Uniform(1, (Index{1} << 24) + 1, 0.5F));
  for (const float bad : {-0.1F, 1.1F, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
    GreyPicture picture = Uniform(20, 20, 0.5F);
    picture.pixels[399] = bad;
    expect_refused(picture);
  }
}

TEST(SiftExtractors, RefuseOptionsWithoutMeaning) {
  EXPECT_THROW(HessianAffineSift({.peak_threshold = -1}), Error);
  EXPECT_THROW(HessianAffineSift({.edge_threshold = 0.5}), Error);
  EXPECT_THROW(HessianAffineSift({.max_regions = 0}), Error);
  EXPECT_THROW(HessianAffineSift({.first_octave = 1}), Error);
  EXPECT_THROW(HessianAffineSift({.first_octave = -2}), Error);
  EXPECT_THROW(DenseSift({.step = 0}), Error);
  EXPECT_THROW(DenseSift({.bin_sizes = {}}), Error);
  EXPECT_THROW(DenseSift({.bin_sizes = {4, 0}}), Error);
  EXPECT_THROW(DenseSift({.magnification = -1}), Error);
  EXPECT_THROW(DenseSift({.contrast_threshold = -1}), Error);
}

// A picture in its border is described as without it, and one that is faint everywhere by what
// there is; one of a single shade has nothing.
TEST(DenseSift, DescribesASquareWithoutBorders) {
  const auto make = [](Index width, Index height, Index border, double contrast) {
    Picture picture = {.width = width + 2 * border, .height = height + 2 * border, .pixels = {}};
    for (Index y = -border; y < height + border; ++y) {
      for (Index x = -border; x < width + border; ++x) {
        const bool inside = x >= 0 && y >= 0 && x < width && y < height;
        const double value = 120 + contrast * (std::sin(0.11 * static_cast<double>(x)) +
                                               std::cos(0.17 * static_cast<double>(y + x)));
        picture.pixels.insert(picture.pixels.end(), 3,
                              inside ? static_cast<uint8_t>(value) : uint8_t{255});
      }
    }
    return picture;
  };
  const DenseSift sift({.step = 8, .bin_sizes = {4, 8}, .side = 64});
  const MatrixF plain = sift.Extract(make(150, 100, 0, 50));
  EXPECT_GT(plain.cols(), 50);
  EXPECT_EQ(sift.Extract(make(150, 100, 40, 50)), plain);
  EXPECT_GT(sift.Extract(make(150, 100, 0, 1)).cols(), 50);
  EXPECT_EQ(sift.Extract(make(150, 100, 0, 0)).cols(), 0);
}

}  // namespace
}  // namespace bitpool
