#include "bitpool/report/data_uri.h"

#include <cstdint>

namespace bitpool {

std::string DataUri(std::string_view media_type, std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string uri = "data:";
  uri += media_type;
  uri += ";base64,";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;  // three bytes, of which those beyond the end are zero
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? std::to_integer<uint32_t>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      const bool padding = i + k > bytes.size();
      uri += padding ? '=' : kDigits[group >> (18 - 6 * k) & 63];
    }
  }
  return uri;
}

}  // namespace bitpool
