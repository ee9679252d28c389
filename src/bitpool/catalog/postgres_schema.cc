#include "bitpool/catalog/postgres_schema.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// The columns of both sets of pictures. Paths and reasons are any bytes. A code is NULL where there
// is none; its bits are in the order of the code, so that distances can be computed in SQL.
// `version` is that of the state when the row was written.
constexpr const char* kPictureTable = R"((
  id bigint PRIMARY KEY,
  path bytea NOT NULL UNIQUE,
  size bigint NOT NULL,
  modified_ns bigint NOT NULL,
  content_hash bigint NOT NULL,
  code bit varying,
  width bigint NOT NULL,
  height bigint NOT NULL,
  failure bytea NOT NULL,
  perceptual_hash bigint,
  version bigint NOT NULL
);
)";

// A change is an id that was added with its code, or one that was removed: then the code is NULL.
// `coded` is false for a removed id that had no code. Changes up to the generation `known_since`
// are no longer there. The state's version counts all commits, its generation those that changed
// pictures. A claim belongs to the worker whose number is locked by a live session.
std::string AllTables() {
  return fmt::format(R"(
CREATE TABLE bitpool_pictures{0}
CREATE TABLE bitpool_next_pictures{0}
CREATE INDEX bitpool_failed_pictures ON bitpool_pictures(id) WHERE failure <> '';
CREATE INDEX bitpool_picture_versions ON bitpool_pictures(version);
CREATE TABLE bitpool_changes(
  generation bigint NOT NULL,
  id bigint NOT NULL,
  code bit varying,
  coded boolean NOT NULL,
  PRIMARY KEY(generation, id)
);
CREATE TABLE bitpool_settings(key bytea PRIMARY KEY, value bytea NOT NULL);
CREATE TABLE bitpool_decisions(
  id bigint PRIMARY KEY,
  kind bigint NOT NULL,
  first_path bytea NOT NULL,
  first_size bigint NOT NULL,
  first_hash bigint NOT NULL,
  second_path bytea NOT NULL,
  second_size bigint NOT NULL,
  second_hash bigint NOT NULL
);
CREATE TABLE bitpool_claims(path bytea PRIMARY KEY, worker integer);
CREATE TABLE bitpool_next_claims(path bytea PRIMARY KEY, worker integer);
CREATE SEQUENCE bitpool_picture_ids;
CREATE SEQUENCE bitpool_workers AS integer CYCLE;
CREATE TABLE bitpool_state(
  only_row boolean PRIMARY KEY DEFAULT true CHECK(only_row),
  catalogue_version bigint NOT NULL,
  library uuid NOT NULL DEFAULT gen_random_uuid(),
  generation bigint NOT NULL DEFAULT 0,
  known_since bigint NOT NULL DEFAULT 0,
  version bigint NOT NULL DEFAULT 0,
  last_decision bigint NOT NULL DEFAULT 0
);
INSERT INTO bitpool_state(catalogue_version) VALUES({1});
)",
                     kPictureTable, kPostgresCatalogueVersion);
}

bool HasTables(PostgresDatabase& database) {
  return database.ReadNumber("SELECT to_regclass('bitpool_state') IS NOT NULL") != 0;
}

// One transaction: a process that is killed here leaves nothing. Others wait before theirs begins;
// within it they would not see what was made meanwhile.
void CreateTables(PostgresDatabase& database) {
  constexpr const char* kKey = "hashtextextended('bitpool_state', 0)";
  database.QueryOnce(fmt::format("SELECT pg_advisory_lock({})", kKey));
  if (!HasTables(database)) database.Execute(fmt::format("BEGIN; {} COMMIT", AllTables()));
  database.QueryOnce(fmt::format("SELECT pg_advisory_unlock({})", kKey));
}

void CheckVersion(PostgresDatabase& database) {
  const int64_t version = database.ReadNumber("SELECT catalogue_version FROM bitpool_state");
  if (version == kPostgresCatalogueVersion) return;
  if (version < 1) {
    throw Error(ErrorCode::kCorrupt, database.name(),
                fmt::format("version {} of the catalogue: expected 1 or more", version));
  }
  throw Error(ErrorCode::kUnsupported, database.name(),
              fmt::format("a newer Bitpool made it (version {} of the catalogue, this program "
                          "reads up to {})",
                          version, kPostgresCatalogueVersion));
}

}  // namespace

