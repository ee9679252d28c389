#include "bitpool/index/segment_choice.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/index/segment_scan.h"

namespace bitpool {
namespace {

constexpr size_t kMinTableCodes = 4096;  // below, a scan takes a microsecond
constexpr size_t kMinAutoCodes = 20000;  // below, the tables are not worth building
constexpr size_t kSampleQueries = 32;    // a full task of a batch, the scan at its best
constexpr int64_t kSampleNeighbours = 10;
constexpr int kRounds = 3;

// The best time in which the segment answers the queries.
double MeasureSeconds(const CodeSegment& segment, const ScanQueries& queries) {
  const Tombstones none(segment.size());
  ScanScratch scratch;
  scratch.tops.resize(queries.size());
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < kRounds; ++round) {
    const Stopwatch watch;
    for (TopK& top : scratch.tops) top.Reset(kSampleNeighbours, segment.bits(), true);
    ScanForBest({.segment = &segment, .tombstones = &none, .version = 0}, 0, PieceCount(segment),
                queries, 0, scratch.tops, scratch);
    best = std::min(best, watch.seconds());
  }
  return best;
}

// Codes of the segment itself, evenly taken: queries are like them.
ScanQueries SampleQueries(std::span<const uint8_t> rows, size_t bytes) {
  const size_t count = rows.size() / bytes;
  std::vector<uint8_t> sample;
  for (size_t i = 0; i < kSampleQueries; ++i) {
    const auto row = rows.subspan(i * count / kSampleQueries * bytes, bytes);
    sample.insert(sample.end(), row.begin(), row.end());
  }
  return {sample, bytes};
}

}  // namespace

std::shared_ptr<const CodeSegment> ChooseSegment(IndexKind kind, int bits,
                                                 std::span<const uint8_t> rows,
                                                 std::vector<int64_t> ids,
                                                 const RunContext& context) {
  const size_t least = kind == IndexKind::kMultiIndex ? kMinTableCodes : kMinAutoCodes;
  if (kind == IndexKind::kFlat || ids.size() < least) {
    return CodeSegment::Build(SegmentLayout::kBlocks, bits, rows, std::move(ids), context);
  }
  auto tables = CodeSegment::Build(SegmentLayout::kTables, bits, rows, ids, context);
  if (kind == IndexKind::kMultiIndex) return tables;
  auto blocks = CodeSegment::Build(SegmentLayout::kBlocks, bits, rows, std::move(ids), context);
  const ScanQueries queries = SampleQueries(rows, BytesPerCode(bits));
  return MeasureSeconds(*tables, queries) < MeasureSeconds(*blocks, queries) ? tables : blocks;
}

}  // namespace bitpool
