#include "bitpool/library/library_duplicates.h"

#include <fmt/format.h>

#include <deque>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "bitpool/base/error.h"
#include "bitpool/library/library_decisions.h"
#include "bitpool/library/picture_examination.h"

namespace bitpool {
namespace {

// The pictures by their bytes. Each content is known by the lowest id that has it.
struct Contents {
  ComparedPictures compared;  // one of each content
  std::map<ContentKey, uint64_t> by_key;
  // Where several pictures have the same content: the others, ascending.
  std::map<uint64_t, std::vector<uint64_t>> copies;
};

Contents ReadContents(const CatalogueSnapshot& catalogue, int bits) {
  Contents contents = {.compared = ComparedPictures(bits), .by_key = {}, .copies = {}};
  catalogue.ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (!CanBeSeen(picture)) return;
    const auto [place, is_new] = contents.by_key.try_emplace(ContentOf(picture), picture.id);
    if (is_new) {
      contents.compared.Add(picture);
    } else {
      contents.copies[place->second].push_back(picture.id);
    }
  });
  return contents;
}

// All pictures of some contents, by their ids; the content of each.
std::map<uint64_t, uint64_t> PicturesOf(const Contents& contents,
                                        const std::vector<uint64_t>& members) {
  std::map<uint64_t, uint64_t> pictures;
  for (const uint64_t content : members) {
    pictures[content] = content;
    const auto copies = contents.copies.find(content);
    if (copies == contents.copies.end()) continue;
    for (const uint64_t copy : copies->second) pictures[copy] = content;
  }
  return pictures;
}

// A pair of contents that belong together.
struct Edge {
  uint64_t first, second;
  PairEvidence evidence;

  // The most certain first.
  auto order() const {
    return std::tuple(evidence.kind, -evidence.agreement, evidence.distance, first, second,
                      evidence.mirrored);
  }
};

// Joins contents edge by edge, and keeps apart what the user wants apart.
class Joining {
 public:
  void KeepApart(uint64_t a, uint64_t b) {
    enemies_[a].insert(b);
    enemies_[b].insert(a);
  }

  // False when it would bring enemies together.
  bool Join(uint64_t a, uint64_t b) {
    uint64_t one = Find(a), other = Find(b);
    if (one == other) return true;
    if (AreEnemies(one, other)) return false;
    if (members_[one].size() < members_[other].size()) std::swap(one, other);
    parent_[other] = one;
    std::vector<uint64_t>& all = members_[one];
    all.insert(all.end(), members_[other].begin(), members_[other].end());
    members_.erase(other);
    enemies_[one].merge(enemies_[other]);
    return true;
  }

  uint64_t Find(uint64_t id) {
    const auto [place, is_new] = parent_.try_emplace(id, id);
    if (is_new) members_[id] = {id};
    uint64_t root = place->second;
    while (parent_.at(root) != root) root = parent_.at(root);
    place->second = root;
    return root;
  }

  const std::map<uint64_t, std::vector<uint64_t>>& groups() const { return members_; }

 private:
  bool AreEnemies(uint64_t one, uint64_t other) {
    const auto enemies = enemies_.find(one);
    return enemies != enemies_.end() &&
           std::ranges::any_of(enemies->second, [&](uint64_t id) { return Find(id) == other; });
  }

  std::unordered_map<uint64_t, uint64_t> parent_;
  std::map<uint64_t, std::vector<uint64_t>> members_;
  std::unordered_map<uint64_t, std::set<uint64_t>> enemies_;  // of a group's members, by its root
};

// Looks at candidates, and keeps what the search counts as a reason to join two pictures.
class EdgeFinding {
 public:
  EdgeFinding(const LibrarySnapshot& library, const ComparedPictures& pictures,
              const DuplicateSearch& search, const RunContext& context)
      : search_(search),
        context_(context),
        similar_radius_(search.radius.value_or(DefaultSimilarRadius(library.index().bits()))),
        judge_(library, pictures, context) {}

