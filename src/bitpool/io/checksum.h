#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace bitpool {

// XXH3, 64 bits: finds damage at memory speed; it does not protect against an attacker.
uint64_t Checksum(std::span<const std::byte> bytes);

// XXH3, 128 bits, as 32 hexadecimal digits: names the content of a file.
std::string ContentDigest(std::span<const std::byte> bytes);

}  // namespace bitpool
