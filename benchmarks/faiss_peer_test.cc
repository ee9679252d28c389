#include "faiss_peer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bitpool/base/random.h"
#include "bitpool/index/code_index.h"

namespace bitpool::bench {
namespace {

// Ours against an implementation that shares nothing with it. Faiss leaves ties in any order, so
// distances are compared.
TEST(FaissPeer, FindsTheSameDistances) {
  const RunContext context({.threads = 1});
  for (const int bits : {16, 32, 64, 128, 256, 512}) {
    Random random(static_cast<uint64_t>(bits));
    std::vector<uint8_t> rows(6000 * static_cast<size_t>(bits) / 8);
    for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
    const auto peer = MakeFaissFlat(bits, rows, 1);
    if (peer == nullptr)
      GTEST_SKIP() << "Faiss was not there when this was built (Debian package libfaiss-dev)";
    const BinaryCodes codes(bits, rows);
    const BinaryCodes queries(bits, {rows.begin(), rows.begin() + 20 * bits / 8});
    const std::vector<int32_t> expected = peer->Search(queries.rows(), 15);
    for (const IndexKind kind : {IndexKind::kFlat, IndexKind::kMultiIndex}) {
      const SearchResult result = MakeIndex(codes, kind, context)->Search(queries, 15, context);
      ASSERT_EQ(result.neighbours.size(), expected.size());
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_EQ(result.neighbours[i].distance, expected[i]) << bits;
    }
  }
}

// Faiss's tables have 8 bits, so the order of near scores is its own: most of the best are the
// same.
TEST(FaissPeer, FastScanRanksTheSameCodes) {
  const RunContext context({.threads = 1});
  Random random(9);
  std::vector<uint8_t> rows(20000 * 8);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
  const auto peer = MakeFaissFastScan(64, rows, 1);
  if (peer == nullptr)
    GTEST_SKIP() << "Faiss was not there when this was built (Debian package libfaiss-dev)";
  const MatrixF queries = random.NormalMatrix(64, 20);
  const std::vector<int64_t> found =
      peer->Search({queries.data(), static_cast<size_t>(queries.size())}, 10);
  const RealSearchResult ours = MakeIndex(BinaryCodes(64, rows), IndexKind::kFlat, context)
                                    ->SearchReal(queries, 10, {}, context);
  int same = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const auto best = ours.of(static_cast<Index>(i / 10));
    same += static_cast<int>(std::ranges::count(best, found[i], &ScoredNeighbour::id));
  }
  EXPECT_GE(same, 160);  // of 200
}

}  // namespace
}  // namespace bitpool::bench