  void Look(const CandidatePairs& candidates) {
    Progress progress = context_.StartProgress("comparing", "pairs", candidates.Count());
    candidates.ForEachBlock([&](const std::vector<PicturePair>& pairs) {
      const std::vector<PairEvidence> evidence = judge_.Judge(pairs, progress);
      for (size_t i = 0; i < pairs.size(); ++i) {
        if (Counts(pairs[i], evidence[i])) {
          edges_.push_back({pairs[i].first, pairs[i].second, evidence[i]});
        }
      }
    });
  }

  // The edges, the most certain first.
  std::vector<Edge> Take() {
    judge_.ForgetOthers();
    std::ranges::sort(edges_, {}, &Edge::order);
    return std::move(edges_);
  }

 private:
  bool Counts(const PicturePair& pair, const PairEvidence& evidence) const {
    if (evidence.kind != DuplicateKind::kSimilar) return true;
    return search_.similar && !pair.mirrored && pair.distance <= similar_radius_;
  }

  const DuplicateSearch& search_;
  const RunContext& context_;
  int similar_radius_;
  PairJudge judge_;
  std::vector<Edge> edges_;
};

std::vector<Edge> FindEdges(const LibrarySnapshot& library, const ComparedPictures& pictures,
                            const DuplicateSearch& search, const PictureEncoder& encode,
                            const RunContext& context) {
  if (search.mirrored && !encode) {
    throw Error(ErrorCode::kInvalidArgument, "mirrored copies: expected a coder");
  }
  const IndexSnapshot& index = library.index();
  if (search.radius.value_or(0) > index.bits()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("radius: expected at most {}, the bits of the codes, got {}",
                            index.bits(), *search.radius));
  }
  const int radius = search.radius.value_or(DefaultDuplicateRadius(index.bits(), index.size()));
  const CandidateRadii radii = {.codes = radius, .hashes = std::min(radius, kHashRadius)};
  EdgeFinding finding(library, pictures, search, context);
  finding.Look(CandidatePairs::Find(pictures, radii, context));
  if (search.mirrored) {
    finding.Look(CandidatePairs::FindMirrored(library, pictures, radius, encode, context));
  }
  return finding.Take();
}

PairEvidence Turned(PairEvidence evidence) {
  std::swap(evidence.first_covered, evidence.second_covered);
  if (evidence.kind == DuplicateKind::kPart) evidence.first_is_part = !evidence.first_is_part;
  return evidence;
}

PairEvidence SameFile() {
  return {.kind = DuplicateKind::kExact,
          .same_file = true,
          .agreement = 1,
          .first_covered = 1,
          .second_covered = 1};
}

// Makes a group of pictures and the edges between their contents.
class GroupMaking {
 public:
  GroupMaking(const CatalogueSnapshot& catalogue, const Decisions& decisions,
              const KeepOrder& order)
      : catalogue_(catalogue), decisions_(decisions), order_(order) {}

  // The pictures by their ids, with their contents.
  DuplicateGroup Make(const std::map<uint64_t, uint64_t>& content_of,
                      const std::vector<const Edge*>& edges) const {
    DuplicateGroup group;
    for (const auto& [id, content] : content_of) {
      auto picture = catalogue_.FindById(id);
      if (!picture) continue;
      const bool marked = decisions_.IsKept(*picture);
      group.pictures.push_back({.picture = *std::move(picture), .keep = marked, .marked = marked});
    }
    if (group.pictures.size() < 2) return group;
    Order(group);
    AddPairs(group, content_of, edges);
    Compare(group);
    return group;
  }

 private:
  static KeepOrder::Choice ChoiceOf(const DuplicatePicture& member) {
    return {.picture = member.picture, .marked = member.marked};
  }

  void Order(DuplicateGroup& group) const {
    std::vector<DuplicatePicture>& pictures = group.pictures;
    std::ranges::sort(pictures, [&](const DuplicatePicture& a, const DuplicatePicture& b) {
      return order_.IsBetter(ChoiceOf(a), ChoiceOf(b));
    });
    pictures.front().keep = true;
    group.reason = order_.ReasonFor(ChoiceOf(pictures[0]), ChoiceOf(pictures[1]));
    for (DuplicatePicture& member : pictures) {
      member.distance = DistanceOf(pictures.front().picture, member.picture);
    }
  }

