#include "bitpool/index/segment_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

constexpr uint32_t kNone = ~uint32_t{0};
// Few, so that hardly any repeated slot lies between two entries.
constexpr size_t kRowsPerEntry = 32;

bool BySlot(const RepeatedSlot& a, const RepeatedSlot& b) { return a.slot < b.slot; }

[[noreturn]] void FailRepeated(const std::string& problem) {
  throw Error(ErrorCode::kCorrupt, fmt::format("repeated codes: {}", problem));
}

}  // namespace

SegmentTables::SegmentTables(int bits) : bytes_per_code_(BytesPerCode(bits)) {}

SegmentTables SegmentTables::Build(int bits, std::span<const uint8_t> slot_rows,
                                   const RunContext& context) {
  SegmentTables tables(bits);
  tables.owned_repeated_ = tables.FindDistinct(slot_rows);
  tables.SetRepeated(tables.owned_repeated_);
  tables.index_ = MultiIndex::Build(bits, tables.rows_, context);
  return tables;
}

// Numbers the distinct codes in the order they first appear, by a table of rows under the hash of
// their code.
std::vector<RepeatedSlot> SegmentTables::FindDistinct(std::span<const uint8_t> slot_rows) {
  const size_t slots = slot_rows.size() / bytes_per_code_;
  owned_rows_ = AlignedBytes(slot_rows.size());
  std::vector<RepeatedSlot> repeated;
  std::vector<uint32_t> row_at(std::bit_ceil(2 * slots + 1), kNone);
  uint32_t row_count = 0;
  for (size_t slot = 0; slot < slots; ++slot) {
    const uint8_t* code = slot_rows.data() + slot * bytes_per_code_;
    size_t place = Checksum(std::as_bytes(std::span(code, bytes_per_code_))) & (row_at.size() - 1);
    while (row_at[place] != kNone &&
           std::memcmp(owned_rows_.data() + row_at[place] * bytes_per_code_, code,
                       bytes_per_code_) != 0) {
      place = (place + 1) & (row_at.size() - 1);
    }
    if (row_at[place] == kNone) {
      std::memcpy(owned_rows_.data() + row_count * bytes_per_code_, code, bytes_per_code_);
      row_at[place] = row_count++;
    } else {
      repeated.push_back({.row = row_at[place], .slot = static_cast<uint32_t>(slot)});
    }
  }
  rows_ = owned_rows_.bytes().first(row_count * bytes_per_code_);
  std::sort(repeated.begin(), repeated.end());
  return repeated;
}

void SegmentTables::SetRepeated(std::span<const RepeatedSlot> repeated) {
  repeated_ = repeated;
  by_slot_.assign(repeated.begin(), repeated.end());
  std::sort(by_slot_.begin(), by_slot_.end(), BySlot);
  FillDirectory();
}

// The i-th repeated slot has slot − i rows before it.
void SegmentTables::FillDirectory() {
  const size_t rows = rows_.size() / bytes_per_code_;
  directory_.clear();
  directory_.reserve(rows / kRowsPerEntry + 2);
  size_t repeated = 0, by_slot = 0;
  for (size_t row = 0; row < rows; row += kRowsPerEntry) {
    while (repeated < repeated_.size() && repeated_[repeated].row < row) ++repeated;
    while (by_slot < by_slot_.size() && by_slot_[by_slot].slot - by_slot < row) ++by_slot;
    directory_.push_back(
        {.repeated = static_cast<uint32_t>(repeated), .by_slot = static_cast<uint32_t>(by_slot)});
  }
  directory_.push_back({.repeated = static_cast<uint32_t>(repeated_.size()),
                        .by_slot = static_cast<uint32_t>(by_slot_.size())});
}

SegmentTables SegmentTables::View(int bits, size_t slots, const Parts& parts,
                                  const RunContext& context) {
  SegmentTables tables(bits);
  tables.rows_ = parts.rows;
  const size_t rows = parts.rows.size() / tables.bytes_per_code_;
  if (rows + parts.repeated.size() != slots) {
    FailRepeated(
        fmt::format("{} rows and {} repetitions for {} codes", rows, parts.repeated.size(), slots));
  }
  if (!std::is_sorted(parts.repeated.begin(), parts.repeated.end())) FailRepeated("not in order");
  tables.SetRepeated(parts.repeated);
  for (size_t i = 0; i < tables.by_slot_.size(); ++i) {
    const RepeatedSlot& repeated = tables.by_slot_[i];
    const bool twice = i > 0 && tables.by_slot_[i - 1].slot == repeated.slot;
    // Only rows that appeared before can be repeated: slot − i of them did.
    if (repeated.slot >= slots || twice || repeated.slot < i || repeated.row >= repeated.slot - i) {
      FailRepeated(fmt::format("slot {} cannot have row {}", repeated.slot, repeated.row));
    }
  }
  tables.index_ = MultiIndex::FromParts(bits, parts.rows, parts.tables, context);
  return tables;
}

SegmentTables::Parts SegmentTables::parts() const {
  return {.rows = rows_, .repeated = repeated_, .tables = index_->parts()};
}

size_t SegmentTables::memory_bytes() const {
  return rows_.size() + index_->memory_bytes() +
         sizeof(RepeatedSlot) * (repeated_.size() + by_slot_.size()) +
         sizeof(DirectoryEntry) * directory_.size();
}

const uint8_t* SegmentTables::code(size_t slot) const {
  const RepeatedSlot wanted{.row = 0, .slot = static_cast<uint32_t>(slot)};
  const auto found = std::lower_bound(by_slot_.begin(), by_slot_.end(), wanted, BySlot);
  const auto before = static_cast<size_t>(found - by_slot_.begin());
  const bool repeats = found != by_slot_.end() && found->slot == slot;
  return rows_.data() + (repeats ? found->row : slot - before) * bytes_per_code_;
}

// The slot that has `row` rows before it.
uint32_t SegmentTables::FirstSlot(uint32_t row) const {
  const DirectoryEntry* const entry = &directory_[row / kRowsPerEntry];
  size_t low = entry[0].by_slot, high = entry[1].by_slot;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (by_slot_[middle].slot - middle <= row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return row + static_cast<uint32_t>(low);
}

size_t SegmentTables::FirstRepeated(uint32_t row) const {
  const DirectoryEntry* const entry = &directory_[row / kRowsPerEntry];
  const RepeatedSlot* const all = repeated_.data();
  const RepeatedSlot wanted{.row = row, .slot = 0};
  return static_cast<size_t>(
      std::lower_bound(all + entry[0].repeated, all + entry[1].repeated, wanted) - all);
}

}  // namespace bitpool
