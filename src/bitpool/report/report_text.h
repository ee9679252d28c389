#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bitpool {

// What stands where a value is missing.
inline constexpr std::string_view kMissing = "–";

// Text as the content or an attribute of HTML and SVG. Control characters, which XML forbids even
// escaped, become U+FFFD.
std::string EscapeMarkup(std::string_view text);

// A number by a format of fmt, such as "{:.3f}", with a true minus sign; kMissing for what is not
// finite. Throws kInvalidArgument for a format that does not take one number.
std::string FormatNumber(std::string_view format, double value);

// Characters of UTF-8, not bytes.
size_t CharacterCount(std::string_view text);

// At most `most` characters, the last of them "…" when some were left out. REQUIRES: most >= 1
std::string Shortened(std::string_view text, size_t most);

// The text in lines of at most `most` characters, broken between words where that is possible. At
// least one line. REQUIRES: most >= 1
std::vector<std::string> WrapWords(std::string_view text, size_t most);

}  // namespace bitpool
