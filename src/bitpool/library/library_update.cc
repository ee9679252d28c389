#include "bitpool/library/library_update.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/library/claimed_pictures.h"
#include "bitpool/library/examined_batch.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/library_upkeep.h"
#include "bitpool/library/patience.h"
#include "bitpool/library/update_work.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashesAtOnce = 1024;
constexpr size_t kRemovedAtOnce = 1000;

// Another process has changed what this one had begun with.
struct FactsChanged {};

class Updater {
 public:
  Updater(LibraryWriter& writer, const LibraryUpdate& update, const RunContext& context)
      : env_(writer.env()),
        folder_(writer.folder()),
        catalogue_(writer.catalogue()),
        first_generation_(writer.first_generation()),
        update_(update),
        context_(context),
        thumbnails_(env_, folder_),
        patience_(update.on_wait, context) {}

  UpdateSummary Run() {
    const Stopwatch watch;
    patience_.Try([&] { BringFactsUpToDate(); });
    patience_.Try([&] { ReadKnown(); });
    FindWhatToDo();
    RefuseEmptyFolders();
    // Before others are told of an update that is under way, because they look who is at work.
    patience_.Try([&] { claims_ = catalogue_.Claims(set_); });
    patience_.Try([&] { BeginChanges(); });
    NoteUnreadable();
    RemoveMissing();
    EncodeAll();
    RemakeThumbnails();
    patience_.Try([&] { AddHashes(); });
    if (set_ == PictureSet::kNext && !summary_.stopped) patience_.Try([&] { SwitchToNext(); });
    patience_.Try([&] { Finish(); });
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
    const auto snapshot = catalogue_.Snapshot();
    old_facts_ = ReadLibraryFacts(*snapshot, folder_.name());
    RequireRoot(env_, folder_, old_facts_, update_.root);
    facts_ = old_facts_.value_or(LibraryFacts());
    sweep_ = facts_.unfinished;
    facts_.root = RootSetting(env_, folder_.path(), update_.root);
    facts_.folders = update_.folders;
    facts_.exclude = update_.exclude;
    const PictureEncoding& encoding = update_.encoding;
    const bool same_codes = facts_.HasCodesOf(encoding.digest, encoding.bits);
    if (!same_codes && snapshot->Count() > 0) {
      set_ = PictureSet::kNext;
      clear_next_ = !facts_.GathersCodesOf(encoding.digest, encoding.bits);
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
    new_facts_ = !old_facts_ || *old_facts_ != facts_;
  }

  void ReadKnown() {
    known_ = {};  // it may hold what an attempt read that lost its database
    const auto snapshot = catalogue_.Snapshot();
    if (set_ == PictureSet::kNext) {
      known_.ReadReplaced(*snapshot);
      if (clear_next_) return;
    }
    known_.Read(*snapshot, set_);
    if (folder_.is_shared()) known_.ReadCameSince(*snapshot, first_generation_);
  }

  void FindWhatToDo() {
    work_ = FindWork(update_, *own_files_, thumbnails_, set_, known_);
    summary_.unchanged += work_.unchanged;
    summary_.removed += work_.removed;
  }

  void RefuseEmptyFolders() const {
    if (update_.allow_empty || work_.emptied.empty()) return;
    const std::string& folder = work_.emptied.front();
    throw Error(ErrorCode::kNotFound, folder == "." ? update_.root.string() : folder,
                "nothing is found in this folder, of which the library has pictures: is its file "
                "system mounted? If they are all gone, `bitpool index --allow-empty` removes them "
                "from the library");
  }

  // Whether the picture had a place in the library before, maybe with the code of another coder.
  bool WasHere(const std::string& path) const {
    return set_ == PictureSet::kNext ? known_.replaced_paths.contains(path)
                                     : known_.by_path.contains(path);
  }

  void NoteFailure(const std::string& path, const std::string& reason) {
    summary_.failed.push_back({.path = path, .reason = reason});
    if (update_.on_failure) update_.on_failure(summary_.failed.back());
  }

  void NoteUnreadable() {
    for (size_t i = 0; i < work_.unreadable.size(); ++i) {
      NoteFailure(work_.unreadable[i], update_.unreadable[i].reason);
    }
  }

  // Records before the first change that an update is under way, so that what a killed one leaves
  // behind is looked for.
  void BeginChanges() {
    if (work_.missing.empty() && work_.todo.empty() && !new_facts_) return;
    facts_.unfinished = true;
    const auto batch = catalogue_.StartBatch(set_);
    if (folder_.is_shared() && ReadLibraryFacts(*batch, folder_.name()) != old_facts_) {
      claims_->Release();
      throw FactsChanged();
    }
    if (clear_next_) batch->ClearNext();
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  // Some at a time, so that other writers get their turn.
  void RemoveMissing() {
    for (size_t first = 0; first < work_.missing.size(); first += kRemovedAtOnce) {
      const size_t count = std::min(kRemovedAtOnce, work_.missing.size() - first);
      patience_.Try([&] { Remove(std::span(work_.missing).subspan(first, count)); });
    }
  }

  void Remove(std::span<const std::string_view> paths) {
    const auto batch = catalogue_.StartBatch(set_);
    std::vector<uint64_t> gone;
    for (const std::string_view path : paths) {
      if (const auto id = batch->Remove(path)) gone.push_back(*id);
    }
    batch->Commit();
    for (const uint64_t id : gone) thumbnails_.Remove(id);
  }

  void EncodeAll() {
    Progress progress = context_.StartProgress("indexing", "pictures", work_.todo.size());
    if (folder_.is_shared()) return EncodeClaimed(progress);
    for (size_t first = 0; first < work_.todo.size() && !summary_.stopped; first += update_.batch) {
      const size_t count = std::min(update_.batch, work_.todo.size() - first);
      EncodeSome(std::span(work_.todo).subspan(first, count), progress);
    }
  }

  void EncodeClaimed(Progress& progress) {
    ClaimedPictures claimed(env_, update_.root, folder_.name(), work_.todo, *claims_, patience_);
    while (true) {
      const std::vector<FoundPicture> pictures = claimed.Next(update_.batch, context_);
      if (pictures.empty()) break;
      std::vector<const FoundPicture*> chunk;
      chunk.reserve(pictures.size());
      for (const FoundPicture& picture : pictures) chunk.push_back(&picture);
      patience_.Try([&] { LookAtCatalogue(chunk); });
      EncodeSome(chunk, progress);
    }
    summary_.stopped = context_.stopped();
  }

  // Others may have done these pictures since the catalogue was read.
  void LookAtCatalogue(std::span<const FoundPicture* const> chunk) {
    if (set_ == PictureSet::kNext) return;
    const auto snapshot = catalogue_.Snapshot();
    for (const FoundPicture* found : chunk) {
      const auto picture = snapshot->FindByPath(found->path);
      if (!picture) continue;
      known_.Put(*picture).found = true;
    }
  }

  void EncodeSome(std::span<const FoundPicture* const> chunk, Progress& progress) {
    std::vector<ExaminedPicture> pictures(chunk.size());
    context_.pool().ParallelFor(chunk.size(), 1, [&](size_t i, size_t /*end*/) {
      if (context_.stopped()) return;
      const KnownPicture* known = known_.Find(chunk[i]->path);
      if (known != nullptr && IsUnchanged(*known, *chunk[i])) {  // another process has done it
        pictures[i].fate = PictureFate::kTouched;
      } else {
        pictures[i] = ExaminePicture(update_, *chunk[i], known);
      }
      const PictureFate fate = pictures[i].fate;
      if (fate == PictureFate::kFailed || fate == PictureFate::kUnreadable) {
        progress.Advance(1, fmt::format("{} failed", ++failed_));
      } else {
        progress.Advance();
      }
    });
    std::vector<uint64_t> gone;
    patience_.Try([&] { gone = Commit(chunk, pictures); });
    for (const uint64_t id : gone) thumbnails_.Remove(id);
    for (size_t i = 0; i < chunk.size(); ++i) Count(*chunk[i], pictures[i]);
  }

  // Returns the ids that are no longer in use.
  std::vector<uint64_t> Commit(std::span<const FoundPicture* const> chunk,
                               std::vector<ExaminedPicture>& pictures) {
    const auto batch = catalogue_.StartBatch(set_);
    if (folder_.is_shared()) RequireOwnCoder(*batch);
    std::vector<uint64_t> gone = PutExamined(*batch, pictures);
    // Before the commit: what is committed has its thumbnail.
    WriteThumbnails(pictures);
    std::vector<std::string> settled;
    for (size_t i = 0; i < chunk.size(); ++i) {
      const std::string& path = chunk[i]->path;
      const PictureFate fate = pictures[i].fate;
      if (fate == PictureFate::kTouched) batch->Touch(path, chunk[i]->mtime_ns);
      if (fate == PictureFate::kGone) {
        if (const auto id = batch->Remove(path)) gone.push_back(*id);
      }
      if (fate != PictureFate::kPending) settled.push_back(path);
    }
    batch->Settle(settled);
    batch->Commit();
    return gone;
  }

  // Another process may have begun with another coder, or have put the new codes in place.
  void RequireOwnCoder(const CatalogueBatch& batch) const {
    const LibraryFacts now = ReadLibraryFacts(batch, folder_.name()).value_or(LibraryFacts());
    const std::string& coder = set_ == PictureSet::kNext ? now.next_coder : now.coder;
    if (coder == update_.encoding.digest) return;
    throw Error(
        ErrorCode::kResources, folder_.name(),
        "another process is changing the coder of this library; run this again when it is done");
  }

  // Notes for the summary what became of a picture.
  void Count(const FoundPicture& found, const ExaminedPicture& examined) {
    switch (examined.fate) {
      case PictureFate::kPending:
        summary_.stopped = true;
        break;
      case PictureFate::kGone:
        if (WasHere(found.path)) ++summary_.removed;
        break;
      case PictureFate::kUnreadable:
        NoteFailure(found.path, examined.reason);
        break;
      case PictureFate::kTouched:
        ++summary_.unchanged;
        break;
      case PictureFate::kFailed:
        NoteFailure(found.path, examined.picture.failure);
        break;
      case PictureFate::kEncoded:
        ++(WasHere(found.path) ? summary_.changed : summary_.added);
        break;
    }
  }

  void WriteThumbnails(const std::vector<ExaminedPicture>& pictures) const {
    context_.WithoutStop().ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
      thumbnails_.Write(pictures[i].picture.id, pictures[i].thumbnail);
    });
  }

