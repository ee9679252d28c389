#include "bitpool/library/duplicate_pairs.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "bitpool/catalog/verdict_cache.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/perceptual_hash.h"
#include "bitpool/image/picture_match.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_reading.h"

namespace bitpool {
namespace {

constexpr size_t kMostSketches = 1024;  // in memory, 0.2 MB each
// Increased with every change in what a comparison says, or in how verdicts are kept: those of
// another version are not used.
constexpr int64_t kComparisonVersion = 2;
// Verdicts that are kept for each pair that is looked at, before those of lost pictures are
// removed.
constexpr uint64_t kMostKept = 2;

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
  void Join(const PicturePair& pair) {
    const uint64_t a = Find(pair.first), b = Find(pair.second);
    parent_[std::max(a, b)] = std::min(a, b);
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

std::vector<size_t> InClusters(const std::vector<PicturePair>& pairs,
                               const std::vector<size_t>& places) {
  Clusters clusters;
  for (const size_t i : places) clusters.Join(pairs[i]);
  std::vector<std::pair<uint64_t, size_t>> keyed;
  for (const size_t i : places) keyed.emplace_back(clusters.Find(pairs[i].first), i);
  std::ranges::sort(keyed);
  std::vector<size_t> order;
  for (const auto& [cluster, pair] : keyed) order.push_back(pair);
  return order;
}

// The same picture to the eye, so that it is worth comparing all pixels.
bool LookTheSame(const PictureSketch& a, const PictureSketch& b) {
  const std::vector<float>&x = a.levels[0].values, &y = b.levels[0].values;
  if (x.size() != y.size()) return false;
  double apart = 0;
  for (size_t i = 0; i < x.size(); ++i) apart += std::abs(x[i] - y[i]);
  return apart < 2.0 * static_cast<double>(x.size());  // grey levels
}

// What was found, and whether looking again could find something else.
struct Finding {
  PairEvidence evidence;
  bool final = false;
};

Finding Compare(const LibrarySnapshot& library, const PicturePair& pair, const LookedAt& first,
                const LookedAt& second) {
  Finding found;
  PairEvidence& evidence = found.evidence;
  const std::optional<PictureSketch>& seen = pair.mirrored ? second.mirrored : second.sketch;
  if (!first.sketch || !seen) return found;
  found.final = true;
  const PictureMatch match = MatchPictures(*first.sketch, *seen);
  evidence.agreement = match.agreement;
  evidence.first_covered = match.first_covered;
  evidence.second_covered = match.second_covered;
  if (match.relation == PictureRelation::kDifferent) return found;
  evidence.first_is_part = match.relation == PictureRelation::kFirstIsPart;
  if (match.relation != PictureRelation::kEdited) {
    evidence.kind = DuplicateKind::kPart;
    return found;
  }
  evidence.kind = DuplicateKind::kEdited;
  if (!pair.mirrored && first.width == second.width && first.height == second.height &&
      LookTheSame(*first.sketch, *second.sketch)) {
    const std::optional<bool> same = HaveSamePixels(library, first.file, second.file);
    found.final = same.has_value();
    if (same.value_or(false)) {
      evidence.kind = DuplicateKind::kExact;
      evidence.agreement = 1;
    }
  }
  return found;
}

PairVerdict VerdictOf(const ComparedPair& pair, const PairEvidence& evidence) {
  return {.pair = pair,
          .kind = static_cast<int>(evidence.kind),
          .first_is_part = evidence.first_is_part,
          .agreement = evidence.agreement,
          .first_covered = evidence.first_covered,
          .second_covered = evidence.second_covered};
}

// Nothing for a kind that is not known.
std::optional<PairEvidence> EvidenceOf(const PairVerdict& verdict) {
  if (verdict.kind < static_cast<int>(DuplicateKind::kExact) ||
      verdict.kind > static_cast<int>(DuplicateKind::kSimilar)) {
    return std::nullopt;
  }
  return PairEvidence{.kind = static_cast<DuplicateKind>(verdict.kind),
                      .first_is_part = verdict.first_is_part,
                      .agreement = verdict.agreement,
                      .first_covered = verdict.first_covered,
                      .second_covered = verdict.second_covered};
}

}  // namespace

// Looks at pairs block after block, so that not all pictures are in memory at once.
class PairJudge::State {
 public:
  State(const LibrarySnapshot& library, const ComparedPictures& pictures, const RunContext& context)
      : library_(library),
        all_(pictures),
        context_(context),
        known_(library.folder().verdicts(), kComparisonVersion) {}

