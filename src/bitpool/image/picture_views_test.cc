#include "bitpool/image/picture_views.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "bitpool/image/decode.h"
#include "bitpool/image/testing.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::SamePicture;
using testing::SmoothPicture;

Picture Plain(Index width, Index height, std::array<uint8_t, 3> colour) {
  Picture picture{.width = width, .height = height, .pixels = {}};
  for (Index i = 0; i < width * height; ++i) {
    picture.pixels.insert(picture.pixels.end(), colour.begin(), colour.end());
  }
  return picture;
}

Picture ViewOf(const Picture& picture, ViewKind kind, uint64_t seed) {
  Random random(seed);
  return MakeView(picture, kind, random);
}

// FNV-1a of sizes and pixels.
uint64_t Digest(const std::vector<Picture>& pictures) {
  uint64_t digest = 0xcbf29ce484222325;
  const auto add = [&](uint64_t value) { digest = (digest ^ value) * 0x100000001b3; };
  for (const Picture& picture : pictures) {
    add(static_cast<uint64_t>(picture.width));
    add(static_cast<uint64_t>(picture.height));
    for (const uint8_t value : picture.pixels) add(value);
  }
  return digest;
}

// Numbers of many views, for statistics.
struct Range {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int count = 0;

  void Add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    ++count;
  }
  double mean() const { return sum / count; }
};

constexpr uint64_t kSeeds = 300;

double AreaShare(const Picture& view, const Picture& picture) {
  return static_cast<double>(view.width * view.height) /
         static_cast<double>(picture.width * picture.height);
}

double Aspect(const Picture& picture) {
  return static_cast<double>(picture.width) / static_cast<double>(picture.height);
}

bool IsGrey(const Picture& picture) {
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    if (picture.pixels[i] != picture.pixels[i + 1] || picture.pixels[i] != picture.pixels[i + 2]) {
      return false;
    }
  }
  return true;
}

// Every pixel has the colour of the first.
bool IsPlain(const Picture& picture) {
  for (size_t i = 3; i < picture.pixels.size(); ++i) {
    if (picture.pixels[i] != picture.pixels[i % 3]) return false;
  }
  return true;
}

// Whether there is more red in the right half, as there is in SmoothPicture.
bool GrowsToTheRight(const Picture& picture) {
  double slope = 0;
  for (Index y = 0; y < picture.height; ++y) {
    const uint8_t* row = picture.pixels.data() + 3 * y * picture.width;
    for (Index x = 0; x < picture.width / 2; ++x) {
      slope += row[3 * (picture.width - 1 - x)] - row[3 * x];
    }
  }
  return slope > 0;
}

// The same pixels on every machine, or features would not be the same. Only with a new
// kViewsVersion may these numbers change.
TEST(MakeView, IsTheSameOnEveryMachine) {
  const Picture picture = SmoothPicture(211, 157);
  const auto digest = [&](ViewKind kind, const std::vector<uint64_t>& seeds) {
    std::vector<Picture> views;
    for (const uint64_t seed : seeds) views.push_back(ViewOf(picture, kind, seed));
    return Digest(views);
  };
  EXPECT_EQ(kViewsVersion, 2);
  EXPECT_EQ(digest(ViewKind::kScenes, {0, 1, 2, 3, 4, 5, 6, 7}), 12564183397322075822U);
  EXPECT_EQ(digest(ViewKind::kClasses, {0, 1, 2, 3, 4, 5, 6, 7}), 4638844573913165700U);
  // Copies that libjpeg, whose versions differ, has no part in.
  EXPECT_EQ(digest(ViewKind::kCopies, {0, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 22}),
            10902599373868417504U);
  EXPECT_EQ(Digest(MakeViews(picture, {.count = 2, .kind = ViewKind::kScenes, .seed = 5})),
            13507851377826108505U);
}

