#include "bitpool/features/plain_borders.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bitpool {
namespace {

// A line is plain when nearly all its pixels are this near to its first and last ones.
constexpr float kSameShade = 8.0F / 255;
constexpr double kPlainShare = 0.97;
// Plain lines between two parts that are not one picture, as a share of all lines.
constexpr double kGap = 0.02;
constexpr double kLeastLeft = 0.2;

struct Lines {
  Index first = 0, count = 0;
};

// The longest run of lines that are not plain; short gaps do not end it.
Lines LargestPart(const std::vector<bool>& plain) {
  const auto all = static_cast<Index>(plain.size());
  const auto gap = std::max<Index>(2, std::lround(kGap * static_cast<double>(all)));
  Lines best;
  Index first = -1, last = -1;  // of the run so far
  for (Index i = 0; i < all; ++i) {
    if (plain[static_cast<size_t>(i)]) continue;
    if (first < 0 || i - last > gap) first = i;
    last = i;
    if (last - first + 1 > best.count) best = {.first = first, .count = last - first + 1};
  }
  const bool enough = static_cast<double>(best.count) >= kLeastLeft * static_cast<double>(all);
  return enough ? best : Lines{.first = 0, .count = all};
}

// Whether `count` pixels, `stride` apart, have one shade.
bool IsPlain(const float* pixels, Index count, Index stride) {
  const float shade = pixels[0];
  if (std::abs(pixels[(count - 1) * stride] - shade) > kSameShade) return false;
  Index others = 0;
  for (Index i = 0; i < count; ++i) {
    if (std::abs(pixels[i * stride] - shade) > kSameShade) ++others;
  }
  return static_cast<double>(others) <= (1 - kPlainShare) * static_cast<double>(count);
}

GreyPicture Part(const GreyPicture& picture, Lines columns, Lines rows) {
  GreyPicture part = {.width = columns.count, .height = rows.count, .pixels = {}};
  part.pixels.reserve(static_cast<size_t>(columns.count * rows.count));
  for (Index row = 0; row < rows.count; ++row) {
    const auto begin = picture.pixels.begin() + (rows.first + row) * picture.width + columns.first;
    part.pixels.insert(part.pixels.end(), begin, begin + columns.count);
  }
  return part;
}

GreyPicture WithoutPlainRows(const GreyPicture& picture) {
  std::vector<bool> plain(static_cast<size_t>(picture.height));
  for (Index row = 0; row < picture.height; ++row) {
    plain[static_cast<size_t>(row)] =
        IsPlain(picture.pixels.data() + row * picture.width, picture.width, 1);
  }
  return Part(picture, {.first = 0, .count = picture.width}, LargestPart(plain));
}

GreyPicture WithoutPlainColumns(const GreyPicture& picture) {
  std::vector<bool> plain(static_cast<size_t>(picture.width));
  for (Index column = 0; column < picture.width; ++column) {
    plain[static_cast<size_t>(column)] =
        IsPlain(picture.pixels.data() + column, picture.height, picture.width);
  }
  return Part(picture, LargestPart(plain), {.first = 0, .count = picture.height});
}

// What a new pixel is made of: weights of the old ones from `first` on, which add up to one.
struct Tent {
  Index first = 0;
  std::vector<float> weights;
};

std::vector<Tent> TentsFor(Index from, Index to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double reach = std::max(scale, 1.0);
  std::vector<Tent> tents(static_cast<size_t>(to));
  for (Index i = 0; i < to; ++i) {
    Tent& tent = tents[static_cast<size_t>(i)];
    const double middle = (static_cast<double>(i) + 0.5) * scale - 0.5;
    tent.first = std::max<Index>(0, static_cast<Index>(std::ceil(middle - reach)));
    const auto last = std::min<Index>(from - 1, static_cast<Index>(std::floor(middle + reach)));
    double sum = 0;
    for (Index j = tent.first; j <= last; ++j)
      sum += reach - std::abs(static_cast<double>(j) - middle);
    for (Index j = tent.first; j <= last; ++j) {
      tent.weights.push_back(
          static_cast<float>((reach - std::abs(static_cast<double>(j) - middle)) / sum));
    }
  }
  return tents;
}

}  // namespace

GreyPicture CutPlainBorders(const GreyPicture& picture) {
  return WithoutPlainColumns(WithoutPlainRows(picture));
}

GreyPicture ScaleGrey(const GreyPicture& picture, Index width, Index height) {
  const std::vector<Tent> across = TentsFor(picture.width, width),
                          down = TentsFor(picture.height, height);
  GreyPicture scaled = {.width = width, .height = height, .pixels = {}};
  scaled.pixels.reserve(static_cast<size_t>(width * height));
  std::vector<float> row(static_cast<size_t>(picture.width));
  for (const Tent& tent : down) {
    std::ranges::fill(row, 0.0F);
    const float* old = picture.pixels.data() + tent.first * picture.width;
    for (const float weight : tent.weights) {
      for (Index i = 0; i < picture.width; ++i) row[static_cast<size_t>(i)] += weight * old[i];
      old += picture.width;
    }
    for (const Tent& pixels : across) {
      float sum = 0;
      for (size_t j = 0; j < pixels.weights.size(); ++j) {
        sum += pixels.weights[j] * row[static_cast<size_t>(pixels.first) + j];
      }
      scaled.pixels.push_back(std::clamp(sum, 0.0F, 1.0F));
    }
  }
  return scaled;
}

}  // namespace bitpool
