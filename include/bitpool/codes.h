#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "bitpool/export.h"

namespace bitpool {
inline namespace v0 {

// Binary codes of one length, 1 to 4096 bits, one after the other. Bit i of a code is bit i % 8 of
// its byte i / 8 (as in Faiss, and NumPy's packbits with bitorder 'little'); the bits beyond the
// length are zero.
class Codes {
 public:
  // No codes yet. Throws kInvalidArgument for a length that is not possible.
  BITPOOL_EXPORT explicit Codes(int bits);
  // Takes over packed rows of ⌈bits / 8⌉ bytes. Throws kInvalidArgument when they are not a whole
  // number of codes, or, naming the code, when a bit beyond the length is set.
  BITPOOL_EXPORT Codes(int bits, std::vector<std::uint8_t> rows);

  // Reads .npy (bytes, a row per code) or .hex; the name tells which. Without `bits` the codes have
  // all bits of their bytes.
  BITPOOL_EXPORT static Codes Open(const std::filesystem::path& path, int bits = 0);
  // Writes the same formats, and replaces an existing file.
  BITPOOL_EXPORT void Save(const std::filesystem::path& path) const;

  int bits() const { return bits_; }
  std::size_t bytes_per_code() const { return (static_cast<std::size_t>(bits_) + 7) / 8; }
  std::size_t size() const { return rows_.size() / bytes_per_code(); }
  std::span<const std::uint8_t> rows() const { return rows_; }
  std::span<const std::uint8_t> operator[](std::size_t i) const {
    return std::span(rows_).subspan(i * bytes_per_code(), bytes_per_code());
  }

 private:
  int bits_;
  std::vector<std::uint8_t> rows_;
};

}  // namespace v0
}  // namespace bitpool