TEST(MakeView, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const Picture picture = SmoothPicture(120, 90);
  for (const ViewKind kind : kViewKinds) {
    std::set<uint64_t> different;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const Picture view = ViewOf(picture, kind, seed);
      EXPECT_TRUE(SamePicture(view, ViewOf(picture, kind, seed)));
      different.insert(Digest({view}));
    }
    // Nothing at all is done to one copy in forty.
    EXPECT_GE(different.size(), kind == ViewKind::kCopies ? 40U : 50U) << NameOf(kind);
  }
}

TEST(MakeView, WorksOnTheSmallest) {
  for (const auto& [width, height] :
       {std::pair<Index, Index>{1, 1}, {1, 300}, {300, 1}, {2, 3}, {129, 2}}) {
    const Picture picture = SmoothPicture(width, height);
    for (const ViewKind kind : kViewKinds) {
      for (uint64_t seed = 0; seed < 200; ++seed) {
        const Picture view = ViewOf(picture, kind, seed);
        ASSERT_NO_THROW(RequirePicture(view)) << NameOf(kind) << " " << seed;
      }
    }
  }
}

TEST(MakeView, RefusesPixelsThatDoNotMatch) {
  for (const ViewKind kind : kViewKinds) {
    ExpectError(ErrorCode::kInvalidArgument, {"5×4"}, [&] {
      ViewOf({.width = 5, .height = 4, .pixels = {1, 2, 3}}, kind, 1);
    });
  }
}

// A view of a plain picture is plain: nothing is seen that is not in the picture.
TEST(MakeView, ScenesAndClassesShowNoBorders) {
  const Picture white = Plain(90, 60, {255, 255, 255});
  for (const ViewKind kind : {ViewKind::kScenes, ViewKind::kClasses}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Picture view = ViewOf(white, kind, seed);
      ASSERT_TRUE(IsPlain(view)) << NameOf(kind) << " " << seed;
      ASSERT_GT(view.pixels[0], 110);
    }
  }
}

// How bright a view of plain grey is, and how far its channels are apart.
void ExpectLight(ViewKind kind, double brightness, double colour) {
  Range bright, apart;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Picture view = ViewOf(Plain(20, 20, {100, 100, 100}), kind, seed);
    const double red = view.pixels[0], green = view.pixels[1], blue = view.pixels[2];
    bright.Add((red + green + blue) / 300);
    apart.Add(red / green);
  }
  const double most = (1 + brightness) * (1 + colour), least = (1 - brightness) * (1 - colour);
  EXPECT_GE(bright.least, least - 0.01);
  EXPECT_LE(bright.most, most + 0.01);
  EXPECT_LT(bright.least, 1 - 0.85 * brightness);
  EXPECT_GT(bright.most, 1 + 0.85 * brightness);
  EXPECT_NEAR(bright.mean(), 1, 0.05);
  EXPECT_GT(apart.most, 1 + 1.2 * colour);
  EXPECT_LE(apart.most, (1 + colour) / (1 - colour) + 0.03);
  EXPECT_NEAR(apart.mean(), 1, 0.03);
}

TEST(MakeView, ScenesAreCutTurnedAndInAnotherLight) {
  const Picture picture = SmoothPicture(150, 100);
  Range area, aspect;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Picture view = ViewOf(picture, ViewKind::kScenes, seed);
    area.Add(AreaShare(view, picture));
    aspect.Add(Aspect(view) / Aspect(picture));
    EXPECT_TRUE(GrowsToTheRight(view)) << "a scene is not mirrored";
    EXPECT_FALSE(IsGrey(view));
  }
  // From 35 % on, less where a cut or a turned one would not fit.
  EXPECT_GT(area.least, 0.25);
  EXPECT_LT(area.least, 0.4);
  EXPECT_GT(area.most, 0.85);
  EXPECT_LE(area.most, 1);
  EXPECT_NEAR(area.mean(), 0.6, 0.07);
  EXPECT_NEAR(aspect.least, 1 / 1.28, 0.03);
  EXPECT_NEAR(aspect.most, 1.28, 0.03);
  EXPECT_NEAR(aspect.mean(), 1, 0.03);
  ExpectLight(ViewKind::kScenes, 0.4, 0.1);
}

