#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bitpool/catalog/postgres_database.h"
#include "bitpool/catalog/sqlite_database.h"

// What this room shares: the file of a copy. Not for users.
namespace bitpool {

// An SQLite catalogue that is made equal to one in PostgreSQL. One thread at a time.
class ReplicaFile {
 public:
  // `library` is the id of the original, as PostgresLibraryId gives it.
  ReplicaFile(const std::filesystem::path& path, const std::string& library);

  // Brings the file to the version that the original has now, in one change.
  void BringTo(PostgresDatabase& original);

 private:
  struct State;

  void Apply(PostgresDatabase& original, const State& now);
  void TakeOutRemoved(PostgresDatabase& original);
  void CopyPictures(PostgresDatabase& original, const std::string& which);
  void CopyChanges(PostgresDatabase& original, uint64_t since);
  void CopySettings(PostgresDatabase& original);
  void CopyDecisions(PostgresDatabase& original);

  std::unique_ptr<SqliteDatabase> file_;
  int64_t version_ = -1;  // of the original's state; −1: nothing was copied yet
  uint64_t generation_ = 0;
};

std::string PostgresLibraryId(PostgresDatabase& database);

}  // namespace bitpool
