#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/sqlite_database.h"

// What this room shares: reading a catalogue in SQLite. Not for users.
namespace bitpool {

// The name of the table of a set.
const char* TableOf(PictureSet set);

// All pictures of a table that `which` selects, with the columns that ReadPicture takes.
std::string SelectPictures(const char* table, std::string_view which, int64_t version);
CataloguedPicture ReadPicture(const SqliteStatement& row);
// A statement that inserts a picture, and its parameters.
std::string InsertPicture(const char* table);
void BindPicture(SqliteStatement& statement, uint64_t id, const CataloguedPicture& picture);

// A connection for reading, with the statements it needs, prepared once.
struct ReadConnection {
  explicit ReadConnection(std::unique_ptr<SqliteDatabase> opened);

  std::unique_ptr<SqliteDatabase> database;
  int64_t version;  // of the catalogue when it was opened
  SqliteStatement version_now;
  SqliteStatement state;
  SqliteStatement find_path;
  SqliteStatement find_id;
  SqliteStatement setting;
};

// The connections of a catalogue that no snapshot uses at present. May be used from many threads.
class ReadConnections {
 public:
  // Opens the first connection, and throws what is wrong with the catalogue.
  ReadConnections(std::filesystem::path path, int wait_ms);

  std::unique_ptr<ReadConnection> Take();
  void GiveBack(std::unique_ptr<ReadConnection> connection);

 private:
  std::filesystem::path path_;
  int wait_ms_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<ReadConnection>> idle_;
};

std::unique_ptr<CatalogueSnapshot> TakeSqliteSnapshot(
    const std::shared_ptr<ReadConnections>& connections);

}  // namespace bitpool
