#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/postgres_database.h"

// What this room shares: the tables of a catalogue in PostgreSQL, and opening them. Everything that
// knows the columns of pictures is here. Not for users.
namespace bitpool {

inline constexpr int64_t kPostgresCatalogueVersion = 1;

// The table of a set, and that of its pictures that are to be done.
const char* PostgresTableOf(PictureSet set);
const char* PostgresClaimsOf(PictureSet set);

// The columns that ReadPostgresPicture takes, in their order.
extern const char* const kPostgresPictureColumns;
CataloguedPicture ReadPostgresPicture(const PostgresResult& result, int row);

// Writes pictures with their ids to a table, by COPY. `version` is that of the change.
class PostgresPictureCopy {
 public:
  PostgresPictureCopy(PostgresDatabase& database, PictureSet set, int64_t version);
  void Add(uint64_t id, const CataloguedPicture& picture);
  void Finish() { copy_.Finish(); }

 private:
  PostgresCopy copy_;
  int64_t version_;
};

// Updates the row of a picture that keeps its id.
void UpdatePostgresPicture(PostgresDatabase& database, PictureSet set, uint64_t id,
                           const CataloguedPicture& picture, int64_t version);

// Connects, and checks that there is a catalogue that this program can read; with kCreate it is
// made where there is none. Throws as OpenCatalogue.
std::unique_ptr<PostgresDatabase> OpenPostgresDatabase(const std::string& address,
                                                       CatalogueAccess access);

// The channel on which every change is announced.
std::string PostgresChannelOf(PostgresDatabase& database);

}  // namespace bitpool
