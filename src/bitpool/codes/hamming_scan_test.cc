#include "bitpool/codes/hamming_scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <tuple>

#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/code_blocks.h"
#include "bitpool/codes/testing.h"

namespace bitpool {
namespace {

// Codes of all kinds: random, near the query, equal to it, its opposite, all zeros, all ones.
std::vector<uint8_t> MakeRows(Random& random, size_t count, size_t bytes,
                              std::span<const uint8_t> query) {
  std::vector<uint8_t> rows(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t kind = random.Below(8);
    for (size_t j = 0; j < bytes; ++j) {
      uint8_t& byte = rows[i * bytes + j];
      byte = kind == 0   ? query[j]
             : kind == 1 ? static_cast<uint8_t>(~query[j])
             : kind == 2 ? uint8_t{0}
             : kind == 3 ? uint8_t{255}
             : kind == 4
                 ? static_cast<uint8_t>(query[j] ^ (random.Next() & random.Next() & random.Next()))
                 : static_cast<uint8_t>(random.Next());
    }
  }
  return rows;
}

std::vector<uint8_t> ToBlocks(std::span<const uint8_t> rows, size_t bytes) {
  const size_t count = rows.size() / bytes / kBlockCodes;
  // One more block than needed, to begin at an aligned address.
  std::vector<uint8_t> blocks(count * BlockBytes(bytes));
  for (size_t b = 0; b < count; ++b) {
    PackBlock(rows.subspan(b * kBlockCodes * bytes, kBlockCodes * bytes), bytes,
              blocks.data() + b * BlockBytes(bytes));
  }
  return blocks;
}

// Aligned copy, as the kernels require.
struct AlignedBlocks {
  explicit AlignedBlocks(const std::vector<uint8_t>& bytes)
      : data(static_cast<uint8_t*>(std::aligned_alloc(64, bytes.size() + 64))) {
    std::copy(bytes.begin(), bytes.end(), data);
  }
  ~AlignedBlocks() { std::free(data); }
  AlignedBlocks(const AlignedBlocks&) = delete;
  AlignedBlocks& operator=(const AlignedBlocks&) = delete;
  uint8_t* data;
};

TEST(HammingScan, EveryTargetFindsWhatBruteForceFinds) {
  std::set<std::string> targets;
  ForEachTarget([&](const std::string& target) {
    targets.insert(target);
    EXPECT_EQ(ScanTargetName(), target);
    Random random(7);
    for (const size_t bytes : {1, 2, 3, 4, 5, 7, 8, 9, 16, 31, 32, 33, 64, 100, 512}) {
      constexpr size_t kCodes = 192;
      std::vector<uint8_t> query_rows(kScanGroup * bytes);
      for (uint8_t& byte : query_rows) byte = static_cast<uint8_t>(random.Next());
      const std::vector<uint8_t> rows =
          MakeRows(random, kCodes, bytes, std::span(query_rows).first(bytes));
      const AlignedBlocks blocks(ToBlocks(rows, bytes));
      const ScanQueries queries(query_rows, bytes);
      const auto bits = static_cast<int32_t>(bytes * 8);
      for (const int32_t threshold : {-1, 0, 1, bits / 4, bits / 2, bits / 2 + 3, bits - 1, bits,
                                      bits + 100, 254, 255, 256}) {
        for (size_t group = 1; group <= kScanGroup; ++group) {
          std::vector<ScanRequest> requests;
          std::vector<std::vector<ScanHit>> hits(group, std::vector<ScanHit>(kCodes));
          for (size_t q = 0; q < group; ++q) {
            // Different thresholds in one group, among them none at all.
            requests.push_back({.query = q,
                                .threshold = threshold - static_cast<int32_t>(q),
                                .hits = hits[q].data(),
                                .hit_count = 99});
          }
          ScanBlocks(blocks.data, kCodes / kBlockCodes, queries, requests);
          for (size_t q = 0; q < group; ++q) {
            size_t expected = 0;
            for (size_t i = 0; i < kCodes; ++i) {
              const int distance = HammingDistance(std::span(rows).subspan(i * bytes, bytes),
                                                   std::span(query_rows).subspan(q * bytes, bytes));
              if (distance > requests[q].threshold) continue;
              ASSERT_LT(expected, requests[q].hit_count)
                  << target << " bytes " << bytes << " threshold " << threshold;
              ASSERT_EQ(hits[q][expected].position, i) << target << " bytes " << bytes;
              ASSERT_EQ(hits[q][expected].distance, static_cast<uint32_t>(distance))
                  << target << " bytes " << bytes;
              ++expected;
            }
            ASSERT_EQ(requests[q].hit_count, expected)
                << target << " bytes " << bytes << " threshold " << threshold;
          }
        }
      }
    }
  });
  EXPECT_GE(targets.size(), 1U);
  for (const std::string& target : targets) std::printf("tested %s\n", target.c_str());
}

TEST(HammingScan, NoBlocksAndNoRequestsAreFine) {
  const std::vector<uint8_t> query(8);
  const ScanQueries queries(query, 8);
  ScanHit hit = {};
  ScanRequest request = {.query = 0, .threshold = 3, .hits = &hit, .hit_count = 5};
  ScanBlocks(nullptr, 0, queries, {&request, 1});
  EXPECT_EQ(request.hit_count, 0U);
  ScanBlocks(nullptr, 0, queries, {});
}

}  // namespace
}  // namespace bitpool
