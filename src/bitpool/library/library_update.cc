#include "bitpool/library/library_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/library_upkeep.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashesAtOnce = 1024;

class Updater {
 public:
  Updater(LibraryWriter& writer, const LibraryUpdate& update, const RunContext& context)
      : env_(writer.env()),
        folder_(writer.folder()),
        catalogue_(writer.catalogue()),
        update_(update),
        context_(context),
        thumbnails_(env_, folder_) {}

  UpdateSummary Run() {
    const Stopwatch watch;
    BringFactsUpToDate();
    ReadKnown();
    Compare();
    FindMissing();
    BeginChanges();
    RemoveMissing();
    EncodeAll();
    RemakeThumbnails();
    AddHashes();
    if (set_ == PictureSet::kNext && !summary_.stopped) SwitchToNext();
    FinishUpdate({.env = env_, .folder = folder_, .catalogue = catalogue_}, facts_, sweep_,
                 context_.WithoutStop());
    std::ranges::sort(summary_.failed, {}, [](const FailedPicture& failed) -> const std::string& {
      return failed.path.native();
    });
    summary_.seconds = watch.seconds();
    return std::move(summary_);
  }

 private:
  // The library's settings, and the set of pictures that this update works on.
  void BringFactsUpToDate() {
    own_files_.emplace(env_, folder_.path(), update_.root);
    if (FolderInRoot(env_, folder_.path(), update_.root) == ".") {
      throw Error(ErrorCode::kInvalidArgument, folder_.name(),
                  "the library cannot be the folder of pictures itself");
    }
    const auto snapshot = catalogue_.Snapshot();
    const std::string root = RootSetting(env_, folder_.path(), update_.root);
    const std::optional<LibraryFacts> old = ReadLibraryFacts(*snapshot, folder_.name());
    if (old) {
      CheckRoot(*old, root);
      facts_ = *old;
    }
    sweep_ = facts_.unfinished;
    facts_.root = root;
    facts_.folders = update_.folders;
    facts_.exclude = update_.exclude;
    const PictureEncoding& encoding = update_.encoding;
    const bool same_codes = facts_.coder == encoding.digest && facts_.bits == encoding.bits;
    if (!same_codes && snapshot->Count() > 0) {
      set_ = PictureSet::kNext;
      clear_next_ = facts_.next_coder != encoding.digest || facts_.next_bits != encoding.bits;
      facts_.next_coder = encoding.digest;
      facts_.next_bits = encoding.bits;
    } else {
      clear_next_ = !facts_.next_coder.empty();
      facts_.next_coder.clear();
      facts_.next_bits = 0;
      facts_.coder = encoding.digest;
      facts_.bits = encoding.bits;
    }
    if (clear_next_) sweep_ = true;
    new_facts_ = !old || *old != facts_;
  }

  // A library whose folder was moved finds its pictures again; one whose folder is still there was
  // named by mistake.
  void CheckRoot(const LibraryFacts& old, const std::string& root) const {
    const fs::path old_root = RootOf(env_, folder_.path(), old.root);
    if (old.root == root || !env_.IsFolder(old_root)) return;
    throw Error(
        ErrorCode::kInvalidArgument, folder_.name(),
        fmt::format("this library is of the folder {}; expected that, or another library for {}",
                    old_root.string(), update_.root.string()));
  }

