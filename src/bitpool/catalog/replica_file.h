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
  void CopyPictures(PostgresDatabase& original, const std::string& which, uint64_t generation);
  void CopyAllChanges(PostgresDatabase& original);
  void TakeOutRemoved(PostgresDatabase& original, const State& now);
  void CopySettings(PostgresDatabase& original);
  void CopyDecisions(PostgresDatabase& original);
  void NoteChange(uint64_t generation, uint64_t id, std::span<const uint8_t> code);

  std::unique_ptr<SqliteDatabase> file_;
  int64_t version_ = -1;  // of the original's state; −1: nothing was copied yet
  uint64_t generation_ = 0;
};

std::string PostgresLibraryId(PostgresDatabase& database);

}  // namespace bitpool
