#include "bitpool/catalog/postgres_snapshot.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_schema.h"

namespace bitpool {
namespace {

constexpr size_t kMostIdlePostgres = 8;
constexpr int kRowsAtOnce = 10000;

// Closes a cursor at the end of the block, whatever happens in it.
class Cursor {
 public:
  Cursor(PostgresDatabase& database, const std::string& sql) : database_(database) {
    static std::atomic<uint64_t> number = 0;
    name_ = fmt::format("bitpool_cursor_{}", ++number);
    database.Execute(fmt::format("DECLARE {} NO SCROLL CURSOR FOR {}", name_, sql));
  }
  ~Cursor() {
    try {
      if (database_.in_good_transaction()) database_.Execute("CLOSE " + name_);
    } catch (...) {  // gone with the transaction
    }
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  PostgresResult Fetch() {
    return database_.QueryOnce(fmt::format("FETCH {} FROM {}", kRowsAtOnce, name_));
  }

 private:
  PostgresDatabase& database_;
  std::string name_;
};

class PostgresSnapshot : public CatalogueSnapshot {
 public:
  PostgresSnapshot(std::shared_ptr<PostgresConnections> connections,
                   std::unique_ptr<PostgresDatabase> connection)
      : connections_(std::move(connections)), connection_(std::move(connection)) {
    // The first read: the moment that the transaction sees from now on.
    const PostgresResult state =
        connection_->Query("SELECT generation, known_since FROM bitpool_state");
    if (state.rows() != 1) {
      throw Error(ErrorCode::kCorrupt, connection_->name(), "the catalogue has no state");
    }
    generation_ = static_cast<uint64_t>(state.Number(0, 0));
    known_since_ = static_cast<uint64_t>(state.Number(0, 1));
  }

  ~PostgresSnapshot() override {
    try {
      connection_->Execute("COMMIT");
      connections_->GiveBack(std::move(connection_));
    } catch (...) {  // the connection is closed instead
    }
  }
  PostgresSnapshot(const PostgresSnapshot&) = delete;
  PostgresSnapshot& operator=(const PostgresSnapshot&) = delete;

  uint64_t generation() const override { return generation_; }

  std::optional<CataloguedPicture> FindByPath(std::string_view path) const override {
    return FindWhere("path", PostgresParameters().AddBytes(path));
  }

  std::optional<CataloguedPicture> FindById(uint64_t id) const override {
    return FindWhere("id", PostgresParameters().Add(std::bit_cast<int64_t>(id)));
  }

  uint64_t Count() const override { return ReadCount("SELECT count(*) FROM bitpool_pictures"); }

  uint64_t FailedCount() const override {
    return ReadCount("SELECT count(*) FROM bitpool_pictures WHERE failure <> ''");
  }

  void ForEach(PictureSet set,
               const std::function<void(const CataloguedPicture&)>& visit) const override {
    ForEachPostgresRow(
        *connection_,
        fmt::format("SELECT {} FROM {} ORDER BY id", kPostgresPictureColumns, PostgresTableOf(set)),
        [&](const PostgresResult& result, int row) { visit(ReadPostgresPicture(result, row)); });
  }

  bool ForEachChange(
      uint64_t since,
      const std::function<void(uint64_t, std::span<const uint8_t>)>& visit) const override {
    if (!Knows(since)) return false;
    if (since == generation_) return true;
    ForEachPostgresRow(*connection_,
                       fmt::format("SELECT id, code FROM bitpool_changes WHERE coded AND "
                                   "generation > {} ORDER BY generation, id",
                                   since),
                       [&](const PostgresResult& result, int row) {
                         visit(static_cast<uint64_t>(result.Number(row, 0)), result.Code(row, 1));
                       });
    return true;
  }

  std::optional<uint64_t> CountChanges(uint64_t since) const override {
    if (!Knows(since)) return std::nullopt;
    if (since == generation_) return 0;
    return ReadCount(
        fmt::format("SELECT count(*) FROM bitpool_changes WHERE coded AND generation > {}", since));
  }

