#include "bitpool/index/multi_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

constexpr int kMaxKeyBits = 24;
// A table has at most one key for this many codes: its offsets then take a third of the room of its
// positions, and a bucket about fills a cache line.
constexpr size_t kCodesPerKey = 3;

size_t CountCodes(int bits, std::span<const uint8_t> rows) {
  RequireBits(bits);
  const size_t bytes = BytesPerCode(bits);
  if (rows.size() % bytes != 0 || rows.size() / bytes > UINT32_MAX) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("{} bytes are not fewer than 2^32 whole codes of {} bits", rows.size(), bits));
  }
  return rows.size() / bytes;
}

// About log2(n) bits per substring: a key then finds a handful of codes.
int ChooseSubstrings(int bits, size_t size) {
  const double key_bits =
      std::clamp(std::log2(static_cast<double>(size) + 1), 1.0, double{kMaxKeyBits});
  return std::max(1, static_cast<int>(std::lround(bits / key_bits)));
}

int ChooseKeyBits(int bits, int substrings, size_t size) {
  const int affordable = static_cast<int>(std::bit_width(size / kCodesPerKey)) - 1;
  return std::clamp(affordable, 0, std::min(bits / substrings, kMaxKeyBits));
}

[[noreturn]] void ThrowCorrupt(size_t substring, const char* what) {
  throw Error(ErrorCode::kCorrupt, fmt::format("multi-index, substring {}: {}", substring, what));
}

}  // namespace

// Arrays on large pages where the system has them and the arrays fill them: lookups go everywhere,
// and would otherwise wait for address translation as long as for memory.
struct MultiIndex::Storage {
  explicit Storage(size_t count) {
    constexpr size_t kLargePage = size_t{1} << 21;
    constexpr size_t kCacheLine = 64;
    const size_t bytes = count * sizeof(uint32_t);
    const size_t unit = bytes >= kLargePage ? kLargePage : kCacheLine;
    const size_t rounded = (bytes + unit - 1) / unit * unit;
    data = static_cast<uint32_t*>(std::aligned_alloc(unit, rounded));
    if (data == nullptr) {
      throw Error(ErrorCode::kResources,
                  fmt::format("no memory for a multi-index of {} bytes", bytes));
    }
#if defined(__linux__)
    if (unit == kLargePage) (void)madvise(data, rounded, MADV_HUGEPAGE);
#endif
  }
  ~Storage() { std::free(data); }
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  uint32_t* data;
};

MultiIndex::MultiIndex(int bits, std::span<const uint8_t> rows, int substrings, int key_bits)
    : bits_(bits),
      bytes_(BytesPerCode(bits)),
      rows_(rows),
      size_(rows.size() / bytes_),
      substrings_(substrings),
      key_bits_(key_bits),
      key_mask_((uint32_t{1} << key_bits) - 1) {
  for (int i = 0; i < substrings; ++i) {
    const auto start = static_cast<uint32_t>(int64_t{bits} * i / substrings);
    const uint32_t shift = start % 8;
    fields_.push_back({.byte = start / 8,
                       .bytes = (shift + static_cast<uint32_t>(key_bits) + 7) / 8,
                       .shift = shift});
  }
  int64_t probes = 1;
  for (int s = 0; s <= key_bits; ++s) {
    probes_of_radius_.push_back(probes);
    probes = probes * (key_bits - s) / (s + 1);
  }
}

uint32_t MultiIndex::Key(const uint8_t* code, const Field& field) const {
  uint32_t key = 0;
  for (uint32_t i = 0; i < field.bytes; ++i) key |= uint32_t{code[field.byte + i]} << (8 * i);
  return key >> field.shift & key_mask_;
}

MultiIndex MultiIndex::Build(int bits, std::span<const uint8_t> rows, const RunContext& context) {
  const size_t size = CountCodes(bits, rows);
  const int substrings = ChooseSubstrings(bits, size);
  MultiIndex index(bits, rows, substrings, ChooseKeyBits(bits, substrings, size));
  const size_t tables = static_cast<size_t>(substrings);
  const size_t offset_count = tables * index.table_size();
  auto storage = std::make_shared<Storage>(offset_count + tables * size);
  uint32_t* const positions = storage->data + offset_count;
  context.ParallelFor(tables, 1, [&](size_t i, size_t /*end*/) {
    index.FillTable(i, storage->data + i * index.table_size(), positions + i * size, context);
  });
  index.offsets_ = {storage->data, offset_count};
  index.positions_ = {positions, tables * size};
  index.storage_ = std::move(storage);
  return index;
}

