#include "bitpool/io/json_text.h"

#include <nlohmann/json.hpp>

namespace bitpool {
namespace {

// Right for text that is JSON; for other text the answer does not matter.
bool IsTooDeep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      quoted = !quoted;
    } else if (quoted) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) {
  // Not in braces, which would make an array of it.
  if (IsTooDeep(text))
    return nlohmann::json(
        nlohmann::json::value_t::discarded);  // NOLINT(modernize-return-braced-init-list)
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

nlohmann::json ParseJson(std::span<const std::byte> text) {
  return ParseJson(std::string_view(reinterpret_cast<const char*>(text.data()), text.size()));
}

}  // namespace bitpool
