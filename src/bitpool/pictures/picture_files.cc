#include "bitpool/pictures/picture_files.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 11> kExtensions = {
    ".jpg", ".jpeg", ".jpe", ".png", ".webp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif"};

// Searches folder after folder.
class Search {
 public:
  Search(Env& env, const fs::path& root, std::vector<FailedPicture>* unreadable,
         const PictureSearch& options)
      : env_(env), root_(root), unreadable_(unreadable), options_(options) {}

  std::vector<FoundPicture> Run(const RunContext& context) {
    Progress progress = context.StartProgress("finding", "pictures", 0);
    while (!folders_.empty()) {
      context.ThrowIfStopped();
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      const size_t before = found_.size();
      List(folder);
      progress.Advance(found_.size() - before);
    }
    std::ranges::sort(found_, {}, &FoundPicture::path);
    return std::move(found_);
  }

 private:
  void List(const std::string& folder) {
    const fs::path full = folder.empty() ? root_ : root_ / folder;
    try {
      std::vector<FolderEntry> entries = env_.ListEntries(full);
      if (!folder.empty() && IsLibrary(entries)) return;
      for (FolderEntry& entry : entries) {
        Visit(entry.kind,
              folder.empty() ? std::move(entry.name) : fmt::format("{}/{}", folder, entry.name));
      }
    } catch (const Error& error) {
      if (folder.empty()) throw;
      Complain(full, error);
    }
  }

  static bool IsLibrary(const std::vector<FolderEntry>& entries) {
    return std::ranges::any_of(entries, [](const FolderEntry& entry) {
      return entry.kind != FileKind::kFolder &&
             (entry.name == kCatalogueFile || entry.name == kLibraryIdFile);
    });
  }

  void Visit(FileKind kind, std::string path) {
    if (kind == FileKind::kFolder) {
      if (!IsPassedOver(path)) folders_.push_back(std::move(path));
      return;
    }
    if (!HasPictureName(path) || IsExcluded(path)) return;
    const fs::path full = root_ / path;
    try {
      const FileStatus status = env_.Status(full);
      if (status.kind != FileKind::kFile) return;
      found_.push_back(
          {.path = std::move(path), .size = status.size, .mtime_ns = status.modified_ns});
    } catch (const Error& error) {
      Complain(full, error);
    }
  }

  bool IsPassedOver(const std::string& folder) const {
    return NameIn(folder)[0] == '.' || IsExcluded(folder);
  }

  bool IsExcluded(const std::string& path) const {
    return std::ranges::any_of(options_.exclude, [&](const std::string& pattern) {
      return pattern.find('/') == std::string::npos
                 ? fnmatch(pattern.c_str(), NameIn(path), 0) == 0
                 : fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
    });
  }

  static const char* NameIn(const std::string& path) {
    const size_t slash = path.rfind('/');
    return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
  }

  void Complain(const fs::path& path, const Error& error) {
    if (unreadable_ == nullptr) return;
    unreadable_->push_back({.path = path, .reason = error.MessageWithin(path.string())});
  }

  Env& env_;
  const fs::path& root_;
  std::vector<FailedPicture>* unreadable_;
  const PictureSearch& options_;
  std::vector<std::string> folders_ = {""};  // still to be listed
  std::vector<FoundPicture> found_;
};

}  // namespace

void PictureSearch::Validate() const {
  if (std::ranges::find(exclude, "") == exclude.end()) return;
  throw Error(ErrorCode::kInvalidArgument, "exclude: expected a pattern, got nothing");
}

bool HasPictureName(const fs::path& path) {
  std::string extension = path.extension().string();
  // Without <cctype>, which depends on the locale.
  for (char& letter : extension) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

std::vector<FoundPicture> FindPictures(Env& env, const fs::path& folder, const RunContext& context,
                                       std::vector<FailedPicture>* unreadable,
                                       const PictureSearch& search) {
  search.Validate();
  if (env.Status(folder).kind != FileKind::kFolder) {
    throw Error(ErrorCode::kInvalidArgument, folder.string(), "expected a folder");
  }
  return Search(env, folder, unreadable, search).Run(context);
}

}  // namespace bitpool
