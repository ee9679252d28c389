#include "bitpool/library/update_work.h"

#include <algorithm>
#include <utility>

namespace bitpool {
namespace {

class WorkFinder {
 public:
  WorkFinder(const LibraryUpdate& update, PictureSet set, KnownPictures& known)
      : update_(update), set_(set), known_(known) {}

  UpdateWork Find(const LibraryFiles& own_files, const LibraryThumbnails& thumbnails) {
    Compare(own_files, thumbnails);
    NoteUnreadable();
    FindMissing();
    FindEmptied();
    return std::move(work_);
  }

 private:
  void Compare(const LibraryFiles& own_files, const LibraryThumbnails& thumbnails) {
    std::vector<uint64_t> with_thumbnail;
    if (update_.encoding.thumbnail) with_thumbnail = thumbnails.List();
    for (const FoundPicture& found : update_.found) {
      if (own_files.Contain(found.path)) continue;
      here_.insert(found.path);
      KnownPicture* known = known_.Find(found.path);
      if (known != nullptr) known->found = true;
      if (known == nullptr || !IsUnchanged(*known, found)) {
        work_.todo.push_back(&found);
        continue;
      }
      ++work_.unchanged;
      if (!update_.encoding.thumbnail || !known->can_be_seen) continue;
      if (!std::ranges::binary_search(with_thumbnail, known->id)) {
        work_.without_thumbnail.push_back(&found);
      }
      if (!known->has_hash) work_.without_hash.push_back(&found);
    }
  }

  void NoteUnreadable() {
    for (const FailedPicture& failed : update_.unreadable) {
      const bool further = std::ranges::any_of(update_.folders, [&](const std::string& folder) {
        return IsInFolder(failed.path.native(), folder);
      });
      work_.unreadable.push_back(further ? failed.path.string()
                                         : failed.path.lexically_relative(update_.root).string());
    }
  }

  bool IsUnreadable(std::string_view path) const {
    return std::ranges::any_of(work_.unreadable,
                               [&](const auto& at) { return IsInFolder(path, at); });
  }

  void FindMissing() {
    for (const auto& [path, picture] : known_.by_path) {
      if (picture.found) continue;
      if (IsUnreadable(path) || known_.came_since.contains(picture.id)) {
        ++work_.unchanged;
      } else {
        work_.missing.push_back(path);
      }
    }
    work_.removed = set_ == PictureSet::kCurrent ? work_.missing.size() : CountReplacedMissing();
  }

  size_t CountReplacedMissing() const {
    return static_cast<size_t>(std::ranges::count_if(
        known_.replaced_paths, [&](const std::string& path) { return !here_.contains(path); }));
  }

  // A folder with something unreadable is not empty, and one that is away is unreadable itself.
  void FindEmptied() {
    std::vector<std::string> folders = update_.folders;
    folders.insert(folders.begin(), ".");
    for (const std::string& folder : folders) {
      const auto inside = [&](std::string_view path) { return IsInFolder(path, folder); };
      if (std::ranges::any_of(here_, inside)) continue;
      if (std::ranges::any_of(work_.unreadable, inside)) continue;
      if (std::ranges::any_of(work_.missing, inside) ||
          std::ranges::any_of(known_.replaced_paths, inside)) {
        work_.emptied.push_back(folder);
      }
    }
  }

  const LibraryUpdate& update_;
  PictureSet set_;
  KnownPictures& known_;
  std::unordered_set<std::string_view> here_;  // the paths that were found
  UpdateWork work_;
};

}  // namespace

void KnownPictures::Read(const CatalogueSnapshot& snapshot, PictureSet set) {
  snapshot.ForEach(set, [&](const CataloguedPicture& picture) { Put(picture); });
}

void KnownPictures::ReadReplaced(const CatalogueSnapshot& snapshot) {
  snapshot.ForEach(PictureSet::kCurrent,
                   [&](const CataloguedPicture& picture) { replaced_paths.insert(picture.path); });
}

void KnownPictures::ReadCameSince(const CatalogueSnapshot& snapshot, uint64_t generation) {
  came_since.clear();
  const bool known = snapshot.ForEachChange(generation, [&](uint64_t id, auto code) {
    if (!code.empty()) came_since.insert(id);
  });
  if (known) return;
  for (const auto& [path, picture] : by_path) came_since.insert(picture.id);
}

KnownPicture& KnownPictures::Put(const CataloguedPicture& picture) {
  return by_path[picture.path] = {.id = picture.id,
                                  .size = picture.size,
                                  .modified_ns = picture.modified_ns,
                                  .content_hash = picture.content_hash,
                                  .can_be_seen = CanBeSeen(picture),
                                  .has_hash = picture.perceptual_hash.has_value()};
}

KnownPicture* KnownPictures::Find(const std::string& path) {
  const auto place = by_path.find(path);
  return place == by_path.end() ? nullptr : &place->second;
}

bool IsUnchanged(const KnownPicture& known, const FoundPicture& found) {
  return known.size == found.size && known.modified_ns == found.mtime_ns;
}

UpdateWork FindWork(const LibraryUpdate& update, const LibraryFiles& own_files,
                    const LibraryThumbnails& thumbnails, PictureSet set, KnownPictures& known) {
  return WorkFinder(update, set, known).Find(own_files, thumbnails);
}

}  // namespace bitpool
