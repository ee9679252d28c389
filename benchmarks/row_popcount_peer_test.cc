#include "row_popcount_peer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool::bench {
namespace {

// A peer that does not do the work would be no peer.
TEST(RowPopcountPeer, FindsTheDistanceOfTheKthBest) {
  if (!HaveRowPopcount(8)) GTEST_SKIP() << "this processor has no AVX-512 with VPOPCNTDQ";
  EXPECT_FALSE(HaveRowPopcount(4));
  Random random(3);
  for (const size_t bytes : {8, 16, 32, 64}) {
    ASSERT_TRUE(HaveRowPopcount(bytes));
    for (const size_t count : {1, 7, 8, 1003}) {
      std::vector<uint8_t> rows(count * bytes), query(bytes);
      for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
      for (uint8_t& byte : query) byte = static_cast<uint8_t>(random.Next());
      std::vector<int> distances;
      for (size_t i = 0; i < count; ++i)
        distances.push_back(HammingDistance(std::span(rows).subspan(i * bytes, bytes), query));
      std::sort(distances.begin(), distances.end());
      for (const size_t k : {1, 10, 100}) {
        EXPECT_EQ(RowPopcountScan(rows, bytes, query.data(), k), distances[std::min(k, count) - 1])
            << bytes << " bytes, " << count << " codes, k " << k;
      }
    }
  }
}

}  // namespace
}  // namespace bitpool::bench
