#pragma once

#include <filesystem>
#include <memory>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

enum class CatalogueAccess { kRead, kWrite };

struct SqliteOptions {
  int wait_ms = 5000;  // how long to wait for another process that is writing
};

// A catalogue in an SQLite database. Beside it stand the files NAME-wal, which belongs to it, and
// NAME-shm; the last writer that closes removes both. SQLite does its own file operations; they do
// not go through Env.

// Makes an empty catalogue. Throws kInvalidArgument when there is a file that is not empty.
std::unique_ptr<Catalogue> CreateSqliteCatalogue(const std::filesystem::path& path,
                                                 const SqliteOptions& options = {});

// Throws kNotFound when there is no file, kCorrupt when it is damaged or no catalogue, and
// kUnsupported when a newer Bitpool made it. Reading works in folders one may not write to.
std::unique_ptr<Catalogue> OpenSqliteCatalogue(const std::filesystem::path& path,
                                               CatalogueAccess access,
                                               const SqliteOptions& options = {});

}  // namespace bitpool
