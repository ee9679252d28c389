#pragma once

#include <filesystem>
#include <memory>

#include "bitpool/catalog/sqlite_database.h"

// What this room shares: the tables of a catalogue in SQLite, and opening them. Not for users.
namespace bitpool {

inline constexpr int64_t kCatalogueVersion = 4;

// Opens for reading, even a catalogue of an older version, and even where nothing may be written.
std::unique_ptr<SqliteDatabase> OpenCatalogueToRead(const std::filesystem::path& path, int wait_ms);

// Opens for writing and brings the tables up to date.
std::unique_ptr<SqliteDatabase> OpenCatalogueToWrite(const std::filesystem::path& path,
                                                     int wait_ms);

// Makes the tables in a file that is not there or empty. Null when there is something else in it.
std::unique_ptr<SqliteDatabase> CreateCatalogue(const std::filesystem::path& path, int wait_ms);

}  // namespace bitpool
