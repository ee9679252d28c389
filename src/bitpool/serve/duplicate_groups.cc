#include "bitpool/serve/duplicate_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace bitpool {

// FNV-1a of the ids: a name that follows from the members alone.
std::string GroupId(const DuplicateGroup& group) {
  std::vector<uint64_t> ids;
  for (const DuplicatePicture& member : group.pictures) ids.push_back(member.picture.id);
  std::ranges::sort(ids);
  uint64_t hash = 0xcbf29ce484222325;
  for (const uint64_t id : ids) hash = (hash ^ id) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

uint64_t SpareBytes(const DuplicateGroup& group) {
  uint64_t bytes = 0;
  for (const DuplicatePicture& member : group.pictures) {
    if (!member.keep) bytes += member.picture.size;
  }
  return bytes;
}

ServedDuplicates FindServedDuplicates(const PictureLibrary& library, const DuplicatesQuery& query,
                                      const RunContext& context) {
  DuplicateSearch search{.radius = query.radius, .similar = query.similar};
  search.keep.rules = {query.rule};
  if (!query.prefer_folder.empty()) search.keep.folders = {query.prefer_folder};
  DuplicatesAnswer answer = library.Duplicates(std::move(search), context);
  ServedDuplicates found{.generation = answer.library.catalogue().generation(),
                         .groups = std::move(answer.groups)};
  std::erase_if(found.groups, [&](const DuplicateGroup& group) {
    return query.similar != (group.kind == DuplicateKind::kSimilar);
  });
  std::ranges::stable_sort(found.groups, {}, &DuplicateGroup::kind);
  return found;
}

DuplicateCache::Found DuplicateCache::Get(const PictureLibrary& library,
                                          const DuplicatesQuery& query, const RunContext& context) {
  const std::lock_guard lock(mutex_);
  const uint64_t generation = library.Refresh();
  Answer& answer = answers_[query.similar ? 1 : 0];
  if (!answer.found || answer.found->generation != generation || answer.query != query) {
    answer.found = nullptr;
    answer.found =
        std::make_shared<const ServedDuplicates>(FindServedDuplicates(library, query, context));
    answer.query = query;
  }
  return answer.found;
}

void DuplicateCache::Forget() {
  const std::lock_guard lock(mutex_);
  for (Answer& answer : answers_) answer.found = nullptr;
}

}  // namespace bitpool