  std::optional<std::string> Setting(std::string_view key) const override {
    const PostgresResult result = connection_->Query(
        "SELECT value FROM bitpool_settings WHERE key = $1", PostgresParameters().AddBytes(key));
    if (result.rows() == 0) return std::nullopt;
    return std::string(result.Bytes(0, 0));
  }

  std::vector<Decision> Decisions() const override {
    const PostgresResult result = connection_->Query(
        "SELECT id, kind, first_path, first_size, first_hash, second_path, second_size, "
        "second_hash FROM bitpool_decisions ORDER BY id");
    std::vector<Decision> decisions;
    decisions.reserve(static_cast<size_t>(result.rows()));
    for (int row = 0; row < result.rows(); ++row) decisions.push_back(ReadDecision(result, row));
    return decisions;
  }

 private:
  static PictureMark ReadMark(const PostgresResult& result, int row, int column) {
    return {.path = std::string(result.Bytes(row, column)),
            .size = std::bit_cast<uint64_t>(result.Number(row, column + 1)),
            .content_hash = std::bit_cast<uint64_t>(result.Number(row, column + 2))};
  }

  Decision ReadDecision(const PostgresResult& result, int row) const {
    const int64_t kind = result.Number(row, 1);
    if (kind != static_cast<int64_t>(DecisionKind::kNotDuplicates) &&
        kind != static_cast<int64_t>(DecisionKind::kKeep)) {
      throw Error(
          ErrorCode::kCorrupt, connection_->name(),
          fmt::format("decision {} is of the unknown kind {}", result.Number(row, 0), kind));
    }
    return {.id = static_cast<uint64_t>(result.Number(row, 0)),
            .kind = static_cast<DecisionKind>(kind),
            .first = ReadMark(result, row, 2),
            .second = ReadMark(result, row, 5)};
  }

  std::optional<CataloguedPicture> FindWhere(const char* column,
                                             const PostgresParameters& value) const {
    const PostgresResult result =
        connection_->Query(fmt::format("SELECT {} FROM bitpool_pictures WHERE {} = $1",
                                       kPostgresPictureColumns, column),
                           value);
    if (result.rows() == 0) return std::nullopt;
    return ReadPostgresPicture(result, 0);
  }

  bool Knows(uint64_t since) const { return since >= known_since_ && since <= generation_; }

  uint64_t ReadCount(const std::string& sql) const {
    return static_cast<uint64_t>(connection_->ReadNumber(sql));
  }

  std::shared_ptr<PostgresConnections> connections_;
  std::unique_ptr<PostgresDatabase> connection_;
  uint64_t generation_ = 0;
  uint64_t known_since_ = 0;
};

}  // namespace

std::unique_ptr<PostgresDatabase> PostgresConnections::TakeIdle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  std::unique_ptr<PostgresDatabase> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

std::unique_ptr<PostgresDatabase> PostgresConnections::Take(const std::string& begin) {
  while (auto connection = TakeIdle()) {
    try {
      connection->Execute(begin);
      return connection;
    } catch (const CatalogueAway&) {  // then the next idle one, or a new one
    }
  }
  auto connection = OpenPostgresDatabase(address_, CatalogueAccess::kRead);
  connection->Execute(begin);
  return connection;
}

void PostgresConnections::GiveBack(std::unique_ptr<PostgresDatabase> connection) {
  if (connection->is_lost() || connection->in_transaction()) return;
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdlePostgres) idle_.push_back(std::move(connection));
}

std::unique_ptr<CatalogueSnapshot> TakePostgresSnapshot(
    const std::shared_ptr<PostgresConnections>& connections) {
  return std::make_unique<PostgresSnapshot>(
      connections, connections->Take("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
}

void ForEachPostgresRow(PostgresDatabase& database, const std::string& sql,
                        const std::function<void(const PostgresResult&, int row)>& visit) {
  Cursor cursor(database, sql);
  while (true) {
    const PostgresResult result = cursor.Fetch();
    for (int row = 0; row < result.rows(); ++row) visit(result, row);
    if (result.rows() < kRowsAtOnce) return;
  }
}

}  // namespace bitpool
