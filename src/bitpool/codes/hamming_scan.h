#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/code_blocks.h"

namespace bitpool {

// A code whose distance to the query is at most the threshold.
struct ScanHit {
  uint32_t position;  // among the scanned codes
  uint32_t distance;
};

// Queries made ready for scanning: for every byte of a code, a table of the distances of its two
// nibbles.
class ScanQueries {
 public:
  // `rows` are packed codes, one after the other.
  ScanQueries(std::span<const uint8_t> rows, size_t bytes_per_code);

  size_t size() const { return codes_.size() / bytes_per_code_; }
  size_t bytes_per_code() const { return bytes_per_code_; }
  const uint8_t* code(size_t query) const { return codes_.data() + query * bytes_per_code_; }
  // 32 bytes per byte of the code: distances of the low nibble, then of the high one.
  const uint8_t* tables(size_t query) const {
    return tables_.data() + query * bytes_per_code_ * 32;
  }
  // Every byte of the code 64 times, aligned.
  const uint8_t* planes(size_t query) const {
    return planes_.data() + query * BlockBytes(bytes_per_code_);
  }

 private:
  size_t bytes_per_code_;
  std::vector<uint8_t> codes_;
  std::vector<uint8_t> tables_;
  AlignedBytes planes_;
};

// At most this many queries share a pass over the codes.
inline constexpr size_t kScanGroup = 4;

// One query of a group: what to report, and where to.
struct ScanRequest {
  size_t query;       // which of the ScanQueries
  int32_t threshold;  // report distances up to this; negative: nothing
  ScanHit* hits;      // room for every scanned code
  size_t hit_count;   // out
};

// Finds, for each request, every code of the blocks within its threshold, in the order of the
// codes. Lanes that hold no code are reported like any other; the caller knows how many codes there
// are. Uses the best instructions this machine has, chosen at run time; every choice gives the same
// hits. REQUIRES: requests.size() <= kScanGroup; codes of the length of the queries.
void ScanBlocks(const uint8_t* blocks, size_t block_count, const ScanQueries& queries,
                std::span<ScanRequest> requests);

// The name of the instruction set in use, for example "AVX3_DL".
std::string ScanTargetName();

// For tests: runs `action` once for every instruction set of this machine, from the best to the
// plainest.
void ForEachScanTarget(void (*action)(const char* target, void* state), void* state);

}  // namespace bitpool
