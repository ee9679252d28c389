#include "bitpool/codes/asymmetric_scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/code_blocks.h"
#include "bitpool/codes/hamming_scan.h"

namespace bitpool {
namespace {

// One input: the length, a rank, then weights and codes.
struct Input {
  size_t bytes;
  size_t rank;  // the score of this code is the bound
  MatrixF weights;
  std::vector<uint8_t> rows;  // a whole number of blocks
};

double PlainScore(const Input& input, size_t row) {
  double sum = 0;
  for (Index i = 0; i < input.weights.rows(); ++i) {
    const double h = input.weights(i, 0);
    const uint8_t byte = input.rows[row * input.bytes + static_cast<size_t>(i) / 8];
    sum += (byte >> (i % 8) & 1) != 0 ? h : -h;
  }
  return sum;
}

void CompareWithPlainLoop(const char* /*target*/, void* state) {
  const Input& input = *static_cast<const Input*>(state);
  const size_t codes = input.rows.size() / input.bytes;
  const size_t blocks = codes / kBlockCodes;
  AlignedBytes packed(blocks * BlockBytes(input.bytes));
  for (size_t b = 0; b < blocks; ++b) {
    PackBlock(std::span(input.rows).subspan(b * BlockBytes(input.bytes), BlockBytes(input.bytes)),
              input.bytes, packed.data() + b * BlockBytes(input.bytes));
  }
  const RealQueries queries(input.weights);
  std::vector<double> scores(codes);
  queries.Score(0, input.rows, scores.data());
  for (size_t i = 0; i < codes; ++i) {
    if (scores[i] != PlainScore(input, i) || scores[i] > queries.best_score(0)) __builtin_trap();
  }
  // First an easier bound, so that the second may keep or renew its tables.
  std::vector<uint32_t> hits(codes);
  PenaltyBound bound;
  const double score = scores[input.rank % codes];
  for (const double reached : {std::min(score, scores[0]), score}) {
    bound.RuleOutBelow(reached, queries, 0);
    RealScanRequest request = {.bound = &bound, .hits = hits.data(), .hit_count = 0};
    ScanRealBlocks(packed.data(), blocks, {&request, 1});
    size_t next = 0;
    for (size_t i = 0; i < codes; ++i) {
      const bool hit = next < request.hit_count && hits[next] == i;
      if (hit) ++next;
      if (!hit && scores[i] >= reached) __builtin_trap();
    }
    if (next != request.hit_count) __builtin_trap();
  }
}

}  // namespace
}  // namespace bitpool

// Every instruction set this machine has against the definition of the score.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  if (size < 5) return 0;
  Input input;
  const int bits = 1 + (data[0] | data[1] << 8) % kMaxBits;
  input.bytes = BytesPerCode(bits);
  input.rank = data[2];
  const bool small = (data[3] & 1) != 0;  // weights from few different ones
  // The rest of the input, repeated, makes weights and up to three blocks.
  const std::vector<uint8_t> pool(data + 4, data + size);
  const size_t blocks = 1 + pool.size() % 3;
  size_t next = 0;
  const auto draw = [&] {
    const size_t i = next++;
    return static_cast<uint8_t>(pool[i % pool.size()] + 37 * (i / pool.size()));
  };
  input.weights.resize(bits, 1);
  for (Index i = 0; i < bits; ++i) {
    const uint8_t bytes[4] = {draw(), draw(), draw(), draw()};
    float weight = 0;
    std::memcpy(&weight, bytes, 4);
    if (small) weight = static_cast<float>(bytes[0]) / 32 - 4;
    input.weights(i, 0) = std::isfinite(weight) ? weight : 1;
  }
  for (size_t i = 0; i < blocks * BlockBytes(input.bytes); ++i) input.rows.push_back(draw());
  ForEachScanTarget(CompareWithPlainLoop, &input);
  return 0;
}
