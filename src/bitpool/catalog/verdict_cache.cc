#include "bitpool/catalog/verdict_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/catalog/sqlite_database.h"

namespace bitpool {
namespace {

constexpr int64_t kVerdictApplication = 0x42707664;  // "Bpvd" in the file's header
constexpr int kVerdictWaitMs = 200;

constexpr const char* kTable = R"(
CREATE TABLE verdicts(
  first_content INTEGER NOT NULL,
  second_content INTEGER NOT NULL,
  mirrored INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  first_is_part INTEGER NOT NULL,
  agreement INTEGER NOT NULL,
  first_covered INTEGER NOT NULL,
  second_covered INTEGER NOT NULL,
  PRIMARY KEY(first_content, second_content, mirrored)
) STRICT, WITHOUT ROWID;
)";

bool IsOurs(SqliteDatabase& database, int64_t version) {
  return database.ReadNumber("PRAGMA application_id") == kVerdictApplication &&
         database.ReadNumber("PRAGMA user_version") == version &&
         database.ReadNumber("SELECT count(*) FROM sqlite_schema") == 1 &&
         database.ReadNumber(
             "SELECT count(*) FROM sqlite_schema WHERE name = 'verdicts' AND "
             "type = 'table' AND sql LIKE 'CREATE TABLE%'") == 1;
}

std::unique_ptr<SqliteDatabase> OpenDatabase(const std::filesystem::path& path) {
  return std::make_unique<SqliteDatabase>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false,
                                          kVerdictWaitMs);
}

// Null when there is something else in the file.
std::unique_ptr<SqliteDatabase> OpenOrCreate(const std::filesystem::path& path, int64_t version) {
  auto database = OpenDatabase(path);
  try {
    database->Execute("BEGIN IMMEDIATE");
    if (database->ReadNumber("SELECT count(*) FROM sqlite_schema") == 0) {
      database->Execute(fmt::format("{} PRAGMA application_id = {}; PRAGMA user_version = {};",
                                    kTable, kVerdictApplication, version));
    }
    const bool ours = IsOurs(*database, version);
    database->Execute("COMMIT");
    if (!ours) return nullptr;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorrupt) throw;
    return nullptr;
  }
  // A commit that is lost with the power is a few comparisons that are made again.
  database->ReadNumber("PRAGMA journal_mode = WAL");
  database->Execute("PRAGMA synchronous = NORMAL");
  return database;
}

int64_t Stored(double value) { return std::bit_cast<int64_t>(value); }

}  // namespace

struct VerdictCache::Connection {
  explicit Connection(std::unique_ptr<SqliteDatabase> opened)
      : database(std::move(opened)),
        find(database->Prepare(
            "SELECT kind, first_is_part, agreement, first_covered, second_covered FROM verdicts "
            "WHERE first_content = ?1 AND second_content = ?2 AND mirrored = ?3")),
        put(database->Prepare(
            "INSERT OR REPLACE INTO verdicts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")) {}

  // Tells a statement which pair is meant.
  static void Bind(const StatementUse& use, const ComparedPair& pair) {
    use->Bind(1, std::bit_cast<int64_t>(pair.first))
        .Bind(2, std::bit_cast<int64_t>(pair.second))
        .Bind(3, pair.mirrored ? 1 : 0);
  }

  std::unique_ptr<SqliteDatabase> database;
  SqliteStatement find;
  SqliteStatement put;
};

VerdictCache::VerdictCache(const std::filesystem::path& path, int64_t version) {
  if (path.empty()) return;
  try {
    auto database = OpenOrCreate(path, version);
    if (!database) {
      RemoveSqliteFiles(path);
      database = OpenOrCreate(path, version);
    }
    if (database) connection_ = std::make_unique<Connection>(std::move(database));
  } catch (const Error&) {  // without one, then
  }
}

VerdictCache::~VerdictCache() = default;

// After a failure there is no cache any more.
template <class Action>
void VerdictCache::Try(const Action& action) {
  if (!connection_) return;
  try {
    action(*connection_);
  } catch (const Error&) {
    connection_.reset();
  }
}

std::optional<PairVerdict> VerdictCache::Find(const ComparedPair& pair) {
  std::optional<PairVerdict> verdict;
  Try([&](Connection& connection) {
    const StatementUse use(connection.find);
    Connection::Bind(use, pair);
    if (!use->Step()) return;
    const auto real = [&](int column) { return std::bit_cast<double>(use->Number(column)); };
    verdict = {.pair = pair,
               .kind = static_cast<int>(use->Number(0)),
               .first_is_part = use->Number(1) != 0,
               .agreement = real(2),
               .first_covered = real(3),
               .second_covered = real(4)};
  });
  return verdict;
}

void VerdictCache::Put(std::span<const PairVerdict> verdicts) {
  if (verdicts.empty()) return;
  Try([&](Connection& connection) {
    connection.database->Execute("BEGIN IMMEDIATE");
    for (const PairVerdict& verdict : verdicts) {
      const StatementUse use(connection.put);
      Connection::Bind(use, verdict.pair);
      use->Bind(4, verdict.kind)
          .Bind(5, verdict.first_is_part ? 1 : 0)
          .Bind(6, Stored(verdict.agreement))
          .Bind(7, Stored(verdict.first_covered))
          .Bind(8, Stored(verdict.second_covered));
      use->Step();
    }
    connection.database->Execute("COMMIT");
  });
}

uint64_t VerdictCache::Count() {
  uint64_t count = 0;
  Try([&](Connection& connection) {
    count = static_cast<uint64_t>(connection.database->ReadNumber("SELECT count(*) FROM verdicts"));
  });
  return count;
}

void VerdictCache::RemoveAllBut(std::span<const uint64_t> contents) {
  Try([&](Connection& connection) {
    SqliteDatabase& database = *connection.database;
    database.Execute(
        "BEGIN IMMEDIATE; CREATE TEMP TABLE IF NOT EXISTS there(content INTEGER PRIMARY KEY); "
        "DELETE FROM there");
    {
      SqliteStatement add = database.Prepare("INSERT OR IGNORE INTO there VALUES(?1)");
      for (const uint64_t content : contents) {
        const StatementUse use(add);
        use->Bind(1, std::bit_cast<int64_t>(content));
        use->Step();
      }
    }
    database.Execute(
        "DELETE FROM verdicts WHERE first_content NOT IN (SELECT content FROM there) OR "
        "second_content NOT IN (SELECT content FROM there); COMMIT");
  });
}

}  // namespace bitpool
