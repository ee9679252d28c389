#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/sqlite_database.h"

// Shared by the tests of catalogues and libraries.
namespace bitpool::testing {

inline CataloguedPicture MakePicture(const std::string& path, uint64_t content = 1) {
  return {.path = path,
          .size = 1000 + content,
          .modified_ns = -5,
          .content_hash = ~content,  // beyond the signed range
          .code = {0, 1, 255, static_cast<uint8_t>(content)},
          .width = 640,
          .height = 480,
          .failure = ""};
}

inline uint64_t PutOne(Catalogue& catalogue, const CataloguedPicture& picture) {
  const auto batch = catalogue.StartBatch(PictureSet::kCurrent);
  const uint64_t id = batch->Put(picture).id;
  batch->Commit();
  return id;
}

inline std::vector<CataloguedPicture> All(const CatalogueSnapshot& snapshot,
                                          PictureSet set = PictureSet::kCurrent) {
  std::vector<CataloguedPicture> pictures;
  snapshot.ForEach(set, [&](const CataloguedPicture& picture) { pictures.push_back(picture); });
  return pictures;
}
inline std::vector<CataloguedPicture> All(const Catalogue& catalogue) {
  return All(*catalogue.Snapshot());
}

// Runs SQL on a file behind the catalogue's back.
inline void Tamper(const std::filesystem::path& path, const std::string& sql) {
  SqliteDatabase(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false, 0).Execute(sql);
}

// The tables of a catalogue as version 1 had them, empty.
inline void MakeFirstVersion(const std::filesystem::path& path) {
  Tamper(path, R"(
PRAGMA page_size = 4096;
CREATE TABLE pictures(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  content_hash INTEGER NOT NULL,
  code BLOB NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  failure TEXT NOT NULL
) STRICT;
CREATE INDEX failed_pictures ON pictures(id) WHERE failure <> '';
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
PRAGMA application_id = 0x42706361;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
)");
}

}  // namespace bitpool::testing
