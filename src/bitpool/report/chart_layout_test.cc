#include "bitpool/report/chart_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "bitpool/base/random.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Axis Fit(const std::vector<double>& values, const AxisOptions& options = {.ends_at_ticks = true}) {
  return FitAxis(values, options).value();
}

// What any reader may expect of an axis.
void ExpectGoodAxis(const Axis& axis, const std::vector<double>& values) {
  ASSERT_TRUE(std::isfinite(axis.low) && std::isfinite(axis.high) && axis.low < axis.high);
  if (axis.log) {
    EXPECT_GT(axis.low, 0);
  }
  ASSERT_GE(axis.ticks.size(), 2U);
  EXPECT_LE(axis.ticks.size(), 10U);
  ASSERT_EQ(axis.labels.size(), axis.ticks.size());
  EXPECT_TRUE(std::is_sorted(axis.ticks.begin(), axis.ticks.end()));
  EXPECT_EQ(std::set<std::string>(axis.labels.begin(), axis.labels.end()).size(),
            axis.labels.size());
  for (const double tick : axis.ticks) {
    EXPECT_GE(axis.Position(tick), -1e-6);
    EXPECT_LE(axis.Position(tick), 1 + 1e-6);
  }
  for (const double value : values) {
    if (!CanShow(value, axis.log)) continue;
    EXPECT_GE(axis.Position(value), -1e-6);
    EXPECT_LE(axis.Position(value), 1 + 1e-6);
  }
}

bool IsOneTwoFive(double step) {
  const double mantissa = step / std::pow(10, std::floor(std::log10(step) + 1e-6));
  return std::abs(mantissa - 1) < 1e-5 || std::abs(mantissa - 2) < 1e-5 ||
         std::abs(mantissa - 5) < 1e-5;
}

TEST(Axis, LinearTicksOfManyRanges) {
  const std::vector<std::vector<double>> ranges = {
      {0, 1},           {0.142, 0.531},   {-3, 7},           {-0.002, -0.001}, {1e-12, 3e-12},
      {1e12, 9e12},     {-1e300, 1e300},  {999.9, 1000.1},   {0, 5e-324},      {1e6, 1e6 + 1},
      {0.1, 1.09},      {3, 3},           {-3, -3},          {0, 0},           {1e300, 1e300},
      {1e-300, 2e-300}, {1e9, 1e9 + 0.1}, {kNan, 1, 2, kNan}};
  for (const auto& range : ranges) {
    for (const bool ends_at_ticks : {false, true}) {
      SCOPED_TRACE(range[0]);
      const Axis axis = Fit(range, {.ends_at_ticks = ends_at_ticks});
      ExpectGoodAxis(axis, range);
      const double step = axis.ticks[1] - axis.ticks[0];
      EXPECT_TRUE(IsOneTwoFive(step)) << step;
      if (ends_at_ticks) {
        EXPECT_NEAR(axis.Position(axis.ticks.front()), 0, 1e-6);
        EXPECT_NEAR(axis.Position(axis.ticks.back()), 1, 1e-6);
      }
    }
  }
}

TEST(Axis, LinearTicksOfRandomRanges) {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const double scale = std::pow(10, 24 * random.Uniform() - 12);
    const std::vector<double> range = {scale * (random.Uniform() - 0.5),
                                       scale * (random.Uniform() - 0.5)};
    const Axis axis = Fit(range);
    SCOPED_TRACE(trial);
    ExpectGoodAxis(axis, range);
    EXPECT_TRUE(IsOneTwoFive(axis.ticks[1] - axis.ticks[0]));
    // Not much wider than needed.
    const auto [low, high] = std::minmax(range[0], range[1]);
    EXPECT_LE(axis.high - axis.low, 2 * (high - low));
  }
}

