#include "bitpool/library/duplicate_pairs.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_set>

#include "bitpool/image/picture_match.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_reading.h"

namespace bitpool {
namespace {

constexpr size_t kMostSketches = 1024;  // in memory, 0.2 MB each

// A picture that is compared: what is known of it, and what it looks like.
struct LookedAt {
  PictureFile file;
  Index width = 0, height = 0;
  std::optional<PictureSketch> sketch = {};    // nothing when it cannot be read
  std::optional<PictureSketch> mirrored = {};  // where it is asked for
};
using LookedAtById = std::unordered_map<uint64_t, LookedAt>;

// Orders pairs so that those with common pictures are near each other.
class Clusters {
 public:
  explicit Clusters(const std::vector<PicturePair>& pairs) {
    for (const PicturePair& pair : pairs) {
      const uint64_t a = Find(pair.first), b = Find(pair.second);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }
  uint64_t Find(uint64_t id) {
    uint64_t& parent = parent_.try_emplace(id, id).first->second;
    if (parent == id) return id;
    while (parent_[parent] != parent) parent = parent_[parent];
    return parent;
  }

 private:
  std::unordered_map<uint64_t, uint64_t> parent_;
};

std::vector<size_t> InClusters(const std::vector<PicturePair>& pairs) {
  Clusters clusters(pairs);
  std::vector<std::pair<uint64_t, size_t>> keyed;
  for (size_t i = 0; i < pairs.size(); ++i) keyed.emplace_back(clusters.Find(pairs[i].first), i);
  std::ranges::sort(keyed);
  std::vector<size_t> order;
  for (const auto& [cluster, pair] : keyed) order.push_back(pair);
  return order;
}

// The same picture to the eye: it is worth comparing all pixels.
bool LookTheSame(const PictureSketch& a, const PictureSketch& b) {
  const std::vector<float>&x = a.levels[0].values, &y = b.levels[0].values;
  if (x.size() != y.size()) return false;
  double apart = 0;
  for (size_t i = 0; i < x.size(); ++i) apart += std::abs(x[i] - y[i]);
  return apart < 2.0 * static_cast<double>(x.size());  // grey levels
}

PairEvidence Judge(const LibrarySnapshot& library, const PicturePair& pair, const LookedAt& first,
                   const LookedAt& second) {
  PairEvidence evidence = {.mirrored = pair.mirrored, .distance = pair.distance};
  const std::optional<PictureSketch>& seen = pair.mirrored ? second.mirrored : second.sketch;
  if (!first.sketch || !seen) return evidence;
  const PictureMatch match = MatchPictures(*first.sketch, *seen);
  evidence.agreement = match.agreement;
  evidence.first_covered = match.first_covered;
  evidence.second_covered = match.second_covered;
  if (match.relation == PictureRelation::kDifferent) return evidence;
  evidence.first_is_part = match.relation == PictureRelation::kFirstIsPart;
  if (match.relation != PictureRelation::kEdited) {
    evidence.kind = DuplicateKind::kPart;
    return evidence;
  }
  evidence.kind = DuplicateKind::kEdited;
  if (!pair.mirrored && first.width == second.width && first.height == second.height &&
      LookTheSame(*first.sketch, *second.sketch) &&
      HaveSamePixels(library, first.file, second.file)) {
    evidence.kind = DuplicateKind::kExact;
    evidence.agreement = 1;
  }
  return evidence;
}

// Looks at pairs block after block, so that not all pictures are in memory at once.
class Judging {
 public:
  Judging(const LibrarySnapshot& library, const std::vector<PicturePair>& pairs,
          const RunContext& context)
      : library_(library), pairs_(pairs), context_(context), evidence_(pairs.size()) {}

