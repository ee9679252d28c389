#include "bitpool/codes/real_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

// Of the eight bits of a byte.
double ByteWeight(const double* weights, size_t j) {
  double sum = 0;
  for (size_t i = 0; i < 8; ++i) sum += std::abs(weights[j * 8 + i]);
  return sum;
}

}  // namespace

RealQueries::RealQueries(const MatrixFRef& weights)
    : size_(static_cast<size_t>(weights.cols())),
      bits_(static_cast<int>(weights.rows())),
      bytes_(BytesPerCode(bits_)),
      weights_(size_ * bytes_ * 8),
      totals_(size_),
      codes_(size_ * bytes_),
      order_(size_ * bytes_) {
  RequireBits(bits_);
  for (size_t query = 0; query < size_; ++query) {
    const auto column = weights.col(static_cast<Index>(query));
    double* own = weights_.data() + query * bytes_ * 8;
    for (Index i = 0; i < column.size(); ++i) {
      if (!std::isfinite(column(i))) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("query {}: weight {} is {}; expected a finite number", query, i,
                                column(i)));
      }
      own[i] = column(i);
      totals_[query] += std::abs(own[i]);
      if (own[i] >= 0) {
        uint8_t& byte = codes_[query * bytes_ + static_cast<size_t>(i) / 8];
        byte = static_cast<uint8_t>(byte | 1U << (i % 8));
      }
    }
    const auto order = std::span(order_).subspan(query * bytes_, bytes_);
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return ByteWeight(own, a) > ByteWeight(own, b);
    });
  }
}

void RealQueries::Score(size_t query, std::span<const uint8_t> rows, double* scores) const {
  constexpr size_t kTogether = 8;  // sums that do not wait for each other
  const double* weights = this->weights(query);
  const size_t count = rows.size() / bytes_;
  for (size_t begin = 0; begin < count; begin += kTogether) {
    const uint8_t* codes[kTogether];
    for (size_t c = 0; c < kTogether; ++c)
      codes[c] = rows.data() + std::min(begin + c, count - 1) * bytes_;
    double sums[kTogether] = {};
    for (size_t i = 0; i < static_cast<size_t>(bits_); ++i) {
      const auto weight = std::bit_cast<uint64_t>(weights[i]);
      for (size_t c = 0; c < kTogether; ++c) {
        const uint64_t zero = ~(uint64_t{codes[c][i / 8]} >> (i % 8)) & 1;
        sums[c] += std::bit_cast<double>(weight ^ zero << 63);
      }
    }
    std::copy_n(sums, std::min(kTogether, count - begin), scores + begin);
  }
}

}  // namespace bitpool
