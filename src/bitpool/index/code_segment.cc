#include "bitpool/index/code_segment.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

AlignedBytes PackBlocks(std::span<const uint8_t> rows, size_t bytes_per_code,
                        const RunContext& context) {
  const size_t codes = rows.size() / bytes_per_code;
  const size_t block_count = (codes + kBlockCodes - 1) / kBlockCodes;
  AlignedBytes blocks(block_count * BlockBytes(bytes_per_code));
  context.pool().ParallelFor(block_count, 1024, [&](size_t begin, size_t end) {
    for (size_t b = begin; b < end; ++b) {
      const size_t count = std::min(kBlockCodes, codes - b * kBlockCodes);
      PackBlock(rows.subspan(b * BlockBytes(bytes_per_code), count * bytes_per_code),
                bytes_per_code, blocks.data() + b * BlockBytes(bytes_per_code));
    }
  });
  return blocks;
}

}  // namespace

std::shared_ptr<const CodeSegment> CodeSegment::Build(SegmentLayout layout, int bits,
                                                      std::span<const uint8_t> rows,
                                                      std::vector<int64_t> ids,
                                                      const RunContext& context) {
  std::shared_ptr<CodeSegment> segment(new CodeSegment());
  segment->bits_ = bits;
  segment->bytes_per_code_ = BytesPerCode(bits);
  segment->size_ = ids.size();
  segment->first_id_ = ids.empty() ? 0 : ids.front();
  if (layout == SegmentLayout::kTables) {
    segment->tables_ = SegmentTables::Build(bits, rows, context);
  } else {
    segment->owned_blocks_ = PackBlocks(rows, segment->bytes_per_code_, context);
    segment->blocks_ = segment->owned_blocks_.bytes();
  }
  const bool consecutive =  // they ascend strictly
      ids.empty() || ids.back() - ids.front() == static_cast<int64_t>(ids.size()) - 1;
  if (!consecutive) segment->owned_ids_ = std::move(ids);
  segment->ids_ = segment->owned_ids_;
  return segment;
}

std::shared_ptr<CodeSegment> CodeSegment::MakeView(int bits, size_t size, MappedIds ids,
                                                   std::shared_ptr<const void> owner) {
  std::shared_ptr<CodeSegment> segment(new CodeSegment());
  segment->bits_ = bits;
  segment->bytes_per_code_ = BytesPerCode(bits);
  segment->size_ = size;
  segment->first_id_ = ids.first_id;
  segment->ids_ = ids.ids;
  segment->owner_ = std::move(owner);
  return segment;
}

std::shared_ptr<const CodeSegment> CodeSegment::ViewBlocks(int bits, size_t size,
                                                           std::span<const uint8_t> blocks,
                                                           MappedIds ids,
                                                           std::shared_ptr<const void> owner) {
  auto segment = MakeView(bits, size, ids, std::move(owner));
  segment->blocks_ = blocks;
  return segment;
}

std::shared_ptr<const CodeSegment> CodeSegment::ViewTables(int bits, size_t size,
                                                           SegmentTables tables, MappedIds ids,
                                                           std::shared_ptr<const void> owner) {
  auto segment = MakeView(bits, size, ids, std::move(owner));
  segment->tables_ = std::move(tables);
  return segment;
}

std::optional<size_t> CodeSegment::FindSlot(int64_t id) const {
  if (size_ == 0 || id < first_id() || id > last_id()) return std::nullopt;
  if (ids_.empty()) return static_cast<size_t>(id - first_id_);
  const auto found = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (found == ids_.end() || *found != id) return std::nullopt;
  return static_cast<size_t>(found - ids_.begin());
}

void CodeSegment::CopyCode(size_t slot, uint8_t* code) const {
  if (tables_) {
    std::memcpy(code, tables_->code(slot), bytes_per_code_);
  } else {
    UnpackCode(block(slot / kBlockCodes), bytes_per_code_, slot % kBlockCodes, code);
  }
}

}  // namespace bitpool
