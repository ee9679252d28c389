#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/index/multi_index.h"

namespace bitpool {

// A slot whose code an earlier slot already has, and the row of that code.
struct RepeatedSlot {
  uint32_t row;
  uint32_t slot;

  friend bool operator<(const RepeatedSlot& a, const RepeatedSlot& b) {
    return a.row != b.row ? a.row < b.row : a.slot < b.slot;
  }
};

// The codes of a segment in the form the multi-index searches: every distinct code once, in the
// order of the slots that have it first, and a list of the slots that repeat one. Nothing is stored
// for the others: leaving the repeated slots out, the i-th slot has the i-th row.
class SegmentTables {
 public:
  // `slot_rows`: the code of every slot. Copies them.
  static SegmentTables Build(int bits, std::span<const uint8_t> slot_rows,
                             const RunContext& context);

  // Arrays as they are saved.
  struct Parts {
    std::span<const uint8_t> rows;           // the distinct codes
    std::span<const RepeatedSlot> repeated;  // ascending
    MultiIndexParts tables;
  };
  // Over arrays that outlive this. Throws kCorrupt when they do not fit together for this number of
  // slots.
  static SegmentTables View(int bits, size_t slots, const Parts& parts, const RunContext& context);

  Parts parts() const;
  const MultiIndex& index() const { return *index_; }
  size_t memory_bytes() const;  // codes included

  // The code of a slot.
  const uint8_t* code(size_t slot) const;

  // Calls body(slot) for every slot with the code of this row, ascending, until it returns false.
  template <class Body>
  void ForEachSlot(uint32_t row, const Body& body) const {
    if (!body(FirstSlot(row))) return;
    for (size_t i = FirstRepeated(row); i < repeated_.size() && repeated_[i].row == row; ++i) {
      if (!body(repeated_[i].slot)) return;
    }
  }

 private:
  explicit SegmentTables(int bits);
  std::vector<RepeatedSlot> FindDistinct(std::span<const uint8_t> slot_rows);
  void SetRepeated(std::span<const RepeatedSlot> repeated);
  void FillDirectory();
  uint32_t FirstSlot(uint32_t row) const;
  size_t FirstRepeated(uint32_t row) const;

  size_t bytes_per_code_;
  std::span<const uint8_t> rows_;
  std::span<const RepeatedSlot> repeated_;  // by (row, slot)
  std::vector<RepeatedSlot> by_slot_;       // the same by slot
  // Where the rows begin in the two lists, one entry for every so many rows, and where the lists
  // end.
  struct DirectoryEntry {
    uint32_t repeated;
    uint32_t by_slot;
  };
  std::vector<DirectoryEntry> directory_;
  AlignedBytes owned_rows_;
  std::vector<RepeatedSlot> owned_repeated_;
  std::optional<MultiIndex> index_;
};

}  // namespace bitpool