// Green grows downwards alone. In a cut that is not turned it is the same all along a row.
TEST(MakeView, HalfOfTheScenesAreTurnedOrAskew) {
  const Picture picture = SmoothPicture(150, 100);
  const auto straight = [&](ViewKind kind) {
    int count = 0;
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Picture view = ViewOf(picture, kind, seed);
      const uint8_t* middle = view.pixels.data() + 3 * (view.height / 2) * view.width + 1;
      if (std::abs(middle[3 * (view.width - 1)] - middle[0]) <= 1) ++count;
    }
    return static_cast<double>(count) / kSeeds;
  };
  // A quarter is neither turned nor askew; of the others some are so by very little.
  EXPECT_NEAR(straight(ViewKind::kScenes), 0.33, 0.1);
  EXPECT_GT(straight(ViewKind::kClasses), 0.75) << "but for those in grey";
}

TEST(MakeView, ClassesAreCutMirroredAndInOtherColoursOrNone) {
  const Picture picture = SmoothPicture(150, 100);
  Range area, aspect;
  double mirrored = 0, coloured = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Picture view = ViewOf(picture, ViewKind::kClasses, seed);
    area.Add(AreaShare(view, picture));
    aspect.Add(Aspect(view) / Aspect(picture));
    if (IsGrey(view)) continue;
    ++coloured;
    if (!GrowsToTheRight(view)) ++mirrored;
  }
  EXPECT_NEAR(coloured / kSeeds, 0.8, 0.06);
  EXPECT_NEAR(mirrored / coloured, 0.5, 0.08);
  EXPECT_GT(area.least, 0.3);
  EXPECT_LT(area.least, 0.45);
  EXPECT_GT(area.most, 0.85);
  EXPECT_LE(area.most, 1);
  EXPECT_NEAR(aspect.least, 1 / 1.33, 0.03);
  EXPECT_NEAR(aspect.most, 1.33, 0.03);
  Range apart;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Picture view = ViewOf(Plain(9, 9, {100, 100, 100}), ViewKind::kClasses, seed);
    apart.Add(static_cast<double>(view.pixels[0]) / view.pixels[1]);
  }
  EXPECT_GT(apart.most, 1.24);
  EXPECT_LE(apart.most, 1.53);
}

TEST(MakeView, CopiesAreWhatIsPassedOn) {
  const Picture picture = SmoothPicture(320, 240), white = Plain(200, 100, {255, 255, 255});
  Range side, aspect;
  int same = 0, grey = 0, black = 0, larger = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Picture view = ViewOf(picture, ViewKind::kCopies, seed);
    side.Add(static_cast<double>(std::max(view.width, view.height)));
    aspect.Add(Aspect(view));
    if (SamePicture(view, picture)) ++same;
    if (IsGrey(view)) ++grey;
    if (view.width > picture.width) ++larger;
    EXPECT_TRUE(GrowsToTheRight(view)) << "copies are not mirrored";
    const Picture of_white = ViewOf(white, ViewKind::kCopies, seed);
    if (*std::ranges::min_element(of_white.pixels) < 40) ++black;
  }
  const auto share = [](int count) { return static_cast<double>(count) / kSeeds; };
  EXPECT_NEAR(share(same), 0.027, 0.015) << "0.5 0.65⁵ 0.8³ 0.9";
  EXPECT_NEAR(share(grey), 0.08, 0.05) << "a tenth, but for coloured words and noise";
  EXPECT_NEAR(share(larger), 0.07, 0.05) << "with a border, and neither cut nor made smaller";
  // Borders, black corners of turned ones, and dark words.
  EXPECT_NEAR(share(black), 0.32, 0.12);
  EXPECT_GE(side.least, 127);
  EXPECT_LT(side.least, 140);
  EXPECT_GT(side.most, 350);
  EXPECT_LT(aspect.least, 1.02) << "squeezed to a square";
  EXPECT_GT(aspect.most, 1.5);
}

