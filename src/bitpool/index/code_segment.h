#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/code_blocks.h"
#include "bitpool/index/segment_tables.h"

namespace bitpool {

// How a segment keeps its codes: in blocks to scan, or in tables to look up.
enum class SegmentLayout { kBlocks, kTables };

// Codes and their ids, in the order of the ids, that never change: in memory, or in a mapped file.
class CodeSegment {
 public:
  // REQUIRES: one row per id; ids not negative and strictly ascending; fewer than 2³² of them.
  static std::shared_ptr<const CodeSegment> Build(SegmentLayout layout, int bits,
                                                  std::span<const uint8_t> rows,
                                                  std::vector<int64_t> ids,
                                                  const RunContext& context);

  // Where the ids of a mapped segment are. An empty list means first_id, first_id + 1, …
  struct MappedIds {
    std::span<const int64_t> ids;
    int64_t first_id = 0;
  };
  // Over memory that `owner` keeps alive. REQUIRES: as above; blocks aligned to 64 bytes.
  static std::shared_ptr<const CodeSegment> ViewBlocks(int bits, size_t size,
                                                       std::span<const uint8_t> blocks,
                                                       MappedIds ids,
                                                       std::shared_ptr<const void> owner);
  static std::shared_ptr<const CodeSegment> ViewTables(int bits, size_t size, SegmentTables tables,
                                                       MappedIds ids,
                                                       std::shared_ptr<const void> owner);

  int bits() const { return bits_; }
  size_t size() const { return size_; }
  const SegmentTables* tables() const {
    return tables_ ? &*tables_ : nullptr;
  }  // null: there are blocks
  size_t block_count() const { return (size_ + kBlockCodes - 1) / kBlockCodes; }
  const uint8_t* block(size_t i) const { return blocks_.data() + i * BlockBytes(bytes_per_code_); }
  std::span<const uint8_t> blocks() const { return blocks_; }
  std::span<const int64_t> ids() const { return ids_; }  // empty when they count up from first_id()

  int64_t id(size_t slot) const {
    return ids_.empty() ? first_id_ + static_cast<int64_t>(slot) : ids_[slot];
  }
  int64_t first_id() const { return id(0); }
  int64_t last_id() const { return id(size_ - 1); }

  // Where an id is, if it is here.
  std::optional<size_t> FindSlot(int64_t id) const;

  void CopyCode(size_t slot, uint8_t* code) const;

 private:
  CodeSegment() = default;
  static std::shared_ptr<CodeSegment> MakeView(int bits, size_t size, MappedIds ids,
                                               std::shared_ptr<const void> owner);

  int bits_ = 0;
  size_t bytes_per_code_ = 0;
  size_t size_ = 0;
  int64_t first_id_ = 0;
  std::span<const uint8_t> blocks_;
  std::optional<SegmentTables> tables_;
  std::span<const int64_t> ids_;
  AlignedBytes owned_blocks_;
  std::vector<int64_t> owned_ids_;
  std::shared_ptr<const void> owner_;
};

}  // namespace bitpool
