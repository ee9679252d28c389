#include "bitpool/serve/duplicate_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "bitpool/serve/picture_listing.h"

namespace bitpool {
namespace {

int KindRank(std::string_view kind) {
  static constexpr std::array<std::string_view, 4> kKinds = {"exact", "edited", "part", "similar"};
  return static_cast<int>(std::ranges::find(kKinds, kind) - kKinds.begin());
}

bool SameContent(const CataloguedPicture& a, const CataloguedPicture& b) {
  return a.content_hash == b.content_hash && a.size == b.size;
}

// FNV-1a of the ids: a name that follows from the members alone.
std::string GroupId(const std::vector<ServedDuplicate>& members) {
  std::vector<uint64_t> ids;
  for (const ServedDuplicate& member : members) ids.push_back(member.picture.id);
  std::ranges::sort(ids);
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint64_t id : ids) hash = (hash ^ id) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

int64_t Pixels(const CataloguedPicture& picture) { return picture.width * picture.height; }

// By which a picture is better than another, the first that tells them apart.
struct Preference {
  const char* words;
  bool (*better)(const CataloguedPicture& a, const CataloguedPicture& b);
};

constexpr Preference kMostPixels = {
    "the most pixels",
    [](const CataloguedPicture& a, const CataloguedPicture& b) { return Pixels(a) > Pixels(b); }};
constexpr Preference kLargestFile = {
    "the largest file",
    [](const CataloguedPicture& a, const CataloguedPicture& b) { return a.size > b.size; }};
constexpr Preference kOldest = {"the oldest file",
                                [](const CataloguedPicture& a, const CataloguedPicture& b) {
                                  return a.modified_ns < b.modified_ns;
                                }};
constexpr Preference kShortestPath = {"the shortest path of equals",
                                      [](const CataloguedPicture& a, const CataloguedPicture& b) {
                                        return std::tuple(a.path.size(), std::string_view(a.path)) <
                                               std::tuple(b.path.size(), std::string_view(b.path));
                                      }};

std::vector<Preference> PreferencesOf(const std::string& rule) {
  std::vector<Preference> order = {kMostPixels, kLargestFile, kShortestPath};
  if (rule == "size") order.insert(order.begin(), kLargestFile);
  if (rule == "oldest") order.insert(order.begin(), kOldest);
  if (rule == "path") order.insert(order.begin(), kShortestPath);
  return order;
}

ServedGroup MakeServedGroup(const DuplicateGroup& found, const DuplicatesQuery& query) {
  const std::vector<Preference> order = PreferencesOf(query.rule);
  const auto preferred = [&](const CataloguedPicture& picture) {
    return !query.prefer_folder.empty() && LiesIn(picture.path, query.prefer_folder);
  };
  std::vector<CataloguedPicture> pictures;
  for (const DuplicatePicture& member : found) pictures.push_back(member.picture);
  std::ranges::sort(pictures, [&](const CataloguedPicture& a, const CataloguedPicture& b) {
    if (preferred(a) != preferred(b)) return preferred(a);
    for (const Preference& preference : order) {
      if (preference.better(a, b) != preference.better(b, a)) return preference.better(a, b);
    }
    return a.id < b.id;
  });
  ServedGroup group;
  if (preferred(pictures[0]) != preferred(pictures[1])) {
    group.reason = "in the preferred folder";
  } else {
    group.reason = std::ranges::find_if(order, [&](const Preference& preference) {
                     return preference.better(pictures[0], pictures[1]);
                   })->words;
  }
  group.kind = "exact";
  for (CataloguedPicture& picture : pictures) {
    const bool exact = group.members.empty() || SameContent(group.members.front().picture, picture);
    const int distance = group.members.empty()
                             ? 0
                             : HammingDistance(group.members.front().picture.code, picture.code);
    if (!exact) group.kind = "edited";
    group.members.push_back(
        {.picture = std::move(picture), .kind = exact ? "exact" : "edited", .distance = distance});
  }
  group.id = GroupId(group.members);
  return group;
}

}  // namespace

uint64_t ServedGroup::spare_bytes() const {
  uint64_t bytes = 0;
  for (size_t i = 1; i < members.size(); ++i) bytes += members[i].picture.size;
  return bytes;
}

ServedDuplicates FindServedDuplicates(const PictureLibrary& library, const DuplicatesQuery& query,
                                      const RunContext& context) {
  const DuplicatesAnswer answer = library.Duplicates(query.radius, context);
  ServedDuplicates found{.generation = answer.library.catalogue().generation(),
                         .root = answer.library.root(),
                         .groups = {}};
  for (const DuplicateGroup& group : answer.groups) {
    found.groups.push_back(MakeServedGroup(group, query));
  }
  std::ranges::stable_sort(found.groups, {}, [](const ServedGroup& group) {
    return std::tuple(KindRank(group.kind), std::string_view(group.members.front().picture.path));
  });
  return found;
}

DuplicateCache::Found DuplicateCache::Get(const PictureLibrary& library,
                                          const DuplicatesQuery& query, const RunContext& context) {
  const std::lock_guard lock(mutex_);
  const uint64_t generation = library.Refresh();
  if (!found_ || found_->generation != generation || query_ != query) {
    found_ =
        std::make_shared<const ServedDuplicates>(FindServedDuplicates(library, query, context));
    query_ = query;
  }
  return found_;
}

void DuplicateCache::Forget() {
  const std::lock_guard lock(mutex_);
  found_ = nullptr;
}

}  // namespace bitpool
