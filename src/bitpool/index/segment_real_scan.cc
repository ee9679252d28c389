#include "bitpool/index/segment_real_scan.h"

#include <algorithm>
#include <array>

#include "bitpool/codes/binary_codes.h"

namespace bitpool {

size_t RealPieceCount(const CodeSegment& segment) {
  if (segment.tables() == nullptr) return segment.block_count();
  return (segment.tables()->index().size() + kBlockCodes - 1) / kBlockCodes;
}

void RealSearchTask::Start(const RealQueries& queries, size_t first, size_t count, int64_t k) {
  queries_ = &queries;
  first_query_ = first;
  count_ = count;
  if (tops_.size() < count) {
    tops_.resize(count);
    bounds_.resize(count);
  }
  for (size_t i = 0; i < count; ++i) {
    tops_[i].Reset(k);
    bounds_[i].Reset();
  }
}

void RealSearchTask::Scan(const VisibleSegment& visible, size_t begin, size_t end, bool ascending) {
  const SegmentTables* tables = visible.segment->tables();
  // Slots that repeat the code of a row come later than the rows after it.
  const bool in_order = ascending && (tables == nullptr || tables->parts().repeated.empty());
  // Until there are k results all codes are scored, so tiles are small at first.
  const size_t largest = TileBlocks(queries_->bytes_per_code(), count_);
  size_t tile = 1;
  for (size_t first = begin; first < end; first += tile, tile = std::min(largest, 2 * tile))
    ScanTile(visible, first, std::min(tile, end - first), in_order);
}

// Tables have their codes in rows: they are packed for the scan.
const uint8_t* RealSearchTask::Blocks(const VisibleSegment& visible, size_t first, size_t count) {
  const SegmentTables* tables = visible.segment->tables();
  if (tables == nullptr) return visible.segment->block(first);
  const size_t bytes = queries_->bytes_per_code();
  const std::span<const uint8_t> rows = tables->parts().rows;
  if (packed_.size() < count * BlockBytes(bytes)) packed_ = AlignedBytes(count * BlockBytes(bytes));
  for (size_t b = 0; b < count; ++b) {
    const auto rest = rows.subspan((first + b) * BlockBytes(bytes));
    PackBlock(rest.first(std::min(rest.size(), BlockBytes(bytes))), bytes,
              packed_.data() + b * BlockBytes(bytes));
  }
  return packed_.data();
}

void RealSearchTask::Bound(size_t i, bool ascending) {
  const size_t query = first_query_ + i;
  if (!tops_[i].full()) return;
  // A code of a later id must be better than the k-th, and nothing is better than the best.
  if (ascending && tops_[i].threshold() >= queries_->best_score(query)) {
    bounds_[i].RuleOutAll();
  } else {
    bounds_[i].RuleOutBelow(tops_[i].threshold(), *queries_, query);
  }
}

void RealSearchTask::ScanTile(const VisibleSegment& visible, size_t first, size_t count,
                              bool ascending) {
  const uint8_t* blocks = Blocks(visible, first, count);
  const size_t room = count * kBlockCodes;
  hits_.resize(std::max(hits_.size(), room * std::min(kRealScanGroup, count_)));
  std::array<RealScanRequest, kRealScanGroup> requests;
  for (size_t q = 0; q < count_; q += kRealScanGroup) {
    const size_t group = std::min(kRealScanGroup, count_ - q);
    for (size_t i = 0; i < group; ++i) {
      Bound(q + i, ascending);
      requests[i] = {.bound = &bounds_[q + i], .hits = hits_.data() + i * room, .hit_count = 0};
    }
    ScanRealBlocks(blocks, count, std::span(requests).first(group));
    for (size_t i = 0; i < group; ++i) {
      if (requests[i].hit_count > 0)
        ShowHits(visible, q + i, blocks, first, {requests[i].hits, requests[i].hit_count});
    }
  }
}

void RealSearchTask::ShowHits(const VisibleSegment& visible, size_t i, const uint8_t* blocks,
                              size_t first, std::span<const uint32_t> hits) {
  const bool in_tables = visible.segment->tables() != nullptr;
  const size_t places =
      in_tables ? visible.segment->tables()->index().size() : visible.segment->size();
  const size_t bytes = queries_->bytes_per_code();
  candidates_.codes.resize(hits.size() * bytes);
  candidates_.places.clear();
  for (const uint32_t hit : hits) {
    const size_t place = first * kBlockCodes + hit;
    if (place >= places) continue;
    if (!in_tables && !visible.Visible(place)) continue;
    UnpackCode(blocks + hit / kBlockCodes * BlockBytes(bytes), bytes, hit % kBlockCodes,
               candidates_.codes.data() + candidates_.places.size() * bytes);
    candidates_.places.push_back(static_cast<uint32_t>(place));
  }
  ShowCandidates(visible, i);
}

void RealSearchTask::ShowCandidates(const VisibleSegment& visible, size_t i) {
  const size_t query = first_query_ + i;
  const size_t bytes = queries_->bytes_per_code();
  const size_t count = candidates_.places.size();
  const std::span<const uint8_t> codes(candidates_.codes.data(), count * bytes);
  candidates_.scores.resize(std::max(candidates_.scores.size(), count));
  queries_->Score(query, codes, candidates_.scores.data());
  for (size_t c = 0; c < count; ++c) {
    if (candidates_.scores[c] < tops_[i].threshold()) continue;
    ScoredNeighbour found = {.id = -1,
                             .score = candidates_.scores[c],
                             .distance = HammingDistance({queries_->code(query), bytes},
                                                         codes.subspan(c * bytes, bytes))};
    if (visible.segment->tables() != nullptr) {
      ShowRow(visible, i, candidates_.places[c], found);
    } else {
      found.id = visible.segment->id(candidates_.places[c]);
      tops_[i].Add(found);
    }
  }
}

void RealSearchTask::ShowRow(const VisibleSegment& visible, size_t i, uint32_t row,
                             const ScoredNeighbour& found) {
  int64_t added = 0;  // more than k of one code are never needed: their ids ascend
  visible.segment->tables()->ForEachSlot(row, [&](uint32_t slot) {
    const int64_t id = visible.segment->id(slot);
    if (visible.Visible(slot)) {
      tops_[i].Add({.id = id, .score = found.score, .distance = found.distance});
      ++added;
    }
    return added < tops_[i].k();
  });
}

// Shown rows lie within the threshold of their moment; all within the last one were shown. Of the
// ids of one code at most k count, because no more are ever needed.
void RealSearchTask::FindNearRows(const VisibleSegment& visible, size_t query, int64_t k,
                                  int64_t candidates) {
  const SegmentTables& tables = *visible.segment->tables();
  const auto slots = static_cast<int64_t>(visible.segment->size());
  nearest_.Reset(candidates > slots / k ? slots : candidates * k, queries_->bits(), false);
  near_rows_.clear();
  tables.index().Search({queries_->code(query), queries_->bytes_per_code()}, nearest_, tables_,
                        [&](uint32_t row, int32_t distance) {
                          near_rows_.push_back({.row = row, .distance = distance});
                          int64_t added = 0;
                          tables.ForEachSlot(row, [&](uint32_t slot) {
                            const int64_t id = visible.segment->id(slot);
                            if (visible.Visible(slot)) {
                              nearest_.Add(id, distance);
                              ++added;
                            }
                            return added < k && distance <= nearest_.threshold();
                          });
                        });
  std::erase_if(near_rows_,
                [&](const NearRow& near) { return near.distance > nearest_.threshold(); });
}

void RealSearchTask::LookUp(const VisibleSegment& visible, int64_t candidates) {
  const std::span<const uint8_t> rows = visible.segment->tables()->parts().rows;
  const size_t bytes = queries_->bytes_per_code();
  for (size_t i = 0; i < count_; ++i) {
    FindNearRows(visible, first_query_ + i, tops_[i].k(), candidates);
    candidates_.codes.clear();
    candidates_.places.clear();
    for (const NearRow& near : near_rows_) {
      const auto code = rows.subspan(near.row * bytes, bytes);
      candidates_.codes.insert(candidates_.codes.end(), code.begin(), code.end());
      candidates_.places.push_back(near.row);
    }
    ShowCandidates(visible, i);
  }
}

}  // namespace bitpool
