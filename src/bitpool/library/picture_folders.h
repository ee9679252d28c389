#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

// Which folders an update is asked to look through.
struct FolderChoice {
  // Folders of pictures, with the folders in them. Empty: those that the library records. If one of
  // them is the library's already, or the library is new, the others are added to it.
  std::vector<std::filesystem::path> folders = {};
  // What is left out from now on, as PictureSearch has it. Unset: what the library records.
  std::optional<std::vector<std::string>> exclude = {};
};

// The folders of a library and what was found in them; hidden folders are left alone.
struct FoundInFolders {
  std::filesystem::path root;        // the folder of pictures
  std::vector<std::string> folders;  // further ones, absolute
  std::vector<std::string> exclude;
  std::vector<FoundPicture> found;  // by path; in further folders paths are absolute
  // What could not be looked at, including a further folder that is not there now, whose pictures
  // stay.
  std::vector<FailedPicture> unreadable;
};

// `facts` are what the library says about itself, if there is one. Throws kInvalidArgument when no
// folder is named or known, or a folder contains another of the library, and as FindPictures.
FoundInFolders FindInFolders(Env& env, const LibraryFolder& library,
                             const std::optional<LibraryFacts>& facts, const FolderChoice& choice,
                             const RunContext& context);

// What an update would do, by its coder and the sizes and times of files alone.
struct UpdatePlan {
  uint64_t added = 0;
  uint64_t changed = 0;  // at least looked at again, or encoded by another coder
  uint64_t removed = 0;
  uint64_t unchanged = 0;
  uint64_t bytes = 0;  // of the files that would be read
  std::vector<FailedPicture> unreadable;
};

// What is known of a library before an update.
struct LibraryBefore {
  std::unique_ptr<CatalogueSnapshot> catalogue;  // null: there is no library
  std::optional<LibraryFacts> facts;
};

// Compares the folders with the library; the coder is null when it is to be learned. Changes
// nothing.
UpdatePlan PlanUpdate(const FoundInFolders& folders, const LibraryBefore& library,
                      const PictureCoder* coder);

}  // namespace bitpool
