#include "bitpool/report/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// Bytes of the first `count` characters.
size_t BytesOf(std::string_view text, size_t count) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    if (!IsContinuation(text[bytes]) && count-- == 0) break;
    ++bytes;
  }
  return bytes;
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      case '\n':
      case '\t':
        escaped += c;
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          escaped += "\uFFFD";
        } else {
          escaped += c;
        }
    }
  }
  return escaped;
}

std::string FormatNumber(std::string_view format, double value) {
  std::string text;
  try {
    text = fmt::format(fmt::runtime(format), value);
  } catch (const fmt::format_error& problem) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("number format: expected one such as \"{{:.3f}}\", got \"{}\" ({})",
                            format, problem.what()));
  }
  if (!std::isfinite(value)) return std::string(kMissing);
  if (!text.empty() && text.front() == '-') text.replace(0, 1, "−");
  return text;
}

size_t CharacterCount(std::string_view text) {
  return text.size() - static_cast<size_t>(std::count_if(text.begin(), text.end(), IsContinuation));
}

std::string Shortened(std::string_view text, size_t most) {
  if (CharacterCount(text) <= most) return std::string(text);
  return std::string(text.substr(0, BytesOf(text, most - 1))) + "…";
}

std::vector<std::string> WrapWords(std::string_view text, size_t most) {
  std::vector<std::string> lines;
  while (CharacterCount(text) > most) {
    size_t end = BytesOf(text, most);
    const size_t space = text.rfind(' ', end);
    const bool between_words = space != std::string_view::npos && space > 0;
    if (between_words) end = space;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(between_words ? end + 1 : end);
  }
  if (lines.empty() || !text.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace bitpool
