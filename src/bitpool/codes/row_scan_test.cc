#include "bitpool/codes/row_scan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/codes/testing.h"

namespace bitpool {
namespace {

std::vector<uint8_t> DrawRows(Random& random, size_t count, size_t bytes,
                              std::span<const uint8_t> query) {
  std::vector<uint8_t> rows(count * bytes);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t kind = random.Below(4);
    for (size_t j = 0; j < bytes; ++j) {
      const uint64_t few = random.Next() & random.Next() & random.Next();
      rows[i * bytes + j] = static_cast<uint8_t>(kind == 0   ? query[j]
                                                 : kind == 1 ? query[j] ^ few
                                                             : random.Next());
    }
  }
  return rows;
}

std::vector<ScanHit> BruteForce(std::span<const uint8_t> rows, std::span<const uint8_t> query,
                                std::span<const uint32_t> positions, int32_t threshold) {
  std::vector<ScanHit> hits;
  for (size_t i = 0; i < positions.size(); ++i) {
    const int distance =
        HammingDistance(rows.subspan(positions[i] * query.size(), query.size()), query);
    if (distance > threshold) continue;
    hits.push_back(
        {.position = static_cast<uint32_t>(i), .distance = static_cast<uint32_t>(distance)});
  }
  return hits;
}

void ExpectSame(const std::vector<ScanHit>& expected, std::span<const ScanHit> found,
                const std::string& where) {
  ASSERT_EQ(found.size(), expected.size()) << where;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(found[i].position, expected[i].position) << where;
    ASSERT_EQ(found[i].distance, expected[i].distance) << where;
  }
}

TEST(RowScan, EveryTargetFindsWhatBruteForceFinds) {
  ForEachTarget([](const std::string& target) {
    Random random(11);
    for (const size_t bytes : {1, 3, 4, 5, 8, 9, 12, 15, 16, 24, 32, 33, 64, 65, 512}) {
      for (const size_t count : {0, 1, 7, 8, 9, 16, 43}) {
        std::vector<uint8_t> query(bytes);
        for (uint8_t& byte : query) byte = static_cast<uint8_t>(random.Next());
        const std::vector<uint8_t> rows = DrawRows(random, count, bytes, query);
        std::vector<uint32_t> all, some;
        for (uint32_t i = 0; i < count; ++i) {
          all.push_back(i);
          some.push_back(static_cast<uint32_t>(random.Below(count)));
        }
        const auto bits = static_cast<int32_t>(bytes * 8);
        for (const int32_t threshold : {-1, 0, 1, bits / 8, bits / 2, bits - 1, bits}) {
          const std::string where = target + ", " + std::to_string(bytes) + " bytes, " +
                                    std::to_string(count) + " codes, threshold " +
                                    std::to_string(threshold);
          std::vector<ScanHit> hits(count);
          const RowScan scan = {.query = query.data(),
                                .rows = rows.data(),
                                .bytes_per_code = bytes,
                                .threshold = threshold,
                                .hits = hits.data()};
          size_t found = ScanRows(scan, count);
          ASSERT_LE(found, count);
          ExpectSame(BruteForce(rows, query, all, threshold), std::span(hits).first(found), where);
          found = ScanListedRows(scan, some.data(), count);
          ASSERT_LE(found, count);
          ExpectSame(BruteForce(rows, query, some, threshold), std::span(hits).first(found), where);
        }
      }
    }
  });
}

}  // namespace
}  // namespace bitpool
