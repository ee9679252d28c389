#include "bitpool/catalog/sqlite_schema.h"

#include <fmt/format.h>

#include <array>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr int64_t kApplication = 0x42706361;  // "Bpca" in the file's header: a catalogue of Bitpool
constexpr uint64_t kPageSize = 4096;

// The columns of both sets of pictures. Paths are bytes, compared byte by byte.
constexpr const char* kPictureColumns = R"((
  id INTEGER PRIMARY KEY,
  path BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  content_hash INTEGER NOT NULL,
  code BLOB NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  failure TEXT NOT NULL
) STRICT;
)";

// What version 1 had. Its ids were AUTOINCREMENT; now they are counted in the table `state`,
// because both sets of pictures share them.
std::string FirstTables() {
  return fmt::format(R"(
CREATE TABLE pictures{}
CREATE INDEX failed_pictures ON pictures(id) WHERE failure <> '';
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
)",
                     kPictureColumns);
}

// What version 2 added. A change of a code is an id that was added with its code, or one that was
// removed: then the code is empty. Changes up to the generation `known_since` are no longer there.
std::string LaterTables() {
  return fmt::format(R"(
CREATE TABLE next_pictures{}
CREATE TABLE changes(
  generation INTEGER NOT NULL,
  id INTEGER NOT NULL,
  code BLOB NOT NULL,
  PRIMARY KEY(generation, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE state(
  only_row INTEGER PRIMARY KEY CHECK(only_row = 1),
  last_id INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  known_since INTEGER NOT NULL
) STRICT;
)",
                     kPictureColumns);
}

// What version 3 added: what the user decided. Ids are never reused, so that whoever undoes a
// decision undoes that one.
constexpr const char* kDecisionsTable = R"(
CREATE TABLE decisions(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind INTEGER NOT NULL,
  first_path BLOB NOT NULL,
  first_size INTEGER NOT NULL,
  first_hash INTEGER NOT NULL,
  second_path BLOB NOT NULL,
  second_size INTEGER NOT NULL,
  second_hash INTEGER NOT NULL
) STRICT;
)";

// What version 4 added: what pictures look like. NULL where that is not known.
constexpr const char* kHashColumns = R"(
ALTER TABLE pictures ADD COLUMN perceptual_hash INTEGER;
ALTER TABLE next_pictures ADD COLUMN perceptual_hash INTEGER;
)";

void PrepareToWrite(SqliteDatabase& database) {
  if (database.read_only()) database.Fail(SQLITE_READONLY);
  // The write-ahead log: readers go on while someone writes. FULL: a commit that returned survives
  // the loss of power, or ids that an index already holds could be given out again. It costs one
  // sync for each batch.
  database.ReadNumber("PRAGMA journal_mode = WAL");
  database.Execute("PRAGMA synchronous = FULL");
}

// An empty log holds nothing; readers leave such a log behind.
bool HasLog(const std::filesystem::path& path) {
  std::filesystem::path log = path;
  log += "-wal";
  std::error_code missing;
  return std::filesystem::file_size(log, missing) > 0 && !missing;
}

// SQLite reads the missing part of the last page as zeros. (A log may hold that page.)
bool LastPageIsCut(const std::filesystem::path& path) {
  std::error_code failed;
  return !HasLog(path) && std::filesystem::file_size(path, failed) % kPageSize != 0 && !failed;
}

// Only plain tables and indices: a view or a trigger in a file from elsewhere could run for ever,
// or change what is read.
void CheckTables(SqliteDatabase& database, int64_t version) {
  const int64_t odd = database.ReadNumber(
      "SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR "
      "(type = 'table' AND sql NOT LIKE 'CREATE TABLE%')");
  const int64_t tables = database.ReadNumber(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND "
      "name IN ('pictures', 'settings', 'next_pictures', 'changes', 'state', 'decisions')");
  constexpr std::array<int64_t, kCatalogueVersion> kTables = {2, 5, 6, 6};  // by the version
  if (odd == 0 && tables == kTables[static_cast<size_t>(version - 1)]) return;
  throw Error(ErrorCode::kCorrupt, database.name(),
              "the catalogue is damaged (it has other tables)");
}

