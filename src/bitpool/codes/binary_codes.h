#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

inline constexpr int kMaxBits = 4096;

// Bytes of one code: its bits, rounded up to whole bytes.
constexpr size_t BytesPerCode(int bits) { return (static_cast<size_t>(bits) + 7) / 8; }

// Binary codes of one length, one after the other. Bit i of a code is bit i%8 of its byte i/8 (as
// in Faiss, and NumPy's packbits with bitorder 'little'); bits beyond the length are zero.
class BinaryCodes {
 public:
  // No codes yet. Throws kInvalidArgument unless 1 <= bits <= kMaxBits.
  explicit BinaryCodes(int bits);
  // Takes over packed rows. Throws kInvalidArgument when they are not a whole number of codes, or,
  // naming the first code, when a bit beyond the length is set.
  BinaryCodes(int bits, std::vector<uint8_t> rows);

  // A code per column, a bit per row: 1 where the value is not negative (sgn(0) = +1).
  // Throws kInvalidArgument, naming the column, for a value that is not a number.
  static BinaryCodes FromSigns(const MatrixFRef& values);
  // Two hexadecimal digits per byte, in the order of the bytes. Throws kInvalidArgument that shows
  // the bad text.
  static BinaryCodes FromHex(int bits, const std::vector<std::string>& texts);

  int bits() const { return bits_; }
  size_t bytes_per_code() const { return BytesPerCode(bits_); }
  Index size() const { return static_cast<Index>(rows_.size() / bytes_per_code()); }
  std::span<const uint8_t> rows() const { return rows_; }
  std::span<const uint8_t> code(Index i) const {
    return std::span(rows_).subspan(static_cast<size_t>(i) * bytes_per_code(), bytes_per_code());
  }

  // REQUIRES: of this length, with zeros beyond it.
  void Append(std::span<const uint8_t> code) {
    rows_.insert(rows_.end(), code.begin(), code.end());
  }

  std::string ToHex(Index i) const;

  // Gives the packed rows away.
  std::vector<uint8_t> TakeRows() && { return std::move(rows_); }

 private:
  int bits_;
  std::vector<uint8_t> rows_;
};

// The number of bits that differ. REQUIRES: a.size() == b.size().
int HammingDistance(std::span<const uint8_t> a, std::span<const uint8_t> b);

// Throws kInvalidArgument unless 1 <= bits <= kMaxBits.
void RequireBits(int bits);

}  // namespace bitpool
