#include "bitpool/library/library_upkeep.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/index/index_file.h"
#include "bitpool/library/library_index.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_examination.h"

namespace bitpool {
namespace {

// The index file is written anew when more than one code in so many has changed since. Until then
// whoever opens it applies the changes, which takes a few hundredths of a second for a hundred
// thousand. Over many updates a code is written about so many times for each that changed.
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

// Temporaries of a process that was killed while it replaced a file, coders that are no longer
// used, and the index file of version 1.
void RemoveStrayFiles(const ChangingLibrary& library, const LibraryFacts& facts) {
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

// Writes the codes of the catalogue, and notes in the facts that it did.
void WriteIndexFile(const ChangingLibrary& library, const CatalogueSnapshot& catalogue,
                    LibraryFacts& facts) {
  const IndexSnapshot codes = LibraryIndex(library.env, library.folder).BringTo(catalogue, facts);
  codes.RequireVerified();
  SaveIndex(library.env, library.folder.index(), codes, IfExists::kReplace);
  facts.index_generation = catalogue.generation();
  facts.index_digest = IndexFile::Open(library.env, library.folder.index()).digest();
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
  if (write) WriteIndexFile(library, *snapshot, facts);
  facts.unfinished = false;
  const auto batch = library.catalogue.StartBatch(PictureSet::kCurrent);
  PutLibraryFacts(*batch, facts);
  if (write) batch->ForgetChanges(facts.index_generation);
  batch->Commit();
}

}  // namespace bitpool