// The version.
int64_t CheckIsCatalogue(SqliteDatabase& database, bool last_page_is_cut) {
  const int64_t application = database.ReadNumber("PRAGMA application_id");
  const int64_t version = database.ReadNumber("PRAGMA user_version");
  if (application != kApplication || version < 1) {
    throw Error(ErrorCode::kCorrupt, database.name(), "not a catalogue of Bitpool");
  }
  if (version > kCatalogueVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{}: a newer Bitpool made it (version {} of the catalogue, this "
                            "program reads up to {})",
                            database.name(), version, kCatalogueVersion));
  }
  if (last_page_is_cut) {
    throw Error(ErrorCode::kCorrupt, database.name(),
                "the catalogue is damaged (the last page is cut off)");
  }
  CheckTables(database, version);
  return version;
}

std::unique_ptr<SqliteDatabase> OpenExisting(const std::filesystem::path& path, int flags,
                                             bool immutable, int wait_ms) {
  const bool last_page_is_cut = LastPageIsCut(path);
  auto database = std::make_unique<SqliteDatabase>(path, flags, immutable, wait_ms);
  CheckIsCatalogue(*database, last_page_is_cut);
  return database;
}

void AddLaterTables(SqliteDatabase& database) {
  database.Execute(LaterTables());
  database.Execute(
      "INSERT INTO state SELECT 1, "
      "max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'pictures'), 0), "
      "    coalesce((SELECT max(id) FROM pictures), 0)), number, number FROM "
      "(SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings "
      "                  WHERE key = 'generation'), 0) AS number);"
      "DELETE FROM settings WHERE key = 'generation'");
}

// One transaction, so that the catalogue is of one version or the other at any moment.
void Upgrade(SqliteDatabase& database) {
  database.Execute("BEGIN IMMEDIATE");
  try {
    const int64_t version = database.ReadNumber("PRAGMA user_version");  // someone may be faster
    if (version < 2) AddLaterTables(database);
    if (version < 3) database.Execute(kDecisionsTable);
    if (version < 4) database.Execute(kHashColumns);
    database.Execute(fmt::format("PRAGMA user_version = {}", kCatalogueVersion));
    database.Execute("COMMIT");
  } catch (const Error&) {
    if (database.in_transaction()) database.Execute("ROLLBACK");
    throw;
  }
}

// Starts the transaction that makes the catalogue. False when the file is in use for something.
bool BeginIfEmpty(SqliteDatabase& database) {
  try {
    database.Execute("BEGIN EXCLUSIVE");
    return database.ReadNumber("PRAGMA schema_version") == 0;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCorrupt) return false;  // no database
    throw;
  }
}

}  // namespace

std::unique_ptr<SqliteDatabase> OpenCatalogueToRead(const std::filesystem::path& path,
                                                    int wait_ms) {
  try {
    return OpenExisting(path, SQLITE_OPEN_READONLY, false, wait_ms);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || HasLog(path)) throw;
  }
  // Not even the files beside the database that the log needs may be written. They are missing
  // only if nobody is writing.
  return OpenExisting(path, SQLITE_OPEN_READONLY, true, wait_ms);
}

std::unique_ptr<SqliteDatabase> OpenCatalogueToWrite(const std::filesystem::path& path,
                                                     int wait_ms) {
  auto database = OpenExisting(path, SQLITE_OPEN_READWRITE, false, wait_ms);
  PrepareToWrite(*database);
  if (database->ReadNumber("PRAGMA user_version") < kCatalogueVersion) Upgrade(*database);
  return database;
}

std::unique_ptr<SqliteDatabase> CreateCatalogue(const std::filesystem::path& path, int wait_ms) {
  auto database = std::make_unique<SqliteDatabase>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                                   false, wait_ms);
  database->Execute(fmt::format("PRAGMA page_size = {}", kPageSize));
  // One transaction: what a process that is killed here leaves counts as empty.
  if (!BeginIfEmpty(*database)) return nullptr;
  database->Execute(FirstTables() + LaterTables() + kDecisionsTable + kHashColumns +
                    "INSERT INTO state VALUES(1, 0, 0, 0);");
  database->Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                                kApplication, kCatalogueVersion));
  PrepareToWrite(*database);
  return database;
}

}  // namespace bitpool