  std::vector<PairEvidence> Run() {
    const std::vector<size_t> order = InClusters(pairs_);
    Progress progress = context_.StartProgress("comparing", "pairs", pairs_.size());
    for (size_t begin = 0; begin < order.size();) {
      const size_t end = BlockEnd(order, begin);
      Look();
      context_.ParallelFor(end - begin, 1, [&](size_t i, size_t /*end*/) {
        const size_t place = order[begin + i];
        const PicturePair& pair = pairs_[place];
        evidence_[place] =
            Judge(library_, pair, pictures_.at(pair.first), pictures_.at(pair.second));
        progress.Advance();
      });
      begin = end;
    }
    return std::move(evidence_);
  }

 private:
  // Takes pairs until their pictures are as many as may be in memory. Afterwards pictures_ has
  // these pictures, with the sketches that were there before.
  size_t BlockEnd(const std::vector<size_t>& order, size_t begin) {
    LookedAtById block;
    size_t end = begin;
    for (; end < order.size() && block.size() < kMostSketches; ++end) {
      const PicturePair& pair = pairs_[order[end]];
      for (const uint64_t id : {pair.first, pair.second}) {
        const auto before = pictures_.find(id);
        if (block.contains(id)) continue;
        block.emplace(id, before == pictures_.end() ? Known(id) : std::move(before->second));
      }
      if (pair.mirrored) wants_mirrored_.insert(pair.second);
    }
    pictures_ = std::move(block);
    return end;
  }

  LookedAt Known(uint64_t id) const {
    const std::optional<CataloguedPicture> picture = library_.catalogue().FindById(id);
    if (!picture) return {.file = {.id = id, .path = {}}};
    return {.file = {.id = id, .path = library_.root() / picture->path},
            .width = picture->width,
            .height = picture->height};
  }

  void Look() {
    std::vector<LookedAt*> todo;
    for (auto& [id, picture] : pictures_) {
      const bool mirror = wants_mirrored_.contains(id) && !picture.mirrored;
      if (!picture.sketch || mirror) todo.push_back(&picture);
    }
    context_.ParallelFor(todo.size(), 1, [&](size_t i, size_t /*end*/) {
      const std::optional<Picture> small = ReadSmall(library_, todo[i]->file);
      if (!small) return;
      todo[i]->sketch = SketchPicture(*small);
      if (wants_mirrored_.contains(todo[i]->file.id)) {
        todo[i]->mirrored = SketchPicture(Mirrored(*small));
      }
    });
  }

  const LibrarySnapshot& library_;
  const std::vector<PicturePair>& pairs_;
  const RunContext& context_;
  std::vector<PairEvidence> evidence_;
  LookedAtById pictures_;
  std::unordered_set<uint64_t> wants_mirrored_;
};

}  // namespace

const char* NameOf(DuplicateKind kind) {
  switch (kind) {
    case DuplicateKind::kExact:
      return "exact";
    case DuplicateKind::kEdited:
      return "edited";
    case DuplicateKind::kPart:
      return "part";
    case DuplicateKind::kSimilar:
      return "similar";
  }
  return "?";
}

const char* WordsOf(DuplicateKind kind) {
  switch (kind) {
    case DuplicateKind::kExact:
      return "exact copies";
    case DuplicateKind::kEdited:
      return "the same picture, edited";
    case DuplicateKind::kPart:
      return "parts of a picture";
    case DuplicateKind::kSimilar:
      return "only similar";
  }
  return "?";
}

std::string WordsOf(const PairEvidence& evidence) {
  const std::string mirrored = evidence.mirrored ? ", mirrored" : "";
  switch (evidence.kind) {
    case DuplicateKind::kExact:
      return evidence.same_file ? "the same file" : "the same pixels";
    case DuplicateKind::kEdited:
      return "edited" + mirrored;
    case DuplicateKind::kPart:
      return (evidence.first_is_part ? "more of it" : "part of it") + mirrored;
    case DuplicateKind::kSimilar:
      return "only similar";
  }
  return "?";
}

std::vector<PairEvidence> JudgePairs(const LibrarySnapshot& library,
                                     const std::vector<PicturePair>& pairs,
                                     const RunContext& context) {
  return Judging(library, pairs, context).Run();
}

}  // namespace bitpool
