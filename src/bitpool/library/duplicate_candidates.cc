#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/picture_sketch.h"
#include "bitpool/library/duplicate_pairs.h"
#include "bitpool/library/picture_reading.h"

namespace bitpool {
namespace {

constexpr size_t kQueriesAtOnce = 1024;

// The nearest others of each picture, kept small while pairs come in any order.
class NearestOthers {
 public:
  void Add(const PicturePair& pair) {
    AddTo(pair.first, pair);
    AddTo(pair.second, pair);
  }

  std::vector<PicturePair> Pairs() {
    std::vector<PicturePair> pairs;
    for (auto& [id, nearest] : nearest_) {
      Trim(nearest);
      pairs.insert(pairs.end(), nearest.begin(), nearest.end());
    }
    std::ranges::sort(pairs);
    const auto rest = std::ranges::unique(pairs);
    pairs.erase(rest.begin(), rest.end());
    return pairs;
  }

 private:
  void AddTo(uint64_t id, const PicturePair& pair) {
    std::vector<PicturePair>& nearest = nearest_[id];
    nearest.push_back(pair);
    if (nearest.size() >= 4 * kMostCandidates) Trim(nearest);
  }

  static void Trim(std::vector<PicturePair>& nearest) {
    std::ranges::sort(nearest, {}, [](const PicturePair& pair) {
      return std::tuple(pair.distance, pair.first, pair.second);
    });
    // The codes of copies of one file are all the same, so that a pair may come several times.
    const auto rest = std::ranges::unique(nearest);
    nearest.erase(rest.begin(), rest.end());
    if (nearest.size() > kMostCandidates) nearest.resize(kMostCandidates);
  }

  std::unordered_map<uint64_t, std::vector<PicturePair>> nearest_;
};

std::optional<PicturePair> PairOf(const ContentIds& contents, uint64_t a, uint64_t b, int distance,
                                  bool mirrored) {
  const auto first = contents.find(a), second = contents.find(b);
  if (first == contents.end() || second == contents.end()) return std::nullopt;
  if (first->second == second->second) return std::nullopt;
  const auto [low, high] = std::minmax(first->second, second->second);
  return PicturePair{.first = low, .second = high, .distance = distance, .mirrored = mirrored};
}

void RequireRadius(int radius) {
  if (radius >= 0) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("radius: expected 0 or more, got {}", radius));
}

}  // namespace

std::vector<PicturePair> FindCandidates(const LibrarySnapshot& library, const ContentIds& contents,
                                        int radius, const RunContext& context) {
  RequireRadius(radius);
  NearestOthers nearest;
  library.index().FindPairs(radius, context, [&](std::span<const IdPair> found) {
    for (const IdPair& one : found) {
      const auto pair = PairOf(contents, static_cast<uint64_t>(one.first),
                               static_cast<uint64_t>(one.second), one.distance, false);
      if (pair) nearest.Add(*pair);
    }
  });
  return nearest.Pairs();
}

std::vector<PicturePair> FindMirroredCandidates(const LibrarySnapshot& library,
                                                const ContentIds& contents, int radius,
                                                const PictureEncoder& encode,
                                                const RunContext& context) {
  RequireRadius(radius);
  std::vector<PictureFile> files;
  for (const auto& [id, content] : contents) {
    if (id != content) continue;
    const auto picture = library.catalogue().FindById(id);
    if (picture) files.push_back({.id = id, .path = library.root() / picture->path});
  }
  std::ranges::sort(files, {}, &PictureFile::id);
  NearestOthers nearest;
  Progress progress = context.StartProgress("mirroring", "pictures", files.size());
  for (size_t begin = 0; begin < files.size(); begin += kQueriesAtOnce) {
    const size_t count = std::min(kQueriesAtOnce, files.size() - begin);
    std::vector<std::vector<uint8_t>> codes(count);
    context.ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
      const auto picture = ReadSmall(library, files[begin + i]);
      if (picture) codes[i] = encode(Mirrored(*picture));
      progress.Advance();
    });
    for (size_t i = 0; i < count; ++i) {
      if (codes[i].empty()) continue;
      const BinaryCodes query(library.index().bits(), codes[i]);
      const auto found = library.index().RangeSearch(query, radius, context);
      for (const Neighbour& near : found.front()) {
        const auto pair = PairOf(contents, files[begin + i].id, static_cast<uint64_t>(near.id),
                                 near.distance, true);
        if (pair) nearest.Add(*pair);
      }
    }
  }
  return nearest.Pairs();
}

}  // namespace bitpool