TEST(Axis, LogTicksOfManyRanges) {
  const std::vector<std::vector<double>> ranges = {
      {1, 1000},  {0.04, 312},     {0.55, 0.95},    {1.9, 7.6}, {2, 5},
      {1e-9, 1},  {1e-200, 1e200}, {1e-300, 1e300}, {7, 7},     {0, -1, kNan, 3, 800},
      {1.9, 5.69}};
  for (const auto& range : ranges) {
    for (const bool ends_at_ticks : {false, true}) {
      for (const bool for_bars : {false, true}) {
        SCOPED_TRACE(range[0]);
        const Axis axis =
            Fit(range, {.log = true, .ends_at_ticks = ends_at_ticks, .for_bars = for_bars});
        ExpectGoodAxis(axis, range);
      }
    }
  }
  EXPECT_THAT(Fit({1, 900}, {.log = true, .ends_at_ticks = true}).ticks,
              ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(Fit({3, 40}, {.log = true, .ends_at_ticks = true}).ticks,
              ElementsAre(2, 5, 10, 20, 50));
}

TEST(Axis, ChosenTicksAreKept) {
  const Axis axis = Fit({8, 32}, {.ticks = {32, 8, 16, 16, kNan, 64}});
  EXPECT_THAT(axis.ticks, ElementsAre(8, 16, 32, 64));
  EXPECT_THAT(axis.labels, ElementsAre("8", "16", "32", "64"));
  EXPECT_LT(axis.low, 8);
  EXPECT_GT(axis.high, 64);
}

TEST(Axis, BarsBeginAtZero) {
  EXPECT_EQ(Fit({3, 7}, {.ends_at_ticks = true, .for_bars = true}).low, 0);
  EXPECT_EQ(Fit({-3, -7}, {.ends_at_ticks = true, .for_bars = true}).high, 0);
  EXPECT_EQ(Fit({0}, {.ends_at_ticks = true, .for_bars = true}).low, 0);
  // The smallest bar of a logarithmic axis can be seen.
  EXPECT_GT(Fit({1, 50}, {.log = true, .ends_at_ticks = true, .for_bars = true}).Position(1), 0.1);
}

TEST(Axis, NothingToShow) {
  EXPECT_FALSE(FitAxis({}, {}));
  EXPECT_FALSE(FitAxis(std::vector<double>{kNan, kInfinity, -kInfinity, 1e301}, {}));
  EXPECT_FALSE(FitAxis(std::vector<double>{0, -5}, {.log = true}));
}

TEST(Axis, Labels) {
  const auto labels = [](const std::vector<double>& ticks, bool by_powers = false) {
    return TickLabels(ticks, by_powers);
  };
  EXPECT_THAT(labels({0, 0.25, 0.5}), ElementsAre("0.00", "0.25", "0.50"));
  EXPECT_THAT(labels({-2, 0, 2}), ElementsAre("−2", "0", "2"));
  EXPECT_THAT(labels({3 * 0.1, 4 * 0.1}), ElementsAre("0.3", "0.4"));
  EXPECT_THAT(labels({-5e12, 0, 5e12, 1e13}), ElementsAre("−5·10¹²", "0", "5·10¹²", "10¹³"));
  EXPECT_THAT(labels({2e-10, 4e-10}), ElementsAre("2·10⁻¹⁰", "4·10⁻¹⁰"));
  EXPECT_THAT(labels({0.01, 1, 100}, true), ElementsAre("0.01", "1", "100"));
  EXPECT_THAT(labels({1e18, 1e20}, true), ElementsAre("10¹⁸", "10²⁰"));
}

// The best places on a grid, by trying all.
double LeastMoved(const std::vector<double>& wanted, double gap, int places) {
  double best = kInfinity;
  std::vector<int> at(wanted.size());
  const auto place = [&](const auto& self, size_t i, double cost) -> void {
    if (cost >= best) return;
    if (i == wanted.size()) {
      best = cost;
      return;
    }
    for (at[i] = i == 0 ? 0 : at[i - 1] + static_cast<int>(gap); at[i] < places; ++at[i]) {
      self(self, i + 1, cost + std::pow(at[i] - wanted[i], 2));
    }
  };
  place(place, 0, 0);
  return best;
}

TEST(MoveApart, NoOverlapAndAsNearAsPossible) {
  Random random(2);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> wanted(1 + trial % 4);
    for (double& position : wanted) position = std::floor(41 * random.Uniform());
    std::sort(wanted.begin(), wanted.end());
    const std::vector<double> moved = MoveApart(wanted, 6, 0, 40);
    double cost = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (i > 0) {
        EXPECT_GE(moved[i] - moved[i - 1], 6 - 1e-9);
      }
      EXPECT_GE(moved[i], -1e-9);
      EXPECT_LE(moved[i], 40 + 1e-9);
      cost += std::pow(moved[i] - wanted[i], 2);
    }
    EXPECT_LE(cost, LeastMoved(wanted, 6, 41) + 1e-9);
  }
}

TEST(MoveApart, KeepsOrderAndWhatIsFree) {
  EXPECT_THAT(MoveApart(std::vector<double>{30, 10, 20}, 5, 0, 40), ElementsAre(30, 10, 20));
  EXPECT_THAT(MoveApart(std::vector<double>{20, 20, 20}, 4, 0, 40), ElementsAre(16, 20, 24));
  EXPECT_THAT(MoveApart(std::vector<double>{40, 39}, 4, 0, 40), ElementsAre(40, 36));
  EXPECT_TRUE(MoveApart({}, 4, 0, 40).empty());
  // Too many for the room: apart all the same.
  EXPECT_THAT(MoveApart(std::vector<double>{5, 5, 5}, 10, 0, 10), ElementsAre(0, 10, 20));
}

}  // namespace
}  // namespace bitpool