  // For pictures that are as they were; thumbnails are the one part of a library that someone may
  // delete to save space.
  void RemakeThumbnails() {
    if (work_.without_thumbnail.empty()) return;
    Progress progress =
        context_.StartProgress("making thumbnails", "pictures", work_.without_thumbnail.size());
    context_.pool().ParallelFor(work_.without_thumbnail.size(), 1, [&](size_t i, size_t /*end*/) {
      if (context_.stopped()) return;
      const FoundPicture& found = *work_.without_thumbnail[i];
      const KnownPicture& known = *known_.Find(found.path);
      thumbnails_.Write(known.id, ThumbnailOfUnchanged(update_, found, known));
      progress.Advance();
    });
  }

  // For pictures that an older Bitpool indexed. Those of another coder get theirs with their codes.
  void AddHashes() {
    if (set_ != PictureSet::kCurrent || work_.without_hash.empty()) return;
    Progress progress = context_.StartProgress("hashing", "thumbnails", work_.without_hash.size());
    for (size_t first = 0; first < work_.without_hash.size() && !context_.stopped();
         first += kHashesAtOnce) {
      const size_t count = std::min(kHashesAtOnce, work_.without_hash.size() - first);
      std::vector<std::optional<uint64_t>> hashes(count);
      context_.pool().ParallelFor(count, 1, [&](size_t i, size_t /*end*/) {
        hashes[i] =
            HashOfThumbnail(thumbnails_.Read(known_.Find(work_.without_hash[first + i]->path)->id));
        progress.Advance();
      });
      PutHashes(std::span(work_.without_hash).subspan(first, count), hashes);
    }
  }

