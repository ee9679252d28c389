#include "bitpool/image/picture_text.h"

#include <algorithm>

namespace bitpool {
namespace {

// Five columns and seven rows for a letter; a bit is a dot, the highest of the five on the left.
// Letters of our own: those of a font would differ from machine to machine.
using Letter = std::array<uint8_t, 7>;
constexpr std::array<Letter, 6> kWord = {{
    {0b01111, 0b10000, 0b10000, 0b01110, 0b00001, 0b00001, 0b11110},  // S
    {0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001},  // A
    {0b10001, 0b11011, 0b10101, 0b10101, 0b10001, 0b10001, 0b10001},  // M
    {0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000},  // P
    {0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b10000, 0b11111},  // L
    {0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111},  // E
}};
constexpr Index kLetterColumns = 5, kLetterRows = 7;
constexpr Index kAdvance = kLetterColumns + 1;
constexpr Index kWordColumns = static_cast<Index>(kWord.size()) * kAdvance - 1;

bool HasDot(Index column, Index row) {
  const Index within = column % kAdvance;
  if (within == kLetterColumns) return false;
  const uint8_t dots = kWord[static_cast<size_t>(column / kAdvance)][static_cast<size_t>(row)];
  return (dots >> (kLetterColumns - 1 - within) & 1) != 0;
}

}  // namespace

void DrawSample(Picture& picture, const TextPlacement& placement) {
  const auto across = static_cast<Index>(placement.width * static_cast<double>(picture.width));
  const Index dot = std::max<Index>(1, across / kWordColumns);
  const auto middle_twice =
      static_cast<Index>(2 * placement.middle.x * static_cast<double>(picture.width));
  const Index left = (middle_twice - dot * kWordColumns) / 2;
  const auto middle = static_cast<Index>(placement.middle.y * static_cast<double>(picture.height));
  const Index top = middle - dot * kLetterRows / 2;
  const Index bottom = std::min(picture.height, top + dot * kLetterRows);
  const Index right = std::min(picture.width, left + dot * kWordColumns);
  for (Index y = std::max<Index>(0, top); y < bottom; ++y) {
    for (Index x = std::max<Index>(0, left); x < right; ++x) {
      if (!HasDot((x - left) / dot, (y - top) / dot)) continue;
      std::ranges::copy(placement.colour, picture.pixels.begin() + 3 * (y * picture.width + x));
    }
  }
}

}  // namespace bitpool
