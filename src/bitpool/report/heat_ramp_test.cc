#include "bitpool/report/heat_ramp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace bitpool {
namespace {

// Luminance by WCAG 2, of "#rrggbb".
double Luminance(const std::string& colour) {
  double sum = 0;
  const double weights[] = {0.2126, 0.7152, 0.0722};
  for (int i = 0; i < 3; ++i) {
    const double part =
        std::stoi(colour.substr(1 + 2 * static_cast<size_t>(i), 2), nullptr, 16) / 255.0;
    sum += weights[i] * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
  }
  return sum;
}

double Contrast(const std::string& a, const std::string& b) {
  const auto [low, high] = std::minmax({Luminance(a), Luminance(b)});
  return (high + 0.05) / (low + 0.05);
}

TEST(HeatRamp, NumbersAreReadable) {
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    for (int i = 0; i <= 100; ++i) {
      const RampColour colour = RampAt(i / 100.0, theme);
      EXPECT_EQ(colour.fill.size(), 7U);
      EXPECT_GE(Contrast(colour.fill, colour.ink), 4.5) << colour.fill;
    }
  }
}

// CIE lightness is another model of what looks even than the one the ramp is made with.
double CieLightness(const std::string& colour) {
  const double y = Luminance(colour);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

TEST(HeatRamp, StepsAreEvenAndInOneDirection) {
  for (const Theme theme : {Theme::kLight, Theme::kDark}) {
    const double sign = theme == Theme::kLight ? -1 : 1;
    const double whole =
        sign * (CieLightness(RampAt(1, theme).fill) - CieLightness(RampAt(0, theme).fill));
    EXPECT_GT(whole, 50);
    for (int i = 0; i < 10; ++i) {
      const double step = sign * (CieLightness(RampAt((i + 1) / 10.0, theme).fill) -
                                  CieLightness(RampAt(i / 10.0, theme).fill));
      EXPECT_NEAR(step, whole / 10, 0.25 * whole / 10) << i;
    }
  }
}

TEST(HeatRamp, StaysInRange) {
  EXPECT_EQ(RampAt(-1, Theme::kLight).fill, RampAt(0, Theme::kLight).fill);
  EXPECT_EQ(RampAt(2, Theme::kDark).fill, RampAt(1, Theme::kDark).fill);
}

}  // namespace
}  // namespace bitpool