const char* PostgresTableOf(PictureSet set) {
  return set == PictureSet::kCurrent ? "bitpool_pictures" : "bitpool_next_pictures";
}

const char* PostgresClaimsOf(PictureSet set) {
  return set == PictureSet::kCurrent ? "bitpool_claims" : "bitpool_next_claims";
}

const char* const kPostgresPictureColumns =
    "id, path, size, modified_ns, content_hash, code, width, height, failure, perceptual_hash";

CataloguedPicture ReadPostgresPicture(const PostgresResult& result, int row) {
  std::optional<uint64_t> hash;
  if (!result.IsNull(row, 9)) hash = std::bit_cast<uint64_t>(result.Number(row, 9));
  return {.id = static_cast<uint64_t>(result.Number(row, 0)),
          .path = std::string(result.Bytes(row, 1)),
          .size = std::bit_cast<uint64_t>(result.Number(row, 2)),
          .modified_ns = result.Number(row, 3),
          .content_hash = std::bit_cast<uint64_t>(result.Number(row, 4)),
          .code = result.Code(row, 5),
          .width = result.Number(row, 6),
          .height = result.Number(row, 7),
          .failure = std::string(result.Bytes(row, 8)),
          .perceptual_hash = hash};
}

PostgresPictureCopy::PostgresPictureCopy(PostgresDatabase& database, PictureSet set,
                                         int64_t version)
    : copy_(database,
            fmt::format("{}({}, version)", PostgresTableOf(set), kPostgresPictureColumns)),
      version_(version) {}

void PostgresPictureCopy::Add(uint64_t id, const CataloguedPicture& picture) {
  copy_.StartRow(11);
  copy_.Add(std::bit_cast<int64_t>(id));
  copy_.AddBytes(picture.path);
  copy_.Add(std::bit_cast<int64_t>(picture.size));
  copy_.Add(picture.modified_ns);
  copy_.Add(std::bit_cast<int64_t>(picture.content_hash));
  copy_.AddCode(picture.code);
  copy_.Add(picture.width);
  copy_.Add(picture.height);
  copy_.AddBytes(picture.failure);
  if (picture.perceptual_hash) {
    copy_.Add(std::bit_cast<int64_t>(*picture.perceptual_hash));
  } else {
    copy_.AddNull();
  }
  copy_.Add(version_);
}

void UpdatePostgresPicture(PostgresDatabase& database, PictureSet set, uint64_t id,
                           const CataloguedPicture& picture, int64_t version) {
  std::vector<int64_t> hash;  // an element that is not there is NULL
  if (picture.perceptual_hash) hash.push_back(std::bit_cast<int64_t>(*picture.perceptual_hash));
  database.Query(fmt::format("UPDATE {} SET modified_ns = $2, width = $3, height = $4, "
                             "failure = $5, version = $6, perceptual_hash = ($7)[1] WHERE id = $1",
                             PostgresTableOf(set)),
                 PostgresParameters()
                     .Add(std::bit_cast<int64_t>(id))
                     .Add(picture.modified_ns)
                     .Add(picture.width)
                     .Add(picture.height)
                     .AddBytes(picture.failure)
                     .Add(version)
                     .AddNumbers(hash));
}

std::unique_ptr<PostgresDatabase> OpenPostgresDatabase(const std::string& address,
                                                       CatalogueAccess access) {
  auto database = std::make_unique<PostgresDatabase>(address);
  if (!HasTables(*database)) {
    if (access != CatalogueAccess::kCreate) {
      throw Error(ErrorCode::kNotFound, database->name(), "there is no catalogue");
    }
    CreateTables(*database);
  }
  CheckVersion(*database);
  return database;
}

std::string PostgresChannelOf(PostgresDatabase& database) {
  const PostgresResult result =
      database.QueryOnce("SELECT 'bitpool_' || replace(library::text, '-', '') FROM bitpool_state");
  return std::string(result.Bytes(0, 0));
}

}  // namespace bitpool
