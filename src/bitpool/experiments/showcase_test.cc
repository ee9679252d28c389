#include "bitpool/experiments/showcase.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/experiments/set_pictures.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

constexpr Index kSide = 28;

// Stripes of three directions, at random places, with noise; the last picture is plain.
LabelledPictures Stripes(Index count, uint64_t seed) {
  Random random(seed);
  LabelledPictures set{.shape = {kSide, kSide}, .pixels = {}, .labels = {}};
  std::vector<int32_t> classes;
  for (Index i = 0; i < count; ++i) {
    classes.push_back(static_cast<int32_t>(i % 3));
    const double angle = static_cast<double>(i % 3) * 1.0471975511965976;
    const double shift = 6 * random.Uniform();
    for (Index y = 0; y < kSide; ++y) {
      for (Index x = 0; x < kSide; ++x) {
        const double along = std::cos(angle) * static_cast<double>(x) +
                             std::sin(angle) * static_cast<double>(y) + shift;
        const double value = 128 + 60 * std::sin(along) + 40 * random.Uniform();
        set.pixels.push_back(i + 1 == count ? 9 : static_cast<uint8_t>(value));
      }
    }
  }
  set.labels = Labels::Single(classes);
  return set;
}

PublicPictures SmallShowcaseSet() { return {.train = Stripes(121, 1), .test = Stripes(31, 2)}; }

ShowcaseOptions SmallShowcase() {
  ShowcaseOptions options;
  options.bits = 8;
  options.shown = 3;
  options.results = 5;
  return options;
}

double ShowcaseFigure(const Experiment& experiment, const std::string& method, const char* metric) {
  for (const ExperimentResult& result : experiment.results) {
    if (result.method == method && result.metric == metric) return result.mean;
  }
  ADD_FAILURE() << method << " " << metric;
  return 0;
}

size_t Occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Showcase, GoesAllTheWayAndFindsTheClasses) {
  const PublicPictures pictures = SmallShowcaseSet();
  const ShowcaseResult result =
      RunShowcase(SmallShowcase(), "stripes", pictures, RunContext({.threads = 2}));
  const Experiment& experiment = result.experiment;
  EXPECT_EQ(experiment.data["database"], 120);  // without the plain picture
  EXPECT_EQ(experiment.data["queries"], 30);
  for (const char* method :
       {"ITQ on mean", "ITQ on GMP", "RBA on GMP", "SAH", "SASH, with labels"}) {
    EXPECT_GT(ShowcaseFigure(experiment, method, "mAP"), 60) << method;  // 33 by chance
    EXPECT_GT(ShowcaseFigure(experiment, method, "asymmetric_mAP"), 60) << method;
    EXPECT_GT(ShowcaseFigure(experiment, method, "precision_at_100"), 0) << method;
    EXPECT_GT(ShowcaseFigure(experiment, method, "training_seconds"), 0) << method;
    EXPECT_GT(ShowcaseFigure(experiment, method, "search_seconds"), 0) << method;
  }
  EXPECT_EQ(ShowcaseTable(experiment).rows.size(), 5U);
  EXPECT_EQ(ShowcaseTable(experiment).header.size(), 7U);
  ASSERT_EQ(result.shown.size(), 3U);
  int right = 0;
  for (const ShownQuery& shown : result.shown) {
    ASSERT_EQ(shown.results.size(), 5U);
    for (const ScoredNeighbour& found : shown.results) {
      right += found.id % 3 == shown.query % 3 ? 1 : 0;
    }
  }
  EXPECT_GT(right, 10);
  const std::string page = ShowcaseReport(result, pictures);
  EXPECT_EQ(Occurrences(page, "src=\"data:image/jpeg;base64,"), 18U);
  EXPECT_EQ(Occurrences(page, "class=\"best\""), static_cast<size_t>(right));
  EXPECT_THAT(page, HasSubstr("SASH, with labels"));
}

TEST(Showcase, IsTheSameAtAnyNumberOfThreads) {
  const PublicPictures pictures = SmallShowcaseSet();
  const auto one = RunShowcase(SmallShowcase(), "stripes", pictures, RunContext({.threads = 1}));
  const auto two = RunShowcase(SmallShowcase(), "stripes", pictures, RunContext({.threads = 2}));
  for (const char* method : {"ITQ on GMP", "SAH", "SASH, with labels"}) {
    EXPECT_EQ(ShowcaseFigure(one.experiment, method, "mAP"),
              ShowcaseFigure(two.experiment, method, "mAP"));
  }
}

TEST(Showcase, RefusesWhatHasNoMeaning) {
  ShowcaseOptions options = SmallShowcase();
  options.results = 0;
  EXPECT_THROW(RunShowcase(options, "stripes", SmallShowcaseSet(), RunContext()), Error);
  options = SmallShowcase();
  options.mu = 0;
  EXPECT_THROW(options.Validate(), Error);
}

TEST(PictureAt, PutsPlanesTogetherAndRepeatsGrey) {
  const LabelledPictures colour{
      .shape = {3, 1, 2}, .pixels = {1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16}, .labels = {}};
  const Picture second = PictureAt(colour, 1);
  EXPECT_EQ(second.width, 2);
  EXPECT_EQ(second.height, 1);
  EXPECT_EQ(second.pixels, (std::vector<uint8_t>{11, 13, 15, 12, 14, 16}));
  const LabelledPictures grey{.shape = {2, 1}, .pixels = {7, 8, 9, 10}, .labels = {}};
  EXPECT_EQ(PictureAt(grey, 1).pixels, (std::vector<uint8_t>{9, 9, 9, 10, 10, 10}));
  EXPECT_EQ(PictureAt(grey, 1).height, 2);
}

}  // namespace
}  // namespace bitpool
