#include "bitpool/library/duplicate_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "bitpool/base/error.h"
#include "bitpool/image/picture_sketch.h"
#include "bitpool/index/code_index.h"
#include "bitpool/library/picture_reading.h"

namespace bitpool {
namespace {

constexpr Index kQueriesAtOnce = 1024;
constexpr size_t kPairsAtOnce = 65'536;

void RequireRadius(int radius) {
  if (radius >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("radius: expected 0 or more, got {}", radius));
}

// An index of pictures' codes, with the places of the pictures as ids.
IndexSnapshot IndexOf(const BinaryCodes& codes, const std::vector<uint32_t>& places) {
  CodeIndex index({.bits = codes.bits(), .kind = IndexKind::kFlat});
  index.Add(codes, std::vector<int64_t>(places.begin(), places.end()));
  return index.Snapshot();
}

BinaryCodes Slice(const BinaryCodes& codes, Index begin, Index count) {
  const std::span<const uint8_t> rows =
      codes.rows().subspan(static_cast<size_t>(begin) * codes.bytes_per_code(),
                           static_cast<size_t>(count) * codes.bytes_per_code());
  return {codes.bits(), {rows.begin(), rows.end()}};
}

// Calls visit(query, near) for at most this many nearest of each query within the radius.
template <class Visit>
void ForEachNear(const IndexSnapshot& index, const BinaryCodes& queries, size_t most, int radius,
                 const RunContext& context, const Visit& visit) {
  const SearchResult found = index.Search(queries, static_cast<int64_t>(most), context);
  for (Index query = 0; query < queries.size(); ++query) {
    for (const Neighbour& near : found.of(query)) {
      if (near.id < 0 || near.distance > radius) break;
      visit(query, near);
    }
  }
}

}  // namespace

void ComparedPictures::Add(const CataloguedPicture& picture) {
  const auto place = static_cast<uint32_t>(ids_.size());
  ids_.push_back(picture.id);
  content_hashes_.push_back(picture.content_hash);
  if (!picture.code.empty()) {
    with_code_.push_back(place);
    codes_.Append(picture.code);
  }
  if (picture.perceptual_hash) {
    std::array<uint8_t, 8> bytes;
    for (size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<uint8_t>(*picture.perceptual_hash >> (8 * i));
    }
    with_hash_.push_back(place);
    hashes_.Append(bytes);
  }
}

uint64_t ComparedPictures::ContentHashOf(uint64_t id) const {
  return content_hashes_[static_cast<size_t>(std::ranges::lower_bound(ids_, id) - ids_.begin())];
}

std::optional<int> ComparedPictures::CodeDistance(uint32_t a, uint32_t b) const {
  const auto first = std::ranges::lower_bound(with_code_, a);
  const auto second = std::ranges::lower_bound(with_code_, b);
  const auto is = [&](auto at, uint32_t place) { return at != with_code_.end() && *at == place; };
  if (!is(first, a) || !is(second, b)) return std::nullopt;
  return HammingDistance(codes_.code(first - with_code_.begin()),
                         codes_.code(second - with_code_.begin()));
}

CandidatePairs CandidatePairs::Find(const ComparedPictures& pictures, const CandidateRadii& radii,
                                    const RunContext& context) {
  CandidatePairs pairs(pictures, false);
  pairs.AddNearest(pictures.codes(), pictures.with_code(), radii.codes, context);
  pairs.AddNearest(pictures.hashes(), pictures.with_hash(), radii.hashes, context);
  return pairs;
}

CandidatePairs CandidatePairs::FindMirrored(const LibrarySnapshot& library,
                                            const ComparedPictures& pictures, int radius,
                                            const PictureEncoder& encode,
                                            const RunContext& context) {
  RequireRadius(radius);
  CandidatePairs pairs(pictures, true);
  const IndexSnapshot index = IndexOf(pictures.codes(), pictures.with_code());
  Progress progress = context.StartProgress("mirroring", "pictures", pictures.size());
  for (size_t begin = 0; begin < pictures.size(); begin += kQueriesAtOnce) {
    std::vector<PictureFile> files;
    for (size_t place = begin; place < std::min(pictures.size(), begin + kQueriesAtOnce); ++place) {
      const auto picture = library.catalogue().FindById(pictures.id(place));
      files.push_back({.id = pictures.id(place),
                       .path = picture ? library.root() / picture->path : std::filesystem::path()});
    }
    std::vector<std::vector<uint8_t>> codes(files.size());
    context.ParallelFor(files.size(), 1, [&](size_t i, size_t /*end*/) {
      const auto picture = ReadSmall(library, files[i]);
      if (picture) codes[i] = encode(Mirrored(*picture));
      progress.Advance();
    });
    pairs.AddNearestMirrored(index, begin, codes, radius, context);
  }
  return pairs;
}

// `codes` are those of mirrored pictures, from the place `begin` on; empty where there is none.
void CandidatePairs::AddNearestMirrored(const IndexSnapshot& index, size_t begin,
                                        const std::vector<std::vector<uint8_t>>& codes, int radius,
                                        const RunContext& context) {
  BinaryCodes queries(pictures_.bits());
  std::vector<uint32_t> asking;
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i].empty()) continue;
    queries.Append(codes[i]);
    asking.push_back(static_cast<uint32_t>(begin + i));
  }
  ForEachNear(index, queries, kMostCandidates, radius, context,
              [&](Index query, const Neighbour& near) {
                Note(asking[static_cast<size_t>(query)],
                     {.place = static_cast<uint32_t>(near.id), .distance = near.distance});
              });
}

