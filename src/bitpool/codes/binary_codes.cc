#include "bitpool/codes/binary_codes.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/sign_bits.h"

namespace bitpool {

void RequireBits(int bits) {
  if (bits < 1 || bits > kMaxBits) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes of {} bits: expected 1 to {}", bits, kMaxBits));
  }
}

BinaryCodes::BinaryCodes(int bits) : bits_(bits) { RequireBits(bits); }

BinaryCodes::BinaryCodes(int bits, std::vector<uint8_t> rows) : BinaryCodes(bits) {
  rows_ = std::move(rows);
  const size_t bytes = bytes_per_code();
  if (rows_.size() % bytes != 0) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} bytes are not a whole number of codes of {} bits", rows_.size(), bits));
  }
  if (bits % 8 == 0) return;
  for (size_t last = bytes - 1; last < rows_.size(); last += bytes) {
    if (rows_[last] >> (bits % 8) != 0) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("code {}: a bit beyond the length of {} is set", last / bytes, bits));
    }
  }
}

BinaryCodes BinaryCodes::FromSigns(const MatrixFRef& values) {
  BinaryCodes codes(static_cast<int>(std::min<Index>(values.rows(), kMaxBits + 1)));
  codes.rows_.resize(static_cast<size_t>(values.cols()) * codes.bytes_per_code());
  // A block of a larger matrix has gaps between its columns.
  const bool gapless = values.outerStride() == values.rows();
  const MatrixF copy = gapless ? MatrixF() : MatrixF(values);
  const Index bad = PackSigns(gapless ? values.data() : copy.data(), values.rows(), values.cols(),
                              codes.rows_.data());
  if (bad < values.cols()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("column {}: a value is not a number", bad));
  }
  return codes;
}

BinaryCodes BinaryCodes::FromHex(int bits, const std::vector<std::string>& texts) {
  RequireBits(bits);
  std::vector<uint8_t> rows;
  rows.reserve(texts.size() * BytesPerCode(bits));
  for (const std::string& text : texts) {
    bool good = text.size() == 2 * BytesPerCode(bits);
    for (size_t i = 0; good && i < text.size(); i += 2) {
      uint8_t byte = 0;
      const auto [end, error] = std::from_chars(&text[i], &text[i] + 2, byte, 16);
      good = error == std::errc() && end == &text[i] + 2;
      rows.push_back(byte);
    }
    if (!good) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("\"{}\": expected a code of {} bits as {} hexadecimal digits", text,
                              bits, 2 * BytesPerCode(bits)));
    }
  }
  return {bits, std::move(rows)};
}

std::string BinaryCodes::ToHex(Index i) const {
  std::string text;
  for (const uint8_t byte : code(i)) text += fmt::format("{:02x}", byte);
  return text;
}

int HammingDistance(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  int distance = 0;
  size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + i, 8);
    std::memcpy(&y, b.data() + i, 8);
    distance += std::popcount(x ^ y);
  }
  for (; i < a.size(); ++i) distance += std::popcount(static_cast<uint8_t>(a[i] ^ b[i]));
  return distance;
}

}  // namespace bitpool
