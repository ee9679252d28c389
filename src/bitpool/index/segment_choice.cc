#include "bitpool/index/segment_choice.h"

#include <utility>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/index/search_cost.h"
#include "bitpool/index/segment_scan.h"

namespace bitpool {
namespace {

constexpr size_t kMinTableCodes = 4096;  // below, a scan takes a microsecond
constexpr size_t kMinAutoCodes = 20000;  // below, the tables are not worth building
constexpr size_t kSampleQueries = 32;
constexpr int64_t kSampleNeighbours = 10;
// Tables must cost less than half: they take about three times the memory, and near the break-even
// point, timing says one thing on one machine and another on the next.
constexpr SearchCost kTableAdvantage = 2;

// What the tables cost, in all, to answer the queries.
SearchCost CountTableCost(const CodeSegment& segment, const ScanQueries& queries) {
  const Tombstones none(segment.size());
  const VisibleSegment visible = {.segment = &segment, .tombstones = &none, .version = 0};
  ScanScratch scratch;
  TopK top;
  SearchCost cost = 0;
  for (size_t query = 0; query < queries.size(); ++query) {
    top.Reset(kSampleNeighbours, segment.bits(), true);
    ScanForBest(visible, 0, PieceCount(segment), queries, query, {&top, 1}, scratch);
    cost += scratch.tables.cost();
  }
  return cost;
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
  const size_t bytes = BytesPerCode(bits);
  const ScanQueries queries = SampleQueries(rows, bytes);
  const SearchCost scanning = BlockScanCost(ids.size(), bytes) * SearchCost{kSampleQueries};
  if (kTableAdvantage * CountTableCost(*tables, queries) < scanning) return tables;
  return CodeSegment::Build(SegmentLayout::kBlocks, bits, rows, std::move(ids), context);
}

}  // namespace bitpool