void CandidatePairs::AddNearest(const BinaryCodes& codes, const std::vector<uint32_t>& places,
                                int radius, const RunContext& context) {
  RequireRadius(radius);
  const IndexSnapshot index = IndexOf(codes, places);
  Progress progress = context.StartProgress("searching", "pictures", places.size());
  for (Index begin = 0; begin < codes.size(); begin += kQueriesAtOnce) {
    const Index count = std::min(kQueriesAtOnce, codes.size() - begin);
    // One more, since each finds itself.
    ForEachNear(index, Slice(codes, begin, count), kMostCandidates + 1, radius, context,
                [&](Index query, const Neighbour& near) {
                  const uint32_t place = places[static_cast<size_t>(begin + query)];
                  const auto other = static_cast<uint32_t>(near.id);
                  const auto distance = pictures_.CodeDistance(place, other);
                  Note(place, {.place = other, .distance = distance.value_or(near.distance)});
                });
    progress.Advance(static_cast<uint64_t>(count));
  }
}

void CandidatePairs::Note(uint32_t place, const Near& near) {
  if (near.place != place && !Has(place, near.place)) nearest_[place].push_back(near);
}

bool CandidatePairs::Has(uint32_t place, uint32_t other) const {
  return std::ranges::find(nearest_[place], other, &Near::place) != nearest_[place].end();
}

// When two pictures are each among the nearest of the other, only the first reports the pair.
template <class Visit>
void CandidatePairs::ForEach(const Visit& visit) const {
  for (uint32_t place = 0; place < nearest_.size(); ++place) {
    for (const Near& near : nearest_[place]) {
      if (place < near.place || !Has(near.place, place)) visit(place, near);
    }
  }
}

uint64_t CandidatePairs::Count() const {
  uint64_t count = 0;
  ForEach([&](uint32_t /*place*/, const Near& /*near*/) { ++count; });
  return count;
}

void CandidatePairs::ForEachBlock(
    const std::function<void(const std::vector<PicturePair>&)>& visit) const {
  std::vector<PicturePair> block;
  ForEach([&](uint32_t place, const Near& near) {
    const auto [low, high] = std::minmax(place, near.place);
    block.push_back({.first = pictures_.id(low),
                     .second = pictures_.id(high),
                     .distance = near.distance,
                     .mirrored = mirrored_});
    if (block.size() < kPairsAtOnce) return;
    visit(block);
    block.clear();
  });
  if (!block.empty()) visit(block);
}

}  // namespace bitpool
