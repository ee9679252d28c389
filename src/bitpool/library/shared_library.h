#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/io/file_lock.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// A shared library: its catalogue is in a PostgreSQL database, its files (coders, thumbnails, index
// files) are in a folder, the storage, that every machine sees under the same path. The catalogue
// names the storage, and a file in the storage names the library, so that one that is not mounted,
// or another one, is noticed.

// The library at a location: a folder, or the address of a database. Throws kNotFound when there is
// no library in the database or its storage is not there, and kCorrupt when the storage is another
// library's.
//
// `cache` is a folder for what this machine keeps of shared libraries; empty: nothing is kept.
LibraryFolder LocateLibrary(Env& env, const std::filesystem::path& location,
                            const std::filesystem::path& cache = {});

// The same, and makes what is missing: `storage` is for a library that is new, and otherwise empty
// or the one it has. Throws kInvalidArgument for a new shared library without a storage, or for
// another one.
LibraryFolder PrepareLibrary(Env& env, const std::filesystem::path& location,
                             const std::filesystem::path& storage);

// A copy of a shared library's catalogue that follows it.
struct FollowedCatalogue {
  std::unique_ptr<FileLock> lock;  // of the file of the copy
  std::unique_ptr<Catalogue> catalogue;
};
// The copy is a file in `cache`, which stays for the next time. `tell` as ReplicaOptions has it.
FollowedCatalogue FollowCatalogue(Env& env, const LibraryFolder& folder,
                                  const std::filesystem::path& cache,
                                  const std::function<void(const std::string&)>& tell);

}  // namespace bitpool