  void ReadKnown() {
    const auto snapshot = catalogue_.Snapshot();
    if (set_ == PictureSet::kNext) {
      snapshot->ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
        replaced_paths_.insert(picture.path);
      });
      if (clear_next_) return;
    }
    snapshot->ForEach(set_, [&](const CataloguedPicture& picture) {
      known_[picture.path] = {.id = picture.id,
                              .size = picture.size,
                              .modified_ns = picture.modified_ns,
                              .content_hash = picture.content_hash,
                              .can_be_seen = CanBeSeen(picture),
                              .has_hash = picture.perceptual_hash.has_value()};
    });
  }

  void Compare() {
    std::vector<uint64_t> with_thumbnail;
    if (update_.encoding.thumbnail) with_thumbnail = thumbnails_.List();
    for (const FoundPicture& found : update_.found) {
      if (own_files_->Contain(found.path)) continue;
      here_.insert(found.path);
      KnownPicture* known = Find(found.path);
      if (known != nullptr) known->found = true;
      if (known == nullptr || known->size != found.size || known->modified_ns != found.mtime_ns) {
        todo_.push_back(&found);
        continue;
      }
      ++summary_.unchanged;
      if (!update_.encoding.thumbnail || !known->can_be_seen) continue;
      if (!std::ranges::binary_search(with_thumbnail, known->id)) {
        without_thumbnail_.push_back(&found);
      }
      if (!known->has_hash) without_hash_.push_back(&found);
    }
  }

  KnownPicture* Find(const std::string& path) {
    const auto place = known_.find(path);
    return place == known_.end() ? nullptr : &place->second;
  }

  // Whether the picture had a place in the library before, maybe with the code of another coder.
  bool WasHere(const std::string& path) const {
    return set_ == PictureSet::kNext ? replaced_paths_.contains(path) : known_.contains(path);
  }

  // Paths of the unreadable as those of pictures are.
  std::vector<std::string> UnreadablePaths() const {
    std::vector<std::string> paths;
    for (const FailedPicture& failed : update_.unreadable) {
      const bool further = std::ranges::any_of(update_.folders, [&](const std::string& folder) {
        return IsInFolder(failed.path.native(), folder);
      });
      paths.push_back(further ? failed.path.string()
                              : failed.path.lexically_relative(update_.root).string());
    }
    return paths;
  }

  void NoteFailure(const std::string& path, const std::string& reason) {
    summary_.failed.push_back({.path = path, .reason = reason});
    if (update_.on_failure) update_.on_failure(summary_.failed.back());
  }

  void FindMissing() {
    const std::vector<std::string> unreadable = UnreadablePaths();
    for (size_t i = 0; i < unreadable.size(); ++i) {
      NoteFailure(unreadable[i], update_.unreadable[i].reason);
    }
    const auto is_unreadable = [&](std::string_view path) {
      return std::ranges::any_of(unreadable, [&](const auto& at) { return IsInFolder(path, at); });
    };
    for (const auto& [path, picture] : known_) {
      if (picture.found) continue;
      if (is_unreadable(path)) {
        ++summary_.unchanged;
      } else {
        missing_.push_back(path);
      }
    }
    summary_.removed += set_ == PictureSet::kCurrent ? missing_.size() : CountReplacedMissing();
  }

  size_t CountReplacedMissing() const {
    return static_cast<size_t>(std::ranges::count_if(
        replaced_paths_, [&](const std::string& path) { return !here_.contains(path); }));
  }

  // Notes before the first change that an update is under way. What a killed one leaves behind is
  // then looked for.
  void BeginChanges() {
    if (missing_.empty() && todo_.empty() && !new_facts_) return;
    facts_.unfinished = true;
    const auto batch = catalogue_.StartBatch(set_);
    if (clear_next_) batch->ClearNext();
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  void RemoveMissing() {
    if (missing_.empty()) return;
    const auto batch = catalogue_.StartBatch(set_);
    std::vector<uint64_t> gone;
    for (const std::string_view path : missing_) {
      if (const auto id = batch->Remove(path)) gone.push_back(*id);
    }
    batch->Commit();
    for (const uint64_t id : gone) thumbnails_.Remove(id);
  }

  void EncodeAll() {
    Progress progress = context_.StartProgress("indexing", "pictures", todo_.size());
    std::atomic<uint64_t> failed = 0;
    for (size_t first = 0; first < todo_.size() && !summary_.stopped; first += update_.batch) {
      const size_t count = std::min(update_.batch, todo_.size() - first);
      std::vector<ExaminedPicture> pictures(count);
      context_.pool().ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
        if (context_.stopped()) return;
        const FoundPicture& found = *todo_[first + i];
        pictures[i] = ExaminePicture(update_, found, Find(found.path));
        const PictureFate fate = pictures[i].fate;
        if (fate == PictureFate::kFailed || fate == PictureFate::kUnreadable) {
          progress.Advance(1, fmt::format("{} failed", ++failed));
        } else {
          progress.Advance();
        }
      });
      Commit(first, pictures);
    }
  }

  void Commit(size_t first, std::vector<ExaminedPicture>& pictures) {
    const auto batch = catalogue_.StartBatch(set_);
    std::vector<uint64_t> gone;
    for (size_t i = 0; i < pictures.size(); ++i) {
      if (const auto id = Apply(*todo_[first + i], pictures[i], *batch)) gone.push_back(*id);
    }
    // Before the commit: what is committed has its thumbnail.
    WriteThumbnails(pictures);
    batch->Commit();
    for (const uint64_t id : gone) thumbnails_.Remove(id);
  }

  // The id that is no longer in use.
  std::optional<uint64_t> Apply(const FoundPicture& found, ExaminedPicture& examined,
                                CatalogueBatch& batch) {
    switch (examined.fate) {
      case PictureFate::kPending:
        summary_.stopped = true;
        return std::nullopt;
      case PictureFate::kGone:
        if (WasHere(found.path)) ++summary_.removed;
        return batch.Remove(found.path);
      case PictureFate::kUnreadable:
        NoteFailure(found.path, examined.reason);
        return std::nullopt;
      case PictureFate::kTouched:
        ++summary_.unchanged;
        batch.Touch(found.path, found.mtime_ns);
        return std::nullopt;
      case PictureFate::kFailed:
        NoteFailure(found.path, examined.picture.failure);
        break;
      case PictureFate::kEncoded:
        ++(WasHere(found.path) ? summary_.changed : summary_.added);
        break;
    }
    const PutResult put = batch.Put(examined.picture);
    examined.picture.id = put.id;
    return put.replaced;
  }

  void WriteThumbnails(const std::vector<ExaminedPicture>& pictures) const {
    context_.WithoutStop().ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
      thumbnails_.Write(pictures[i].picture.id, pictures[i].thumbnail);
    });
  }

  // Of pictures that are as they were; thumbnails are the one part of a library that someone may
  // delete to save space.
  void RemakeThumbnails() {
    if (without_thumbnail_.empty()) return;
    Progress progress =
        context_.StartProgress("making thumbnails", "pictures", without_thumbnail_.size());
    context_.pool().ParallelFor(without_thumbnail_.size(), 1, [&](size_t i, size_t /*end*/) {
      if (context_.stopped()) return;
      const FoundPicture& found = *without_thumbnail_[i];
      const KnownPicture& known = *Find(found.path);
      thumbnails_.Write(known.id, ThumbnailOfUnchanged(update_, found, known));
      progress.Advance();
    });
  }

  // To pictures that an older Bitpool indexed. Those of another coder get theirs with their codes.
  void AddHashes() {
    if (set_ != PictureSet::kCurrent || without_hash_.empty()) return;
    Progress progress = context_.StartProgress("hashing", "thumbnails", without_hash_.size());
    for (size_t first = 0; first < without_hash_.size() && !context_.stopped();
         first += kHashesAtOnce) {
      const size_t count = std::min(kHashesAtOnce, without_hash_.size() - first);
      std::vector<std::optional<uint64_t>> hashes(count);
      context_.pool().ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
        hashes[i] = HashOfThumbnail(thumbnails_.Read(Find(without_hash_[first + i]->path)->id));
        progress.Advance();
      });
      const auto snapshot = catalogue_.Snapshot();
      const auto batch = catalogue_.StartBatch(set_);
      for (size_t i = 0; i < count; ++i) {
        auto picture = snapshot->FindByPath(without_hash_[first + i]->path);
        if (!picture || !hashes[i]) continue;
        picture->perceptual_hash = hashes[i];
        batch->Put(*picture);
      }
      batch->Commit();
    }
  }

  void SwitchToNext() {
    facts_.coder = std::exchange(facts_.next_coder, {});
    facts_.bits = std::exchange(facts_.next_bits, 0);
    facts_.index_generation = 0;
    facts_.index_digest.clear();
    sweep_ = true;
    const auto batch = catalogue_.StartBatch(set_);
    batch->SwitchToNext();
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  Env& env_;
  const LibraryFolder& folder_;
  Catalogue& catalogue_;
  const LibraryUpdate& update_;
  const RunContext& context_;
  LibraryThumbnails thumbnails_;

  PictureSet set_ = PictureSet::kCurrent;
  bool clear_next_ = false;  // codes were gathered of a coder that is not wanted any more
  bool new_facts_ = false;   // others than the catalogue has
  bool sweep_ = false;       // files may be there that belong to nothing
  LibraryFacts facts_;
  std::unordered_map<std::string, KnownPicture> known_;  // of the set
  std::unordered_set<std::string> replaced_paths_;       // of the current set, where it is not that
  std::unordered_set<std::string_view> here_;            // the paths that were found
  std::optional<LibraryFiles> own_files_;
  std::vector<std::string_view> missing_;  // of the known
  std::vector<const FoundPicture*> todo_;
  std::vector<const FoundPicture*> without_thumbnail_;  // but otherwise as they were
  std::vector<const FoundPicture*> without_hash_;       // the same
  UpdateSummary summary_;
};

}  // namespace

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
