#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/library/library_folder.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/picture_examination.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// What the catalogue says about the pictures of a library that is brought up to date.
struct KnownPictures {
  std::unordered_map<std::string, KnownPicture> by_path;  // of the set that the update works on
  std::unordered_set<std::string> replaced_paths;  // of the current set, if by_path is of the next
  std::unordered_set<uint64_t> came_since;         // ids, of a shared library

  void Read(const CatalogueSnapshot& snapshot, PictureSet set);
  void ReadReplaced(const CatalogueSnapshot& snapshot);
  // Pictures that others have added since this generation, when this process looked for pictures,
  // do not count as missing.
  void ReadCameSince(const CatalogueSnapshot& snapshot, uint64_t generation);

  KnownPicture& Put(const CataloguedPicture& picture);
  KnownPicture* Find(const std::string& path);  // null when there is none
};

// What an update has to do.
struct UpdateWork {
  std::vector<const FoundPicture*> todo;               // new, or maybe changed
  std::vector<const FoundPicture*> without_thumbnail;  // but otherwise as they were
  std::vector<const FoundPicture*> without_hash;       // the same
  std::vector<std::string_view> missing;               // of the known
  std::vector<std::string> unreadable;                 // paths, as those of pictures are
  // Folders, as IsInFolder has them, that have lost all their pictures.
  std::vector<std::string> emptied;
  uint64_t unchanged = 0;
  uint64_t removed = 0;
};

// Whether a picture seems to be the one that is known, so that it need not be read.
bool IsUnchanged(const KnownPicture& known, const FoundPicture& found);

// Compares the pictures that were found with those that are known of the set, and notes with these
// that they were found. The work points into the update and the known pictures.
UpdateWork FindWork(const LibraryUpdate& update, const LibraryFiles& own_files,
                    const LibraryThumbnails& thumbnails, PictureSet set, KnownPictures& known);

}  // namespace bitpool
