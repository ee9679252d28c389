#pragma once

#include <filesystem>
#include <optional>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_update.h"

namespace bitpool {

// What `bitpool index` is asked to do.
struct FolderIndexing {
  std::filesystem::path folder;        // of pictures, with the folders in it
  std::filesystem::path library = {};  // its folder; empty: .bitpool in the folder of pictures
  std::optional<int> bits = {};        // of a new library; unset: as CoderTraining has it
  // A coder's file (.bpc). Empty: the library's own, or, where it has none, one that is learned
  // from the pictures.
  std::filesystem::path coder = {};

  std::filesystem::path library_folder() const {
    return library.empty() ? folder / ".bitpool" : library;
  }
};

// Makes the library of a folder of pictures, or brings it up to date. The coder that was used is
// the library's from then on. Throws kNotFound when there is nothing to learn a coder from,
// kInvalidArgument when the library's coder has other bits than were asked for, kCancelled when it
// was stopped before there was a coder, and as FindPictures, LibraryWriter, OpenCoder, TrainCoder
// and UpdateLibrary.
UpdateSummary IndexFolder(Env& env, const FolderIndexing& indexing, const RunContext& context);

}  // namespace bitpool
