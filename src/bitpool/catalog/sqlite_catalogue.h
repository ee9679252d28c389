#pragma once

#include <filesystem>
#include <memory>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

struct SqliteOptions {
  int wait_ms = 5000;  // how long to wait for another process that is writing
};

// A catalogue in an SQLite database. Beside it stand the files NAME-wal, which belongs to it, and
// NAME-shm; the last writer that closes removes both. SQLite does its own file operations; they do
// not go through Env. A snapshot is a read transaction on a connection of its own, which is kept
// for the next one. Reading works in folders one may not write to. Throws as OpenCatalogue.
std::unique_ptr<Catalogue> OpenSqliteCatalogue(const std::filesystem::path& path,
                                               CatalogueAccess access,
                                               const SqliteOptions& options = {});

}  // namespace bitpool