  // A content stands in pairs for the first picture that has it; the others are its copies.
  static void AddPairs(DuplicateGroup& group, const std::map<uint64_t, uint64_t>& content_of,
                       const std::vector<const Edge*>& edges) {
    std::unordered_map<uint64_t, size_t> place_of;
    for (size_t i = 0; i < group.pictures.size(); ++i) {
      const uint64_t content = content_of.at(group.pictures[i].picture.id);
      const auto [place, is_new] = place_of.try_emplace(content, i);
      if (!is_new) group.pairs.push_back({place->second, i, SameFile()});
    }
    for (const Edge* edge : edges) {
      const size_t a = place_of.at(edge->first), b = place_of.at(edge->second);
      group.pairs.push_back(a < b ? DuplicatePair{a, b, edge->evidence}
                                  : DuplicatePair{b, a, Turned(edge->evidence)});
    }
    std::ranges::stable_sort(group.pairs, {}, [](const DuplicatePair& pair) {
      return std::tuple(pair.first, pair.second, pair.evidence.kind);
    });
  }

  // Every picture is described by the pair through which the first is reached in the fewest steps.
  static void Compare(DuplicateGroup& group) {
    std::vector<DuplicatePicture>& pictures = group.pictures;
    std::vector<bool> reached(pictures.size());
    reached[0] = true;
    std::deque<size_t> next = {0};
    const auto reach = [&](size_t from, size_t to, const PairEvidence& evidence) {
      if (reached[to]) return;
      reached[to] = true;
      pictures[to].compared_with = from;
      pictures[to].evidence = evidence;
      group.kind = std::max(group.kind, evidence.kind);
      next.push_back(to);
    };
    while (!next.empty()) {
      const size_t from = next.front();
      next.pop_front();
      for (const DuplicatePair& pair : group.pairs) {
        if (pair.first == from) reach(from, pair.second, pair.evidence);
        if (pair.second == from) reach(from, pair.first, Turned(pair.evidence));
      }
    }
  }

  const CatalogueSnapshot& catalogue_;
  const Decisions& decisions_;
  const KeepOrder& order_;
};

// Joins the contents by the edges, and returns the edges that lie within a group, by the group.
std::map<uint64_t, std::vector<const Edge*>> JoinContents(const Contents& contents,
                                                          const std::vector<Edge>& edges,
                                                          const Decisions& decisions,
                                                          Joining& joining) {
  for (const auto& [key, id] : contents.by_key) {
    for (const ContentKey& other : decisions.ApartFrom(key)) {
      const auto place = contents.by_key.find(other);
      if (place != contents.by_key.end()) joining.KeepApart(id, place->second);
    }
  }
  for (const auto& [id, copies] : contents.copies) joining.Find(id);
  std::vector<const Edge*> used;
  for (const Edge& edge : edges) {
    if (joining.Join(edge.first, edge.second)) used.push_back(&edge);
  }
  std::map<uint64_t, std::vector<const Edge*>> edges_of;
  for (const Edge* edge : used) edges_of[joining.Find(edge->first)].push_back(edge);
  return edges_of;
}

}  // namespace

std::vector<DuplicateGroup> FindDuplicates(const LibrarySnapshot& library,
                                           const DuplicateSearch& search,
                                           const PictureEncoder& encode,
                                           const RunContext& context) {
  const CatalogueSnapshot& catalogue = library.catalogue();
  const Contents contents = ReadContents(catalogue, library.index().bits());
  const std::vector<Edge> edges = FindEdges(library, contents.compared, search, encode, context);
  const Decisions decisions(catalogue);
  Joining joining;
  const auto edges_of = JoinContents(contents, edges, decisions, joining);
  const KeepOrder order(search.keep);
  const GroupMaking making(catalogue, decisions, order);
  std::vector<DuplicateGroup> groups;
  for (const auto& [root, members] : joining.groups()) {
    const auto place = edges_of.find(root);
    DuplicateGroup group =
        making.Make(PicturesOf(contents, members),
                    place == edges_of.end() ? std::vector<const Edge*>() : place->second);
    if (group.pictures.size() > 1) groups.push_back(std::move(group));
  }
  std::ranges::sort(groups, {}, [](const DuplicateGroup& group) -> const std::string& {
    return group.pictures.front().picture.path;
  });
  return groups;
}

}  // namespace bitpool
