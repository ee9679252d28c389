#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/io/file_lock.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// The right to change a library. There is one at a time, but any number for a shared library: what
// they change is ordered by the catalogue.
class LibraryWriter {
 public:
  // Makes the folder and an empty library where there is none, and brings the catalogue of an older
  // version up to date. Throws kResources when another process writes, kUnsupported when a newer
  // Bitpool made the library.
  LibraryWriter(Env& env, const LibraryFolder& folder);
  LibraryWriter(Env& env, const std::filesystem::path& folder)
      : LibraryWriter(env, LibraryFolder(folder)) {}

  Env& env() const { return env_; }
  const LibraryFolder& folder() const { return folder_; }
  Catalogue& catalogue() const { return *catalogue_; }
  // The generation when this began.
  uint64_t first_generation() const { return first_generation_; }
  // What the library says about itself now, or nothing.
  std::optional<LibraryFacts> ReadFacts() const {
    return ReadLibraryFacts(*catalogue_->Snapshot(), folder_.name());
  }

 private:
  Env& env_;
  LibraryFolder folder_;
  std::optional<FileLock> lock_;  // of a library that is not shared
  std::unique_ptr<Catalogue> catalogue_;
  uint64_t first_generation_;
};

}  // namespace bitpool