  void PutHashes(std::span<const FoundPicture* const> chunk,
                 std::span<const std::optional<uint64_t>> hashes) {
    const auto batch = catalogue_.StartBatch(set_);
    if (folder_.is_shared()) RequireOwnCoder(*batch);
    // After the batch began: from now on nobody else changes what is written back.
    const auto snapshot = catalogue_.Snapshot();
    std::vector<CataloguedPicture> hashed;
    for (size_t i = 0; i < chunk.size(); ++i) {
      auto picture = snapshot->FindByPath(chunk[i]->path);
      if (!picture || picture->id != known_.Find(chunk[i]->path)->id || !hashes[i]) continue;
      picture->perceptual_hash = hashes[i];
      hashed.push_back(*std::move(picture));
    }
    batch->PutAll(hashed);
    batch->Commit();
  }

  void SwitchToNext() {
    const auto batch = catalogue_.StartBatch(set_);
    if (folder_.is_shared()) {
      facts_ = ReadLibraryFacts(*batch, folder_.name()).value_or(LibraryFacts());
      if (facts_.next_coder != update_.encoding.digest) return;  // another process did it
    }
    facts_.coder = std::exchange(facts_.next_coder, {});
    facts_.bits = std::exchange(facts_.next_bits, 0);
    facts_.index_generation = 0;
    facts_.index_digest.clear();
    facts_.unfinished = true;  // the thumbnails of the old ones are still there
    sweep_ = true;
    batch->SwitchToNext();
    PutLibraryFacts(*batch, facts_);
    batch->Commit();
  }

  void Finish() {
    const ChangingLibrary library = {.env = env_, .folder = folder_, .catalogue = catalogue_};
    if (!folder_.is_shared()) {
      FinishUpdate(library, facts_, sweep_, context_.WithoutStop());
    } else if (!summary_.stopped) {  // after a stop others, or the next update, do it
      claims_->Release();
      FinishSharedUpdate(library, context_.WithoutStop());
    }
  }

  Env& env_;
  const LibraryFolder& folder_;
  Catalogue& catalogue_;
  uint64_t first_generation_;  // of the catalogue, before pictures were looked for
  const LibraryUpdate& update_;
  const RunContext& context_;
  LibraryThumbnails thumbnails_;
  Patience patience_;

  PictureSet set_ = PictureSet::kCurrent;
  bool clear_next_ = false;  // codes of a coder that is no longer wanted were gathered
  bool new_facts_ = false;   // facts_ differ from what the catalogue has
  bool sweep_ = false;       // there may be files that belong to nothing
  std::optional<LibraryFacts> old_facts_;  // as they were at the beginning
  LibraryFacts facts_;
  std::optional<LibraryFiles> own_files_;
  std::unique_ptr<PictureClaims> claims_;  // of a shared library
  KnownPictures known_;
  UpdateWork work_;
  std::atomic<uint64_t> failed_ = 0;  // pictures, for the progress
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
  while (true) {
    try {
      return Updater(writer, update, context).Run();
    } catch (const FactsChanged&) {  // seen before anything was done
    }
  }
}

}  // namespace bitpool
