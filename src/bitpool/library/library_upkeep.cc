#include "bitpool/library/library_upkeep.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "bitpool/index/index_file.h"
#include "bitpool/library/library_index.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_examination.h"

namespace bitpool {
namespace {

// The index file is rewritten when more than one code in this many has changed since. Until then
// whoever opens it applies the changes, which takes a few hundredths of a second for a hundred
// thousand. Over many updates a code is written about this many times for each that changed.
constexpr uint64_t kChangedShare = 10;

bool IsUpToDate(const CatalogueSnapshot& catalogue, const LibraryFacts& facts,
                std::optional<Index> codes_in_file) {
  if (!codes_in_file) return false;
  const std::optional<uint64_t> changes = catalogue.CountChanges(facts.index_generation);
  return changes && *changes * kChangedShare <= static_cast<uint64_t>(*codes_in_file);
}

void RemoveStrayThumbnails(const ChangingLibrary& library) {
  std::vector<uint64_t> ids;
  const auto snapshot = library.catalogue.Snapshot();
  for (const PictureSet set : {PictureSet::kCurrent, PictureSet::kNext}) {
    snapshot->ForEach(set, [&](const CataloguedPicture& picture) {
      if (CanBeSeen(picture)) ids.push_back(picture.id);
    });
  }
  std::ranges::sort(ids);
  LibraryThumbnails(library.env, library.folder).RemoveAllBut(ids);
}

// The same while others may be writing thumbnails. Those of a batch are there before it is
// committed.
void RemoveStraySharedThumbnails(const ChangingLibrary& library) {
  const LibraryThumbnails thumbnails(library.env, library.folder);
  const std::vector<uint64_t> listed = thumbnails.List();
  // Batches follow each other: when this one can begin, those whose thumbnails were listed are
  // over.
  library.catalogue.StartBatch(PictureSet::kCurrent);
  std::unordered_set<uint64_t> used;
  const auto snapshot = library.catalogue.Snapshot();
  for (const PictureSet set : {PictureSet::kCurrent, PictureSet::kNext}) {
    snapshot->ForEach(set, [&](const CataloguedPicture& picture) { used.insert(picture.id); });
  }
  for (const uint64_t id : listed) {
    if (!used.contains(id)) thumbnails.Remove(id);
  }
}

// Temporaries of a process that was killed while it replaced a file, coders that are no longer
// used, and the index file of version 1.
void RemoveStrayFiles(const ChangingLibrary& library, const LibraryFacts& facts) {
  if (library.folder.is_shared()) return;  // others may be about to use them
  const auto name_of = [&](const std::string& coder) {
    return library.folder.coder(coder).filename().string();
  };
  for (const std::string& name : library.env.List(library.folder.path())) {
    const bool temporary = name.starts_with('.') && name.ends_with(".tmp");
    const bool old_coder = name.starts_with("coder-") && name.ends_with(".bpc") &&
                           name != name_of(facts.coder) && name != name_of(facts.next_coder);
    if (temporary || old_coder || name == "codes.bpx") {
      library.env.Remove(library.folder.path() / name);
    }
  }
}

// Writes the codes of the catalogue to a file, and notes in the facts that it did.
void WriteIndexFile(const ChangingLibrary& library, const CatalogueSnapshot& catalogue,
                    const std::filesystem::path& file, LibraryFacts& facts) {
  const IndexSnapshot codes = LibraryIndex(library.env, library.folder).BringTo(catalogue, facts);
  SaveIndex(library.env, file, codes, IfExists::kReplace);
  facts.index_generation = catalogue.generation();
  facts.index_digest = IndexFile::Open(library.env, file).digest();
}

// An index file that no other process knows of, and that is gone after this unless it was given its
// name in the meantime.
class NewSharedIndex {
 public:
  explicit NewSharedIndex(const ChangingLibrary& library) : library_(library) {
    std::random_device device;
    path_ = library.folder.path() / fmt::format("codes-new-{:08x}{:08x}.bpi", device(), device());
  }
  ~NewSharedIndex() {
    try {
      if (library_.env.Exists(path_)) library_.env.Remove(path_);
    } catch (...) {  // litter, but nothing that is ever read
    }
  }
  NewSharedIndex(const NewSharedIndex&) = delete;
  NewSharedIndex& operator=(const NewSharedIndex&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void GiveName(const std::string& digest) const {
    library_.env.Rename(path_, library_.folder.index(digest));
    library_.env.SyncFolder(library_.folder.path());
  }

 private:
  const ChangingLibrary& library_;
  std::filesystem::path path_;
};

// Readers use the newest index file, or the one before as long as they have not heard of it. What
// is newest may already be the file of another process: it is looked up within a batch, during
// which no other process gives a file its name or removes one.
void RemoveOldIndexFiles(const ChangingLibrary& library, const std::string& before) {
  const auto batch = library.catalogue.StartBatch(PictureSet::kCurrent);
  const LibraryFacts now = ReadLibraryFacts(*batch, library.folder.name()).value();
  for (const std::string& name : library.env.List(library.folder.path())) {
    const bool ours =
        name.starts_with("codes-") && name.ends_with(".bpi") && !name.starts_with("codes-new-");
    const bool used = library.folder.path() / name == library.folder.index(now.index_digest) ||
                      library.folder.path() / name == library.folder.index(before);
    if (ours && !used) library.env.Remove(library.folder.path() / name);
  }
}

}  // namespace

void FinishUpdate(const ChangingLibrary& library, LibraryFacts facts, bool sweep,
                  const RunContext& context) {
  if (sweep) RemoveStrayThumbnails(library);
  RemoveStrayFiles(library, facts);
  const auto snapshot = library.catalogue.Snapshot();
  const std::optional<Index> codes_in_file =
      CodesInSoundFile(library.env, library.folder, facts, context);
  if (!codes_in_file) facts.index_digest.clear();  // what is there is not used
  const bool write = !IsUpToDate(*snapshot, facts, codes_in_file);
  if (!write && !facts.unfinished) return;
  if (write) WriteIndexFile(library, *snapshot, library.folder.index(), facts);
  facts.unfinished = false;
  const auto batch = library.catalogue.StartBatch(PictureSet::kCurrent);
  PutLibraryFacts(*batch, facts);
  if (write) batch->ForgetChanges(facts.index_generation);
  batch->Commit();
}

void FinishSharedUpdate(const ChangingLibrary& library, const RunContext& context) {
  const auto snapshot = library.catalogue.Snapshot();
  LibraryFacts facts = ReadLibraryFacts(*snapshot, library.folder.name()).value();
  const LibraryFacts before = facts;
  const std::optional<Index> codes_in_file =
      CodesInSoundFile(library.env, library.folder, facts, context);
  if (!codes_in_file) facts.index_digest.clear();
  const bool write = !IsUpToDate(*snapshot, facts, codes_in_file);
  const NewSharedIndex file(library);
  if (write) WriteIndexFile(library, *snapshot, file.path(), facts);
  const bool sweep =
      facts.unfinished && !library.catalogue.StartBatch(PictureSet::kCurrent)->IsWorkUnderWay();
  if (sweep) RemoveStraySharedThumbnails(library);
  const auto batch = library.catalogue.StartBatch(PictureSet::kCurrent);
  LibraryFacts now = ReadLibraryFacts(*batch, library.folder.name()).value();
  const bool newest =
      write && now.coder == facts.coder && now.index_generation <= facts.index_generation;
  if (newest) {
    file.GiveName(facts.index_digest);
    // Readers that have the file before can still follow.
    batch->ForgetChanges(now.index_generation);
    now.index_generation = facts.index_generation;
    now.index_digest = facts.index_digest;
  }
  if (sweep && !batch->IsWorkUnderWay()) now.unfinished = false;
  PutLibraryFacts(*batch, now);
  batch->Commit();
  if (newest) RemoveOldIndexFiles(library, before.index_digest);
}

}  // namespace bitpool
