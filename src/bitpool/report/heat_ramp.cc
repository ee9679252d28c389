#include "bitpool/report/heat_ramp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace bitpool {
namespace {

using Rgb = std::array<double, 3>;

// OKLab in polar form: lightness, chroma, hue in degrees.
struct Lch {
  double lightness, chroma, hue;
};

struct Ramp {
  Lch from, to;
};

constexpr Ramp kLightRamp = {{0.965, 0.018, 225}, {0.38, 0.13, 262}};
constexpr Ramp kDarkRamp = {{0.27, 0.035, 262}, {0.87, 0.09, 205}};

// Linear light, by the matrices of Björn Ottosson, "A perceptual color space for image processing".
Rgb LinearRgb(const Lch& colour) {
  const double angle = colour.hue * std::numbers::pi / 180;
  const double a = colour.chroma * std::cos(angle), b = colour.chroma * std::sin(angle);
  const double l = std::pow(colour.lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(colour.lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(colour.lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  Rgb rgb = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
             -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
             -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
  for (double& part : rgb) part = std::clamp(part, 0.0, 1.0);
  return rgb;
}

// The sRGB transfer curve.
int Encoded(double light) {
  const double part = light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
  return static_cast<int>(std::lround(255 * part));
}

// As defined by WCAG; black and white contrast equally with 0.179.
double RelativeLuminance(const Rgb& rgb) {
  return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
}

}  // namespace

RampColour RampAt(double share, Theme theme) {
  const Ramp& ramp = theme == Theme::kLight ? kLightRamp : kDarkRamp;
  const double t = std::clamp(share, 0.0, 1.0);
  const Rgb rgb = LinearRgb({std::lerp(ramp.from.lightness, ramp.to.lightness, t),
                             std::lerp(ramp.from.chroma, ramp.to.chroma, t),
                             std::lerp(ramp.from.hue, ramp.to.hue, t)});
  return {fmt::format("#{:02x}{:02x}{:02x}", Encoded(rgb[0]), Encoded(rgb[1]), Encoded(rgb[2])),
          RelativeLuminance(rgb) > 0.179 ? "#000000" : "#ffffff"};
}

}  // namespace bitpool
