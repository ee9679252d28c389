#include "bitpool/codes/hamming_scan.h"

#include <cstring>
#include <vector>

#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/code_blocks.h"

namespace bitpool {
namespace {

// One input: the length, a threshold, then query and codes.
struct Input {
  size_t bytes;
  int32_t threshold;
  std::vector<uint8_t> query;
  std::vector<uint8_t> rows;  // a whole number of blocks
};

void CompareWithBruteForce(const char* /*target*/, void* state) {
  const Input& input = *static_cast<const Input*>(state);
  const size_t codes = input.rows.size() / input.bytes;
  const size_t blocks = codes / kBlockCodes;
  AlignedBytes packed(blocks * BlockBytes(input.bytes));
  for (size_t b = 0; b < blocks; ++b) {
    PackBlock(std::span(input.rows).subspan(b * BlockBytes(input.bytes), BlockBytes(input.bytes)),
              input.bytes, packed.data() + b * BlockBytes(input.bytes));
  }
  const ScanQueries queries(input.query, input.bytes);
  std::vector<ScanHit> hits(codes);
  ScanRequest request = {
      .query = 0, .threshold = input.threshold, .hits = hits.data(), .hit_count = 0};
  ScanBlocks(packed.data(), blocks, queries, {&request, 1});
  size_t expected = 0;
  for (size_t i = 0; i < codes; ++i) {
    const int distance =
        HammingDistance(std::span(input.rows).subspan(i * input.bytes, input.bytes), input.query);
    if (distance > input.threshold) continue;
    if (expected >= request.hit_count || hits[expected].position != i ||
        hits[expected].distance != static_cast<uint32_t>(distance)) {
      __builtin_trap();
    }
    ++expected;
  }
  if (expected != request.hit_count) __builtin_trap();
}

}  // namespace
}  // namespace bitpool

// Every instruction set this machine has against brute force.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  if (size < 4) return 0;
  Input input;
  input.bytes = 1 + (data[0] | data[1] << 8) % 512;
  input.threshold = static_cast<int32_t>((data[2] | data[3] << 8) % (input.bytes * 8 + 4)) - 1;
  // The rest of the input, repeated, fills the query and up to three blocks.
  std::vector<uint8_t> pool(data + 4, data + size);
  if (pool.empty()) pool.push_back(0);
  const size_t blocks = 1 + pool.size() % 3;
  size_t next = 0;
  const auto draw = [&] {
    const size_t i = next++;
    return static_cast<uint8_t>(pool[i % pool.size()] + 37 * (i / pool.size()));
  };
  for (size_t i = 0; i < input.bytes; ++i) input.query.push_back(draw());
  for (size_t i = 0; i < blocks * BlockBytes(input.bytes); ++i) input.rows.push_back(draw());
  ForEachScanTarget(CompareWithBruteForce, &input);
  return 0;
}
