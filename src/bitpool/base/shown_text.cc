#include "bitpool/base/shown_text.h"

#include <algorithm>
#include <cstddef>

namespace bitpool {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

// Length in bytes of the UTF-8 character at the beginning; 0 when there is none (RFC 3629).
size_t CharacterLength(std::string_view text) {
  const auto byte = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// Control characters of ASCII, and those of Latin-1, which are U+0080 to U+009F.
bool IsControl(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

// The ends of lines and paragraphs (U+2028, U+2029), and what embeds, overrides or isolates a
// direction (U+202A to U+202E, U+2066 to U+2069): with these, a name can seem to end in an
// extension other than its own.
bool IsLayout(std::string_view character) {
  return (character >= "\u2028" && character <= "\u202E") ||
         (character >= "\u2066" && character <= "\u2069");
}

std::string Shown(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    const bool replaced = length == 0 || ((IsControl(character) || IsLayout(character)) &&
                                          kept.find(character) == std::string_view::npos);
    shown += replaced ? kReplacement : character;
    text.remove_prefix(character.size());
  }
  return shown;
}

}  // namespace

std::string ShownName(std::string_view name) { return Shown(name, ""); }

std::string ShownText(std::string_view text) { return Shown(text, "\n\t"); }

}  // namespace bitpool
