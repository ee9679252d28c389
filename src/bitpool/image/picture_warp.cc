#include "bitpool/image/picture_warp.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// A pixel that covers more than this many of the source, in a direction, is sampled with gaps.
constexpr int kMostSamples = 8;

// x = (au + bv + c) / (gu + hv + 1), y = (du + ev + f) / (gu + hv + 1) with u and v from 0 to 1.
struct Perspective {
  double a, b, c, d, e, f, g, h;

  Point At(double u, double v) const {
    const double w = g * u + h * v + 1;
    return {(a * u + b * v + c) / w, (d * u + e * v + f) / w};
  }
};

Error BadCorners() {
  return {ErrorCode::kInvalidArgument,
          "corners of a view: expected four finite ones of a convex shape, not on a line"};
}

// Areas below this share of the sides' product are rounding: their corners lie on a line.
constexpr double kNoArea = 1e-12;

// The map of the unit square to four corners (Heckbert, 1989). The denominator is positive at the
// corners, and so within, for a convex shape and for no other.
Perspective SquareTo(const Corners& corners) {
  for (const Point& corner : corners) {
    if (!std::isfinite(corner.x) || !std::isfinite(corner.y)) throw BadCorners();
  }
  const auto& [p, q, r, s] = corners;
  const double x = p.x - q.x + r.x - s.x, y = p.y - q.y + r.y - s.y;
  const double x1 = q.x - r.x, y1 = q.y - r.y, x2 = s.x - r.x, y2 = s.y - r.y;
  const double determinant = x1 * y2 - x2 * y1;
  const double sides = (std::abs(x1) + std::abs(y1)) * (std::abs(x2) + std::abs(y2));
  if (!(std::abs(determinant) > kNoArea * sides)) throw BadCorners();
  const double g = (x * y2 - x2 * y) / determinant, h = (x1 * y - x * y1) / determinant;
  if (!(std::min({1 + g, 1 + h, 1 + g + h}) > kNoArea)) throw BadCorners();
  return {.a = q.x - p.x + g * q.x,
          .b = s.x - p.x + h * s.x,
          .c = p.x,
          .d = q.y - p.y + g * q.y,
          .e = s.y - p.y + h * s.y,
          .f = p.y,
          .g = g,
          .h = h};
}

double Distance(Point from, Point to) {
  return std::sqrt((to.x - from.x) * (to.x - from.x) + (to.y - from.y) * (to.y - from.y));
}

int SamplesFor(double covered, Index pixels) {
  const double each = std::ceil(covered / static_cast<double>(pixels));
  return static_cast<int>(std::clamp(each, 1.0, static_cast<double>(kMostSamples)));
}

// Adds the colour at a point, interpolated between the centres of the four pixels around it.
void AddColour(const Picture& picture, Point at, std::array<double, 3>& sum) {
  const double x = at.x - 0.5, y = at.y - 0.5;
  const double left = std::floor(x), top = std::floor(y);
  if (left < -1 || top < -1 || !(left < static_cast<double>(picture.width)) ||
      !(top < static_cast<double>(picture.height))) {
    return;  // black
  }
  const double across = x - left, down = y - top;
  for (int dy = 0; dy < 2; ++dy) {
    for (int dx = 0; dx < 2; ++dx) {
      // A picture goes on for half a pixel beyond the centres of its outermost pixels.
      const Index column = std::clamp<Index>(static_cast<Index>(left) + dx, 0, picture.width - 1);
      const Index row = std::clamp<Index>(static_cast<Index>(top) + dy, 0, picture.height - 1);
      const double weight = (dx == 1 ? across : 1 - across) * (dy == 1 ? down : 1 - down);
      const uint8_t* pixel = picture.pixels.data() + 3 * (row * picture.width + column);
      for (size_t channel = 0; channel < 3; ++channel) sum[channel] += weight * pixel[channel];
    }
  }
}

bool Inside(const Picture& picture, Point at) {
  return at.x >= 0 && at.y >= 0 && at.x < static_cast<double>(picture.width) &&
         at.y < static_cast<double>(picture.height);
}

}  // namespace

Picture Warp(const Picture& picture, const Corners& corners, Index width, Index height) {
  RequirePicture(picture);
  if (width < 1 || height < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("size of a view: expected 1 × 1 or more, got {} × {}", width, height));
  }
  const Perspective map = SquareTo(corners);
  const auto& [p, q, r, s] = corners;
  const int across = SamplesFor(std::max(Distance(p, q), Distance(s, r)), width);
  const int down = SamplesFor(std::max(Distance(p, s), Distance(q, r)), height);
  Picture view{.width = width,
               .height = height,
               .pixels = std::vector<uint8_t>(static_cast<size_t>(3 * width * height))};
  uint8_t* out = view.pixels.data();
  for (Index row = 0; row < height; ++row) {
    for (Index column = 0; column < width; ++column, out += 3) {
      std::array<double, 3> sum = {};
      for (int j = 0; j < down; ++j) {
        for (int i = 0; i < across; ++i) {
          const Point at = map.At(
              (static_cast<double>(column) + (i + 0.5) / across) / static_cast<double>(width),
              (static_cast<double>(row) + (j + 0.5) / down) / static_cast<double>(height));
          if (Inside(picture, at)) AddColour(picture, at, sum);
        }
      }
      for (size_t channel = 0; channel < 3; ++channel) {
        out[channel] = static_cast<uint8_t>(sum[channel] / (across * down) + 0.5);
      }
    }
  }
  return view;
}

}  // namespace bitpool
