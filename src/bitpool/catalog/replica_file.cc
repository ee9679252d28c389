#include "bitpool/catalog/replica_file.h"

#include <fmt/format.h>

#include <bit>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_schema.h"
#include "bitpool/catalog/postgres_snapshot.h"
#include "bitpool/catalog/sqlite_schema.h"
#include "bitpool/catalog/sqlite_snapshot.h"

namespace bitpool {
namespace {

constexpr int kReplicaWaitMs = 5000;

// Beside the tables of a catalogue: whose copy this is, and of which version.
constexpr const char* kReplicaTable =
    "CREATE TABLE IF NOT EXISTS replica(library TEXT NOT NULL, version INTEGER NOT NULL) STRICT";

constexpr const char* kRemovePicture = "DELETE FROM pictures WHERE id = ?1";

// Null when there is none, or something that cannot be used.
std::unique_ptr<SqliteDatabase> TryOpenCopy(const std::filesystem::path& path,
                                            const std::string& library) {
  try {
    auto file = OpenCatalogueToWrite(path, kReplicaWaitMs);
    file->Execute(kReplicaTable);
    SqliteStatement same = file->Prepare("SELECT count(*) FROM replica WHERE library = ?1");
    same.BindText(1, library);
    if (same.Step() && same.Number(0) == 1) {
      same.Reset();
      return file;
    }
  } catch (const Error&) {  // made again
  }
  return nullptr;
}

std::unique_ptr<SqliteDatabase> MakeCopy(const std::filesystem::path& path,
                                         const std::string& library) {
  RemoveSqliteFiles(path);
  auto file = CreateCatalogue(path, kReplicaWaitMs);
  if (!file) throw Error(ErrorCode::kIo, path.string(), "the copy cannot be made");
  file->Execute(kReplicaTable);
  SqliteStatement insert = file->Prepare("INSERT INTO replica VALUES(?1, -1)");
  insert.BindText(1, library);
  insert.Step();
  insert.Reset();
  return file;
}

// Ends the transaction of the original at the end of the block, whatever happens in it.
class ReadTransaction {
 public:
  explicit ReadTransaction(PostgresDatabase& database) : database_(database) {
    database.Execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  ~ReadTransaction() {
    try {
      if (database_.in_transaction()) database_.Execute("COMMIT");
    } catch (...) {  // the connection is lost
    }
  }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;

 private:
  PostgresDatabase& database_;
};

std::span<const uint8_t> BytesOf(const PostgresResult& result, int row, int column) {
  return AsBytes(result.Bytes(row, column));
}

}  // namespace

struct ReplicaFile::State {
  uint64_t generation;
  uint64_t known_since;
  int64_t version;
};

std::string PostgresLibraryId(PostgresDatabase& database) {
  return std::string(database.QueryOnce("SELECT library::text FROM bitpool_state").Bytes(0, 0));
}

ReplicaFile::ReplicaFile(const std::filesystem::path& path, const std::string& library)
    : file_(TryOpenCopy(path, library)) {
  if (!file_) file_ = MakeCopy(path, library);
  // The truth is elsewhere: what a loss of power destroys is copied again.
  file_->Execute("PRAGMA synchronous = NORMAL");
  version_ = file_->ReadNumber("SELECT version FROM replica");
  generation_ = static_cast<uint64_t>(file_->ReadNumber("SELECT generation FROM state"));
}

void ReplicaFile::BringTo(PostgresDatabase& original) {
  const ReadTransaction transaction(original);
  const PostgresResult state =
      original.Query("SELECT generation, known_since, version FROM bitpool_state");
  if (state.rows() != 1) {
    throw Error(ErrorCode::kCorrupt, original.name(), "the catalogue has no state");
  }
  const State now = {.generation = static_cast<uint64_t>(state.Number(0, 0)),
                     .known_since = static_cast<uint64_t>(state.Number(0, 1)),
                     .version = state.Number(0, 2)};
  if (now.version == version_) return;
  file_->Execute("BEGIN IMMEDIATE");
  try {
    Apply(original, now);
    file_->Execute("COMMIT");
  } catch (...) {
    if (file_->in_transaction()) file_->Execute("ROLLBACK");
    throw;
  }
  version_ = now.version;
  generation_ = now.generation;
}

void ReplicaFile::Apply(PostgresDatabase& original, const State& now) {
  // A version that went backwards means that the database was restored.
  const bool follow = version_ >= 0 && version_ < now.version && generation_ >= now.known_since;
  if (follow) {
    TakeOutRemoved(original);
    CopyPictures(original, fmt::format("WHERE version > {}", version_));
    CopyChanges(original, generation_);
  } else {
    file_->Execute("DELETE FROM pictures; DELETE FROM changes");
    CopyPictures(original, "");
    CopyChanges(original, 0);
  }
  CopySettings(original);
  CopyDecisions(original);
  file_->Execute(
      fmt::format("DELETE FROM changes WHERE generation <= {1}; "
                  "UPDATE state SET generation = {0}, known_since = {1}; "
                  "UPDATE replica SET version = {2}",
                  now.generation, now.known_since, now.version));
}

void ReplicaFile::TakeOutRemoved(PostgresDatabase& original) {
  SqliteStatement remove = file_->Prepare(kRemovePicture);
  ForEachPostgresRow(
      original,
      fmt::format("SELECT id FROM bitpool_changes WHERE code IS NULL AND generation > {}",
                  generation_),
      [&](const PostgresResult& result, int row) {
        const StatementUse use(remove);
        use->Bind(1, result.Number(row, 0));
        use->Step();
      });
}

void ReplicaFile::CopyPictures(PostgresDatabase& original, const std::string& which) {
  SqliteStatement remove = file_->Prepare(kRemovePicture);
  SqliteStatement insert = file_->Prepare(InsertPicture("pictures"));
  ForEachPostgresRow(
      original, fmt::format("SELECT {} FROM bitpool_pictures {}", kPostgresPictureColumns, which),
      [&](const PostgresResult& result, int row) {
        const CataloguedPicture picture = ReadPostgresPicture(result, row);
        {
          const StatementUse use(remove);
          use->Bind(1, std::bit_cast<int64_t>(picture.id));
          use->Step();
        }
        const StatementUse use(insert);
        BindPicture(insert, picture.id, picture);
        use->Step();
      });
}

// All of them, each with its generation: also of ids that came and went since the last time, which
// an index file may have that was written in between.
void ReplicaFile::CopyChanges(PostgresDatabase& original, uint64_t since) {
  SqliteStatement note =
      file_->Prepare("INSERT INTO changes(generation, id, code) VALUES(?1, ?2, ?3)");
  ForEachPostgresRow(
      original,
      fmt::format("SELECT generation, id, code FROM bitpool_changes WHERE coded AND "
                  "generation > {}",
                  since),
      [&](const PostgresResult& result, int row) {
        const std::vector<uint8_t> code = result.Code(row, 2);
        const StatementUse use(note);
        use->Bind(1, result.Number(row, 0)).Bind(2, result.Number(row, 1)).BindBytes(3, code);
        use->Step();
      });
}

void ReplicaFile::CopySettings(PostgresDatabase& original) {
  file_->Execute("DELETE FROM settings");
  SqliteStatement insert = file_->Prepare("INSERT INTO settings(key, value) VALUES(?1, ?2)");
  const PostgresResult all = original.Query("SELECT key, value FROM bitpool_settings");
  for (int row = 0; row < all.rows(); ++row) {
    const StatementUse use(insert);
    use->BindText(1, all.Bytes(row, 0)).BindText(2, all.Bytes(row, 1));
    use->Step();
  }
}

void ReplicaFile::CopyDecisions(PostgresDatabase& original) {
  file_->Execute("DELETE FROM decisions");
  SqliteStatement insert = file_->Prepare(
      "INSERT INTO decisions(id, kind, first_path, first_size, first_hash, "
      "second_path, second_size, second_hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
  const PostgresResult all = original.Query(
      "SELECT id, kind, first_path, first_size, first_hash, second_path, second_size, second_hash "
      "FROM bitpool_decisions");
  for (int row = 0; row < all.rows(); ++row) {
    const StatementUse use(insert);
    for (const int column : {0, 1, 3, 4, 6, 7}) use->Bind(column + 1, all.Number(row, column));
    for (const int column : {2, 5}) use->BindBytes(column + 1, BytesOf(all, row, column));
    use->Step();
  }
}

}  // namespace bitpool
