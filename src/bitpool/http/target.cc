#include "bitpool/http/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

[[noreturn]] void Refuse(const std::string& detail) {
  throw ProblemError(400, "invalid_request", detail);
}

std::string DecodePart(std::string_view text, bool plus) {
  std::optional<std::string> decoded = PercentDecode(text, plus);
  if (!decoded) Refuse("the target has an escape that is not % and two hexadecimal digits");
  if (decoded->find('\0') != std::string::npos) Refuse("the target has a zero byte");
  return *std::move(decoded);
}

// Calls `visit` with every part between two separators.
template <class Visit>
void Split(std::string_view text, char separator, const Visit& visit) {
  while (true) {
    const size_t end = text.find(separator);
    visit(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, bool plus) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const char* digits = text.data() + i + 1;
      unsigned value = 0;
      if (i + 2 >= text.size() || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
        return std::nullopt;
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += plus && text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  static constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 128 && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", byte);
    }
  }
  return encoded;
}

RequestTarget ParseTarget(std::string_view target) {
  if (target.empty() || target.front() != '/') Refuse("expected a path that begins with a slash");
  RequestTarget parsed;
  const size_t mark = target.find('?');
  const std::string_view path = target.substr(1, mark == std::string_view::npos ? mark : mark - 1);
  if (!path.empty()) {
    Split(path, '/',
          [&](std::string_view part) { parsed.segments.push_back(DecodePart(part, false)); });
  }
  if (mark == std::string_view::npos || mark + 1 == target.size()) return parsed;
  Split(target.substr(mark + 1), '&', [&](std::string_view part) {
    const size_t equals = std::min(part.find('='), part.size());
    if (part.empty()) return;
    parsed.query.emplace_back(DecodePart(part.substr(0, equals), true),
                              DecodePart(part.substr(std::min(equals + 1, part.size())), true));
  });
  return parsed;
}

std::optional<std::string> RequestTarget::Parameter(std::string_view name) const {
  std::optional<std::string> found;
  for (const auto& [key, value] : query) {
    if (key != name) continue;
    if (found) {
      throw ProblemError(400, "invalid_argument", fmt::format("{}: given more than once", name));
    }
    found = value;
  }
  return found;
}

}  // namespace bitpool