// Black stays black in any cut, size and light, and words and noise on it are not plain. But some
// qualities of JPEG have no level for black, and make it a dark grey: so many copies are grey as
// are saved in one of these.
TEST(MakeView, SomeCopiesAreSavedAsJpeg) {
  const Picture black = Plain(40, 30, {0, 0, 0});
  constexpr int kWorst = 10, kBest = 90;
  int greying = 0;
  for (int quality = kWorst; quality <= kBest; ++quality) {
    const Picture saved = DecodePicture(EncodeJpeg(black, quality), {});
    ASSERT_TRUE(IsPlain(saved)) << quality;
    if (!SamePicture(saved, black)) ++greying;
  }
  const double share_greying = static_cast<double>(greying) / (kBest - kWorst + 1);
  ASSERT_GT(share_greying, 0.2) << "or this test can tell nothing";
  double plain = 0, grey = 0;
  for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    const Picture view = ViewOf(black, ViewKind::kCopies, seed);
    if (!IsPlain(view)) continue;
    ++plain;
    if (view.pixels[0] > 0) ++grey;
  }
  EXPECT_GT(plain / (2 * kSeeds), 0.5);
  EXPECT_NEAR(grey / plain, 0.35 * share_greying, 0.15 * share_greying);
}

// Views depend on the plan and the pixels, and on nothing that came before.
TEST(MakeViews, ArePartOfThePicture) {
  const Picture a = SmoothPicture(60, 40), b = SmoothPicture(41, 61);
  for (const ViewKind kind : kViewKinds) {
    const ViewPlan plan{.count = 4, .kind = kind, .seed = 9};
    const std::vector<Picture> of_a = MakeViews(a, plan);
    ASSERT_EQ(of_a.size(), 4U);
    const std::vector<Picture> of_b = MakeViews(b, plan);
    EXPECT_NE(Digest(of_a), Digest(of_b));
    EXPECT_EQ(Digest(MakeViews(a, plan)), Digest(of_a));
    // Fewer are the first ones of more.
    const std::vector<Picture> two = MakeViews(a, {.count = 2, .kind = kind, .seed = 9});
    EXPECT_EQ(Digest(two), Digest({of_a[0], of_a[1]}));
    EXPECT_NE(Digest(MakeViews(a, {.count = 4, .kind = kind, .seed = 10})), Digest(of_a));
    EXPECT_TRUE(MakeViews(a, {.count = 0, .kind = kind}).empty());
  }
  const std::vector<Picture> views = MakeViews(a, {.count = 10, .kind = ViewKind::kScenes});
  std::set<uint64_t> different;
  for (const Picture& view : views) different.insert(Digest({view}));
  EXPECT_EQ(different.size(), 10U);
  // Two pictures of one colour that differ in a single value have views of their own.
  Picture near = Plain(60, 40, {9, 9, 9});
  const uint64_t plain = Digest(MakeViews(near, {.count = 1}));
  near.pixels.back() = 10;
  EXPECT_NE(Digest(MakeViews(near, {.count = 1})), plain);
}

TEST(ViewPlan, NamesWhatIsWrong) {
  for (const Index count : {Index{0}, Index{1}, kMostViews}) {
    EXPECT_NO_THROW(ViewPlan{.count = count}.Validate());
  }
  for (const Index count : {Index{-1}, kMostViews + 1}) {
    const std::vector<std::string> words = {"views: expected 0 to 64", std::to_string(count)};
    ExpectError(ErrorCode::kInvalidArgument, words, [&] { ViewPlan{.count = count}.Validate(); });
    ExpectError(ErrorCode::kInvalidArgument, words,
                [&] { MakeViews(SmoothPicture(4, 4), {.count = count}); });
  }
}

TEST(FindViewKind, KnowsTheNamesAndNoOthers) {
  for (const ViewKind kind : kViewKinds) EXPECT_EQ(FindViewKind(NameOf(kind)), kind);
  EXPECT_STREQ(NameOf(ViewPlan().kind), "scenes");
  for (const char* name : {"", "scene", "Scenes", "copies "}) {
    ExpectError(ErrorCode::kInvalidArgument,
                {"copies, scenes or classes", "\"" + std::string(name) + "\""},
                [&] { FindViewKind(name); });
  }
}

}  // namespace
}  // namespace bitpool
