#include "bitpool/library/library_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/catalog/sqlite_catalogue.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/index/index_file.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr int kThumbnailQuality = 80;

FileLock TakeLock(Env& env, const LibraryFolder& folder) {
  env.MakeFolders(folder.path());
  std::optional<FileLock> lock = FileLock::TryTake(folder.lock());
  if (lock) return *std::move(lock);
  throw Error(ErrorCode::kResources,
              fmt::format("{}: another bitpool is indexing this library", folder.path().string()));
}

// Creating comes first: it also takes over what a process left that was killed while it created.
std::unique_ptr<Catalogue> CreateOrOpen(const fs::path& path) {
  try {
    return CreateSqliteCatalogue(path);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
  }
  return OpenSqliteCatalogue(path, CatalogueAccess::kWrite);
}

// True for the folder itself and what is in it; paths from one folder, as FindPictures has them.
bool IsIn(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// `own_folder`: as FolderInRoot gives it.
bool IsLibraryFile(std::string_view path, std::string_view own_folder) {
  return path.starts_with(".bitpool/") || path.find("/.bitpool/") != std::string_view::npos ||
         (!own_folder.empty() && IsIn(path, own_folder));
}

// What the catalogue had of a picture before.
struct KnownPicture {
  uint64_t id = 0;
  uint64_t size = 0;
  int64_t modified_ns = 0;
  uint64_t content_hash = 0;
  bool has_code = false;
  bool dropped = false;  // with the codes of another coder
  bool found = false;
};

enum class Fate {
  kPending,     // a stop came first
  kGone,        // was removed since it was found
  kUnreadable,  // may be read another time
  kTouched,     // has the content it had
  kFailed,      // is noted without a code
  kEncoded,
};

struct Outcome {
  Fate fate = Fate::kPending;
  CataloguedPicture picture;
  std::string reason;
  std::vector<std::byte> thumbnail;
};

class Updater {
 public:
  Updater(LibraryWriter& writer, const LibraryUpdate& update, const RunContext& context)
      : env_(writer.env()),
        folder_(writer.folder()),
        catalogue_(writer.catalogue()),
        update_(update),
        context_(context) {}

  UpdateSummary Run() {
    const Stopwatch watch;
    ReadKnown();
    BringFactsUpToDate();
    Compare();
    RemoveMissing();
    EncodeAll();
    RemakeThumbnails();
    RefreshIndex();
    std::ranges::sort(summary_.failed, {}, [](const FailedPicture& failed) -> const std::string& {
      return failed.path.native();
    });
    summary_.seconds = watch.seconds();
    return std::move(summary_);
  }

 private:
  void ReadKnown() {
    catalogue_.ForEach([&](const CataloguedPicture& picture) {
      known_[picture.path] = {.id = picture.id,
                              .size = picture.size,
                              .modified_ns = picture.modified_ns,
                              .content_hash = picture.content_hash,
                              .has_code = !picture.code.empty()};
    });
  }

  void BringFactsUpToDate() {
    own_folder_ = FolderInRoot(folder_.path(), update_.root);
    if (own_folder_ == ".") {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("{}: the library cannot be the folder of pictures itself",
                              folder_.path().string()));
    }
    const std::string root = RootSetting(folder_.path(), update_.root);
    const std::optional<LibraryFacts> old = ReadLibraryFacts(catalogue_, folder_.path().string());
    if (old) {
      CheckRoot(*old, root);
      facts_ = *old;
    }
    const bool other_codes =
        facts_.coder != update_.encoding.digest || facts_.bits != update_.encoding.bits;
    if (old && !other_codes && old->root == root) return;
    facts_.root = root;
    facts_.coder = update_.encoding.digest;
    facts_.bits = update_.encoding.bits;
    const auto batch = catalogue_.StartBatch();
    if (other_codes) DropAll(*batch);
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  // A library whose folder was moved finds its pictures again; one whose folder is still there was
  // named by mistake.
  void CheckRoot(const LibraryFacts& old, const std::string& root) const {
    const fs::path old_root = RootOf(folder_.path(), old.root);
    if (old.root == root || !env_.IsFolder(old_root)) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: this library is of the folder {}; expected that, or another "
                            "library for {}",
                            folder_.path().string(), old_root.string(), update_.root.string()));
  }

  void DropAll(CatalogueBatch& batch) {
    for (auto& [path, picture] : known_) {
      batch.Remove(path);
      picture.dropped = true;
    }
    ++facts_.generation;
  }

  void Compare() {
    for (const FoundPicture& found : update_.found) {
      if (IsLibraryFile(found.path, own_folder_)) continue;
      const auto place = known_.find(found.path);
      if (place != known_.end()) place->second.found = true;
      const bool same = place != known_.end() && !place->second.dropped &&
                        place->second.size == found.size &&
                        place->second.modified_ns == found.mtime_ns;
      if (same) {
        ++summary_.unchanged;
        if (LostThumbnail(place->second)) without_thumbnail_.push_back(&found);
      } else {
        todo_.push_back(&found);
      }
    }
  }

  bool LostThumbnail(const KnownPicture& known) const {
    return update_.encoding.thumbnail && known.has_code &&
           !env_.Exists(folder_.thumbnail(known.id));
  }

  // Paths of the unreadable as those of pictures are.
  std::vector<std::string> UnreadablePaths() const {
    std::vector<std::string> paths;
    for (const FailedPicture& failed : update_.unreadable) {
      paths.push_back(failed.path.lexically_relative(update_.root).string());
    }
    return paths;
  }

  void RemoveMissing() {
    const std::vector<std::string> unreadable = UnreadablePaths();
    for (size_t i = 0; i < unreadable.size(); ++i) {
      summary_.failed.push_back({.path = unreadable[i], .reason = update_.unreadable[i].reason});
    }
    std::vector<std::string_view> missing;
    const auto is_unreadable = [&](std::string_view path) {
      return std::ranges::any_of(unreadable, [&](const auto& at) { return IsIn(path, at); });
    };
    for (const auto& [path, picture] : known_) {
      if (picture.found) continue;
      const bool hidden = !picture.dropped && is_unreadable(path);
      if (hidden) {
        ++summary_.unchanged;
        continue;
      }
      ++summary_.removed;
      if (!picture.dropped) missing.push_back(path);
    }
    if (missing.empty()) return;
    const auto batch = catalogue_.StartBatch();
    for (const std::string_view path : missing) batch->Remove(path);
    CommitChange(*batch);
  }

  void CommitChange(CatalogueBatch& batch) {
    ++facts_.generation;
    PutLibraryFacts(batch, facts_);
    batch.Commit();
  }

  void EncodeAll() {
    Progress progress = context_.StartProgress("indexing", "pictures", todo_.size());
    for (size_t first = 0; first < todo_.size() && !summary_.stopped; first += update_.batch) {
      const size_t count = std::min(update_.batch, todo_.size() - first);
      std::vector<Outcome> outcomes(count);
      context_.pool().ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
        if (context_.stopped()) return;
        outcomes[i] = Examine(*todo_[first + i]);
        progress.Advance();
      });
      Commit(first, outcomes);
    }
  }

  // The old record where the content can be compared with it.
  const KnownPicture* Comparable(const std::string& path) const {
    const auto place = known_.find(path);
    return place == known_.end() || place->second.dropped ? nullptr : &place->second;
  }

  Outcome Examine(const FoundPicture& found) const {
    Outcome outcome;
    outcome.picture.path = found.path;
    outcome.picture.size = found.size;
    outcome.picture.modified_ns = found.mtime_ns;
    if (found.size > update_.max_bytes) {
      outcome.fate = Fate::kFailed;
      outcome.picture.failure =
          fmt::format("{} bytes, the limit for a picture is {}", found.size, update_.max_bytes);
      return outcome;
    }
    try {
      const std::vector<std::byte> bytes = update_.read(found);
      outcome.picture.content_hash = Checksum(bytes);
      const KnownPicture* known = Comparable(found.path);
      if (known != nullptr && known->content_hash == outcome.picture.content_hash &&
          known->size == found.size) {
        outcome.fate = Fate::kTouched;
      } else {
        Encode(bytes, outcome);
      }
    } catch (const Error& error) {
      outcome.fate = FateOfUnread(error.code());
      outcome.reason = error.MessageWithin((update_.root / found.path).string());
    } catch (const std::bad_alloc&) {
      outcome.fate = Fate::kUnreadable;
      outcome.reason = "out of memory";
    }
    return outcome;
  }

  static Fate FateOfUnread(ErrorCode code) {
    if (code == ErrorCode::kCancelled) return Fate::kPending;
    return code == ErrorCode::kNotFound ? Fate::kGone : Fate::kUnreadable;
  }

  void Encode(std::span<const std::byte> bytes, Outcome& outcome) const {
    try {
      PictureCode code = update_.encoding.encode(bytes);
      if (code.code.size() != BytesPerCode(update_.encoding.bits)) {
        throw Error(ErrorCode::kInternal, fmt::format("the coder gave {} bytes: expected {} bits",
                                                      code.code.size(), update_.encoding.bits));
      }
      outcome.fate = Fate::kEncoded;
      outcome.picture.code = std::move(code.code);
      outcome.picture.width = code.facts.width;
      outcome.picture.height = code.facts.height;
      MakeThumbnailOf(bytes, outcome);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& failure) {  // also those of the libraries that look at pictures
      const auto* error = dynamic_cast<const Error*>(&failure);
      if (error != nullptr && error->code() == ErrorCode::kCancelled) throw;
      outcome.fate = Fate::kFailed;
      outcome.picture.failure = failure.what();
    }
  }

  void MakeThumbnailOf(std::span<const std::byte> bytes, Outcome& outcome) const {
    if (!update_.encoding.thumbnail) return;
    try {
      outcome.thumbnail = update_.encoding.thumbnail(bytes);
    } catch (const Error&) {  // its code is what matters
    }
  }

  void Commit(size_t first, std::vector<Outcome>& outcomes) {
    const auto batch = catalogue_.StartBatch();
    bool changed = false;
    for (size_t i = 0; i < outcomes.size(); ++i) {
      if (Apply(*todo_[first + i], outcomes[i], *batch)) changed = true;
    }
    // Before the commit: what is committed has its thumbnail.
    WriteThumbnails(outcomes);
    if (changed) {
      CommitChange(*batch);
    } else {
      batch->Commit();
    }
  }

  // True when the ids or codes of the catalogue changed.
  bool Apply(const FoundPicture& found, Outcome& outcome, CatalogueBatch& batch) {
    const bool known = known_.contains(found.path);
    switch (outcome.fate) {
      case Fate::kPending:
        summary_.stopped = true;
        return false;
      case Fate::kGone:
        if (known) ++summary_.removed;
        return batch.Remove(found.path).has_value();
      case Fate::kUnreadable:
        summary_.failed.push_back({.path = found.path, .reason = outcome.reason});
        return false;
      case Fate::kTouched:
        ++summary_.unchanged;
        Touch(outcome.picture, batch);
        return false;
      case Fate::kFailed:
        summary_.failed.push_back({.path = found.path, .reason = outcome.picture.failure});
        break;
      case Fate::kEncoded:
        ++(known ? summary_.changed : summary_.added);
        break;
    }
    outcome.picture.id = batch.Put(outcome.picture).id;
    return true;
  }

  void Touch(const CataloguedPicture& now, CatalogueBatch& batch) const {
    std::optional<CataloguedPicture> picture = catalogue_.FindByPath(now.path);
    if (!picture) return;
    picture->modified_ns = now.modified_ns;
    batch.Put(*picture);
  }

  void WriteThumbnails(const std::vector<Outcome>& outcomes) const {
    const RunContext context = context_.WithoutStop();
    context.ParallelFor(outcomes.size(), 1, [&](size_t i, size_t /*end*/) {
      if (outcomes[i].fate != Fate::kEncoded) return;
      const fs::path path = folder_.thumbnail(outcomes[i].picture.id);
      // The id is new. A file is there only if a process was killed before it committed the id, and
      // may be of another picture.
      if (env_.Exists(path)) env_.Remove(path);
      WriteThumbnail(path, outcomes[i].thumbnail);
    });
  }

  void WriteThumbnail(const fs::path& path, const std::vector<std::byte>& thumbnail) const {
    if (thumbnail.empty()) return;
    env_.MakeFolders(path.parent_path());
    WriteFile(env_, path, thumbnail, IfExists::kFail);
  }

  // Of pictures that are as they were; thumbnails are the one part of a library that someone may
  // delete to save space.
  void RemakeThumbnails() const {
    if (without_thumbnail_.empty()) return;
    Progress progress =
        context_.StartProgress("making thumbnails", "pictures", without_thumbnail_.size());
    context_.pool().ParallelFor(without_thumbnail_.size(), 1, [&](size_t i, size_t /*end*/) {
      if (context_.stopped()) return;
      const FoundPicture& found = *without_thumbnail_[i];
      const KnownPicture& known = known_.at(found.path);
      WriteThumbnail(folder_.thumbnail(known.id), ThumbnailOfUnchanged(found, known));
      progress.Advance();
    });
  }

  // None where the picture cannot be read now, or changed after all, which the next update sees.
  std::vector<std::byte> ThumbnailOfUnchanged(const FoundPicture& found,
                                              const KnownPicture& known) const {
    try {
      const std::vector<std::byte> bytes = update_.read(found);
      if (Checksum(bytes) == known.content_hash) return update_.encoding.thumbnail(bytes);
    } catch (const Error&) {  // its code is what matters
    }
    return {};
  }

  // The index file and the thumbnails follow the catalogue, also when an earlier process was killed
  // before it came to this.
  void RefreshIndex() {
    const RunContext context = context_.WithoutStop();
    if (OpenCachedIndex(env_, folder_, facts_, context)) return;
    const auto index = IndexCatalogue(catalogue_, facts_, folder_.path().string());
    RemoveStrayThumbnails(*index);
    RemoveTemporaries();
    SaveIndex(env_, folder_.index(), *index, IfExists::kReplace);
    facts_.index_generation = facts_.generation;
    facts_.index_digest = ContentDigest(env_.Map(folder_.index())->bytes());
    const auto batch = catalogue_.StartBatch();
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  void RemoveStrayThumbnails(const CodeIndex& index) const {
    if (!env_.IsFolder(folder_.thumbnails())) return;
    for (const std::string& thousand : env_.List(folder_.thumbnails())) {
      const fs::path inner = folder_.thumbnails() / thousand;
      if (!env_.IsFolder(inner)) continue;
      for (const std::string& name : env_.List(inner)) {
        int64_t id = 0;
        const char* end = name.data() + name.size();
        const auto [rest, error] = std::from_chars(name.data(), end, id);
        const bool ours = error == std::errc() && std::string_view(rest, end) == ".jpg";
        if (ours && !index.Contains(id)) env_.Remove(inner / name);
      }
    }
  }

  // A process that is killed while it replaces a file may leave the new one under another name.
  void RemoveTemporaries() const {
    for (const std::string& name : env_.List(folder_.path())) {
      if (name.starts_with('.') && name.ends_with(".tmp")) env_.Remove(folder_.path() / name);
    }
  }

  Env& env_;
  const LibraryFolder& folder_;
  Catalogue& catalogue_;
  const LibraryUpdate& update_;
  const RunContext& context_;

  std::unordered_map<std::string, KnownPicture> known_;
  LibraryFacts facts_;
  std::string own_folder_;  // from the root, where the library lies inside; otherwise empty
  std::vector<const FoundPicture*> todo_;
  std::vector<const FoundPicture*> without_thumbnail_;  // but otherwise as they were
  UpdateSummary summary_;
};

}  // namespace