  std::vector<PairEvidence> Run(const std::vector<PicturePair>& pairs, Progress& progress) {
    std::vector<PairEvidence> evidence(pairs.size());
    std::vector<size_t> unknown;
    for (size_t i = 0; i < pairs.size(); ++i) {
      const std::optional<PairVerdict> verdict = known_.Find(KeyOf(pairs[i]));
      const std::optional<PairEvidence> known = verdict ? EvidenceOf(*verdict) : std::nullopt;
      if (known) evidence[i] = *known;
      if (!known) unknown.push_back(i);
    }
    progress.Advance(pairs.size() - unknown.size());
    Look(pairs, InClusters(pairs, unknown), evidence, progress);
    for (size_t i = 0; i < pairs.size(); ++i) {
      evidence[i].mirrored = pairs[i].mirrored;
      evidence[i].distance = pairs[i].distance;
    }
    looked_at_ += pairs.size();
    return evidence;
  }

  void ForgetOthers() {
    if (known_.Count() > kMostKept * looked_at_) known_.RemoveAllBut(all_.content_hashes());
  }

 private:
  ComparedPair KeyOf(const PicturePair& pair) const {
    return {.first = all_.ContentHashOf(pair.first),
            .second = all_.ContentHashOf(pair.second),
            .mirrored = pair.mirrored};
  }

  // Compares these of the pairs.
  void Look(const std::vector<PicturePair>& pairs, const std::vector<size_t>& order,
            std::vector<PairEvidence>& evidence, Progress& progress) {
    for (size_t begin = 0; begin < order.size();) {
      const size_t end = BlockEnd(pairs, order, begin);
      Sketch();
      std::vector<Finding> found(end - begin);
      context_.ParallelFor(found.size(), 1, [&](size_t i, size_t /*end*/) {
        const PicturePair& pair = pairs[order[begin + i]];
        found[i] = Compare(library_, pair, pictures_.at(pair.first), pictures_.at(pair.second));
        progress.Advance();
      });
      std::vector<PairVerdict> verdicts;
      for (size_t i = 0; i < found.size(); ++i) {
        const size_t place = order[begin + i];
        evidence[place] = found[i].evidence;
        if (found[i].final) verdicts.push_back(VerdictOf(KeyOf(pairs[place]), found[i].evidence));
      }
      known_.Put(verdicts);
      begin = end;
    }
  }

  // Takes pairs until their pictures are as many as may be in memory. Afterwards pictures_ has
  // these pictures, with the sketches that were there before.
  size_t BlockEnd(const std::vector<PicturePair>& pairs, const std::vector<size_t>& order,
                  size_t begin) {
    LookedAtById block;
    size_t end = begin;
    for (; end < order.size() && block.size() < kMostSketches; ++end) {
      const PicturePair& pair = pairs[order[end]];
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

  void Sketch() {
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
  const ComparedPictures& all_;
  const RunContext& context_;
  LookedAtById pictures_;
  std::unordered_set<uint64_t> wants_mirrored_;
  VerdictCache known_;
  uint64_t looked_at_ = 0;  // pairs so far
};

PairJudge::PairJudge(const LibrarySnapshot& library, const ComparedPictures& pictures,
                     const RunContext& context)
    : state_(std::make_unique<State>(library, pictures, context)) {}
PairJudge::~PairJudge() = default;

std::vector<PairEvidence> PairJudge::Judge(const std::vector<PicturePair>& pairs,
                                           Progress& progress) {
  return state_->Run(pairs, progress);
}

void PairJudge::ForgetOthers() { state_->ForgetOthers(); }

int DistanceOf(const CataloguedPicture& first, const CataloguedPicture& second) {
  if (!first.code.empty() && first.code.size() == second.code.size()) {
    return HammingDistance(first.code, second.code);
  }
  if (!first.perceptual_hash || !second.perceptual_hash) return 0;
  return HashDistance(*first.perceptual_hash, *second.perceptual_hash);
}

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

}  // namespace bitpool