// Counting sort. The offsets first count, then run ahead of the positions that are filled in, and
// so end where the next bucket begins.
void MultiIndex::FillTable(size_t substring, uint32_t* offsets, uint32_t* positions,
                           const RunContext& context) const {
  constexpr size_t kRowsBetweenChecks = 1 << 20;
  const Field& field = fields_[substring];
  std::fill_n(offsets, table_size(), 0U);
  uint32_t* const counts = offsets + 1;
  const auto for_each_row = [&](const auto& body) {
    for (size_t i = 0; i < size_; ++i) {
      if (i % kRowsBetweenChecks == 0) context.ThrowIfStopped();
      body(static_cast<uint32_t>(i), Key(rows_.data() + i * bytes_, field));
    }
  };
  for_each_row([&](uint32_t, uint32_t key) { ++counts[key]; });
  uint32_t begin = 0;
  for (size_t key = 0; key + 1 < table_size(); ++key) begin += std::exchange(counts[key], begin);
  for_each_row([&](uint32_t row, uint32_t key) { positions[counts[key]++] = row; });
}

MultiIndexParts MultiIndex::parts() const {
  return {.substrings = substrings_,
          .key_bits = key_bits_,
          .offsets = offsets_,
          .positions = positions_};
}

MultiIndex MultiIndex::FromParts(int bits, std::span<const uint8_t> rows,
                                 const MultiIndexParts& parts, const RunContext& context) {
  const size_t size = CountCodes(bits, rows);
  if (parts.substrings < 1 || parts.substrings > bits || parts.key_bits < 0 ||
      parts.key_bits > std::min(bits / parts.substrings, kMaxKeyBits)) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("multi-index of {} substrings with keys of {} bits, of codes of {}",
                            parts.substrings, parts.key_bits, bits));
  }
  MultiIndex index(bits, rows, parts.substrings, parts.key_bits);
  const size_t tables = static_cast<size_t>(parts.substrings);
  if (parts.offsets.size() != tables * index.table_size() ||
      parts.positions.size() != tables * size) {
    throw Error(ErrorCode::kCorrupt,
                fmt::format("multi-index of {} codes: {} offsets and {} positions, expected {} and "
                            "{}",
                            size, parts.offsets.size(), parts.positions.size(),
                            tables * index.table_size(), tables * size));
  }
  index.offsets_ = parts.offsets;
  index.positions_ = parts.positions;
  context.ParallelFor(tables, 1, [&](size_t i, size_t /*end*/) { index.CheckTable(i); });
  return index;
}

void MultiIndex::CheckTable(size_t substring) const {
  const auto offsets = offsets_.subspan(substring * table_size(), table_size());
  const auto positions = positions_.subspan(substring * size_, size_);
  if (offsets.front() != 0 || offsets.back() != size_ || !std::ranges::is_sorted(offsets)) {
    ThrowCorrupt(substring, "offsets do not cover the codes in order");
  }
  for (size_t key = 0; key + 1 < offsets.size(); ++key) {
    for (uint32_t i = offsets[key]; i < offsets[key + 1]; ++i) {
      if (positions[i] >= size_) ThrowCorrupt(substring, "a position is out of range");
      if (i > offsets[key] && positions[i] <= positions[i - 1]) {
        ThrowCorrupt(substring, "positions under a key do not ascend");
      }
    }
  }
}

void MultiIndex::Verify(const RunContext& context) const {
  context.ParallelFor(static_cast<size_t>(substrings_), 1,
                      [&](size_t i, size_t /*end*/) { VerifyTable(i); });
}

// Positions under a key ascend, so none is there twice; when each is under its own key, the right
// number of them is all of them.
void MultiIndex::VerifyTable(size_t substring) const {
  const uint32_t* const offsets = offsets_.data() + substring * table_size();
  const uint32_t* const positions = positions_.data() + substring * size_;
  for (uint32_t key = 0; key <= key_mask_; ++key) {
    for (uint32_t i = offsets[key]; i < offsets[key + 1]; ++i) {
      if (Key(code(positions[i]), fields_[substring]) != key) {
        ThrowCorrupt(substring, "a code is under the wrong key");
      }
    }
  }
}

}  // namespace bitpool
