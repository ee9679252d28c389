#include "bitpool/library/picture_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Chooses the root and the further folders.
class FolderList {
 public:
  FolderList(Env& env, const LibraryFolder& library, const std::optional<LibraryFacts>& facts)
      : env_(env), library_(library) {
    if (!facts) return;
    root_ = RootOf(env, library.path(), facts->root);
    folders_ = facts->folders;
  }

  void Take(const std::vector<fs::path>& named) {
    if (named.empty() && root_.empty()) {
      throw Error(ErrorCode::kInvalidArgument, library_.name(),
                  "expected the folder of pictures, which is not recorded here");
    }
    if (named.empty()) return;
    // Unless the library is new, its folder of pictures was moved, or the library was named by
    // mistake; UpdateLibrary tells these apart.
    if (root_.empty() || std::ranges::none_of(named, [&](const auto& one) { return Has(one); })) {
      root_ = named.front();
    }
    for (const fs::path& folder : named) Add(folder);
  }

  const fs::path& root() const { return root_; }
  const std::vector<std::string>& folders() const { return folders_; }

 private:
  std::string Full(const fs::path& folder) const { return env_.Canonical(folder).string(); }

  bool Has(const fs::path& folder) const {
    if (!env_.Exists(folder)) return false;
    const std::string full = Full(folder);
    return (env_.Exists(root_) && full == Full(root_)) ||
           std::ranges::find(folders_, full) != folders_.end();
  }

  void Add(const fs::path& folder) {
    if (env_.Status(folder).kind != FileKind::kFolder) {
      throw Error(ErrorCode::kInvalidArgument, folder.string(), "expected a folder");
    }
    const std::string full = Full(folder);
    std::vector<std::string> known = folders_;
    known.push_back(Full(root_));
    for (const std::string& other : known) {
      if (IsInFolder(full, other)) return;  // already looked through
      if (!IsInFolder(other, full)) continue;
      throw Error(ErrorCode::kInvalidArgument, folder.string(),
                  fmt::format("contains {}, which the library has already; expected another "
                              "library for it",
                              other));
    }
    folders_.push_back(full);
  }

  Env& env_;
  const LibraryFolder& library_;
  fs::path root_;
  std::vector<std::string> folders_;
};

void FindInFurther(Env& env, const std::string& folder, const PictureSearch& search,
                   const RunContext& context, FoundInFolders& result) {
  if (!env.IsFolder(folder)) {
    result.unreadable.push_back({.path = folder, .reason = "the folder is not there now"});
    return;
  }
  for (FoundPicture& picture : FindPictures(env, folder, context, &result.unreadable, search)) {
    picture.path = fmt::format("{}/{}", folder == "/" ? "" : folder, picture.path);
    result.found.push_back(std::move(picture));
  }
}

// The size and time of each file that is known.
using KnownStates = std::unordered_map<std::string, std::pair<uint64_t, int64_t>>;

KnownStates ReadStates(const LibraryBefore& library, PictureSet set) {
  KnownStates known;
  if (!library.catalogue) return known;
  library.catalogue->ForEach(set, [&](const CataloguedPicture& picture) {
    known[picture.path] = {picture.size, picture.modified_ns};
  });
  return known;
}

// Those that this coder has encoded. `here` are all of the library.
KnownStates ReadEncoded(const LibraryBefore& library, const PictureCoder* coder,
                        const KnownStates& here) {
  if (here.empty() || !library.facts || coder == nullptr) return {};
  if (library.facts->HasCodesOf(coder->digest(), coder->bits())) return here;
  if (!library.facts->GathersCodesOf(coder->digest(), coder->bits())) return {};
  return ReadStates(library, PictureSet::kNext);
}

}  // namespace

FoundInFolders FindInFolders(Env& env, const LibraryFolder& library,
                             const std::optional<LibraryFacts>& facts, const FolderChoice& choice,
                             const RunContext& context) {
  FolderList list(env, library, facts);
  list.Take(choice.folders);
  FoundInFolders result;
  result.root = list.root();
  result.folders = list.folders();
  result.exclude = choice.exclude.value_or(facts ? facts->exclude : std::vector<std::string>());
  const PictureSearch search = {.exclude = result.exclude};
  result.found = FindPictures(env, result.root, context, &result.unreadable, search);
  for (const std::string& folder : result.folders) {
    FindInFurther(env, folder, search, context, result);
  }
  const LibraryFiles own_files(env, library.path(), result.root);
  std::erase_if(result.found,
                [&](const FoundPicture& picture) { return own_files.Contain(picture.path); });
  std::ranges::sort(result.found, {}, &FoundPicture::path);
  return result;
}

UpdatePlan PlanUpdate(const FoundInFolders& folders, const LibraryBefore& library,
                      const PictureCoder* coder) {
  KnownStates here = ReadStates(library, PictureSet::kCurrent);
  const KnownStates encoded = ReadEncoded(library, coder, here);
  UpdatePlan plan;
  plan.unreadable = folders.unreadable;
  for (const FoundPicture& found : folders.found) {
    const auto known = encoded.find(found.path);
    const bool same =
        known != encoded.end() && known->second == std::pair(found.size, found.mtime_ns);
    const bool was_here = here.erase(found.path) > 0;
    ++(same ? plan.unchanged : was_here ? plan.changed : plan.added);
    if (!same) plan.bytes += found.size;
  }
  for (const auto& [path, state] : here) {
    const fs::path whole = folders.root / path;
    const bool may_be_there = std::ranges::any_of(folders.unreadable, [&](const auto& failed) {
      return IsInFolder(whole.native(), failed.path.native());
    });
    ++(may_be_there ? plan.unchanged : plan.removed);
  }
  return plan;
}

}  // namespace bitpool