std::vector<std::byte> MakeThumbnail(std::span<const std::byte> picture) {
  return EncodeJpeg(DecodePicture(picture, {.max_side = kThumbnailSide}), kThumbnailQuality);
}

void LeaveOutLibraryFiles(const fs::path& library, const fs::path& root,
                          std::vector<FoundPicture>& found) {
  const std::string own_folder = FolderInRoot(library, root);
  std::erase_if(
      found, [&](const FoundPicture& picture) { return IsLibraryFile(picture.path, own_folder); });
}

LibraryWriter::LibraryWriter(Env& env, const fs::path& folder)
    : env_(env),
      folder_(folder),
      lock_(TakeLock(env, folder_)),
      catalogue_(CreateOrOpen(folder_.catalogue())) {
  ReadLibraryFacts(*catalogue_, folder_.path().string());  // refuses what a newer version made
}

void LibraryUpdate::Validate() const {
  RequireBits(encoding.bits);
  const auto require = [](bool good, const char* expected) {
    if (!good) throw Error(ErrorCode::kInvalidArgument, expected);
  };
  require(!encoding.digest.empty(), "encoding: expected a digest");
  require(encoding.encode != nullptr, "encoding: expected a function that encodes");
  require(read != nullptr, "read: expected a function that reads pictures");
  require(batch > 0, "batch: expected 1 or more pictures");
}

std::string UpdateSummary::BriefReport() const {
  return fmt::format("{} added, {} changed, {} removed, {} unchanged, {} failed, {:.1f} s{}", added,
                     changed, removed, unchanged, failed.size(), seconds,
                     stopped ? " (stopped early)" : "");
}

UpdateSummary UpdateLibrary(LibraryWriter& writer, const LibraryUpdate& update,
                            const RunContext& context) {
  update.Validate();
  return Updater(writer, update, context).Run();
}

}  // namespace bitpool
