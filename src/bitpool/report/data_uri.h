#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bitpool {

// Bytes as an address that holds them itself, for pages that stand alone:
// "data:image/jpeg;base64,…".
std::string DataUri(std::string_view media_type, std::span<const std::byte> bytes);

}  // namespace bitpool
