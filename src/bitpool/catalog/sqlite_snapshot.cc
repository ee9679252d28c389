#include "bitpool/catalog/sqlite_snapshot.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/sqlite_schema.h"

namespace bitpool {
namespace {

constexpr size_t kMostIdleSqlite = 16;

// What version 1 had in a setting; it knew of no changes.
constexpr const char* kFirstVersionState =
    "SELECT number, number FROM (SELECT coalesce((SELECT CAST(value AS INTEGER) FROM settings "
    "WHERE key = 'generation'), 0) AS number)";
constexpr const char* kState = "SELECT generation, known_since FROM state";

class SqliteSnapshot : public CatalogueSnapshot {
 public:
  SqliteSnapshot(std::shared_ptr<ReadConnections> connections,
                 std::unique_ptr<ReadConnection> connection, uint64_t generation,
                 uint64_t known_since)
      : connections_(std::move(connections)),
        connection_(std::move(connection)),
        generation_(generation),
        known_since_(known_since) {}

  ~SqliteSnapshot() override {
    try {
      connection_->database->Execute("COMMIT");
      connections_->GiveBack(std::move(connection_));
    } catch (...) {  // the connection is closed instead
    }
  }

  SqliteSnapshot(const SqliteSnapshot&) = delete;
  SqliteSnapshot& operator=(const SqliteSnapshot&) = delete;

  uint64_t generation() const override { return generation_; }

  std::optional<CataloguedPicture> FindByPath(std::string_view path) const override {
    const StatementUse use(connection_->find_path);
    use->BindBytes(1, AsBytes(path));
    return ReadOne(use);
  }

  std::optional<CataloguedPicture> FindById(uint64_t id) const override {
    const StatementUse use(connection_->find_id);
    use->Bind(1, std::bit_cast<int64_t>(id));
    return ReadOne(use);
  }

  uint64_t Count() const override { return ReadCount("SELECT count(*) FROM pictures"); }

  uint64_t FailedCount() const override {
    return ReadCount("SELECT count(*) FROM pictures WHERE failure <> ''");
  }

  void ForEach(PictureSet set,
               const std::function<void(const CataloguedPicture&)>& visit) const override {
    if (set == PictureSet::kNext && connection_->version == 1) return;
    // Not shared: `visit` may itself look through all pictures.
    SqliteStatement all = connection_->database->Prepare(
        SelectPictures(TableOf(set), "ORDER BY id", connection_->version));
    while (all.Step()) visit(ReadPicture(all));
  }

  bool ForEachChange(
      uint64_t since,
      const std::function<void(uint64_t, std::span<const uint8_t>)>& visit) const override {
    if (!Knows(since)) return false;
    if (since == generation_) return true;
    SqliteStatement all = connection_->database->Prepare(
        "SELECT id, code FROM changes WHERE generation > ?1 ORDER BY generation, id");
    all.Bind(1, std::bit_cast<int64_t>(since));
    while (all.Step()) visit(static_cast<uint64_t>(all.Number(0)), all.Bytes(1));
    return true;
  }

  std::optional<uint64_t> CountChanges(uint64_t since) const override {
    if (!Knows(since)) return std::nullopt;
    if (since == generation_) return 0;
    return ReadCount(fmt::format("SELECT count(*) FROM changes WHERE generation > {}", since));
  }

  std::optional<std::string> Setting(std::string_view key) const override {
    const StatementUse use(connection_->setting);
    use->BindText(1, key);
    if (!use->Step()) return std::nullopt;
    return std::string(use->Text(0));
  }

  std::vector<Decision> Decisions() const override {
    std::vector<Decision> decisions;
    if (connection_->version < 3) return decisions;
    SqliteStatement all = connection_->database->Prepare(
        "SELECT id, kind, first_path, first_size, first_hash, second_path, second_size, "
        "second_hash FROM decisions ORDER BY id");
    while (all.Step()) decisions.push_back(ReadDecision(all));
    return decisions;
  }

 private:
  static PictureMark ReadMark(const SqliteStatement& row, int column) {
    return {.path = std::string(AsText(row.Bytes(column))),
            .size = static_cast<uint64_t>(row.Number(column + 1)),
            .content_hash = std::bit_cast<uint64_t>(row.Number(column + 2))};
  }

  Decision ReadDecision(const SqliteStatement& row) const {
    const int64_t kind = row.Number(1);
    if (kind != static_cast<int64_t>(DecisionKind::kNotDuplicates) &&
        kind != static_cast<int64_t>(DecisionKind::kKeep)) {
      throw Error(ErrorCode::kCorrupt, connection_->database->name(),
                  fmt::format("decision {} is of the unknown kind {}", row.Number(0), kind));
    }
    return {.id = static_cast<uint64_t>(row.Number(0)),
            .kind = static_cast<DecisionKind>(kind),
            .first = ReadMark(row, 2),
            .second = ReadMark(row, 5)};
  }

  bool Knows(uint64_t since) const { return since >= known_since_ && since <= generation_; }

  uint64_t ReadCount(const std::string& sql) const {
    return static_cast<uint64_t>(connection_->database->ReadNumber(sql));
  }

  static std::optional<CataloguedPicture> ReadOne(const StatementUse& use) {
    if (!use->Step()) return std::nullopt;
    return ReadPicture(*use.operator->());
  }

  std::shared_ptr<ReadConnections> connections_;
  std::unique_ptr<ReadConnection> connection_;
  uint64_t generation_;
  uint64_t known_since_;
};

// Null when another process has brought the catalogue to another version since it was opened.
std::unique_ptr<CatalogueSnapshot> TryBegin(const std::shared_ptr<ReadConnections>& connections) {
  std::unique_ptr<ReadConnection> connection = connections->Take();
  connection->database->Execute("BEGIN");
  uint64_t generation = 0, known_since = 0;
  {
    const StatementUse version(connection->version_now);
    if (!version->Step() || version->Number(0) != connection->version) return nullptr;
  }
  {
    // The first read of a table: the moment that the transaction sees from now on.
    const StatementUse state(connection->state);
    if (!state->Step()) connection->database->Fail(SQLITE_CORRUPT);
    generation = static_cast<uint64_t>(state->Number(0));
    known_since = static_cast<uint64_t>(state->Number(1));
  }
  return std::make_unique<SqliteSnapshot>(connections, std::move(connection), generation,
                                          known_since);
}

}  // namespace

const char* TableOf(PictureSet set) {
  return set == PictureSet::kCurrent ? "pictures" : "next_pictures";
}

std::string SelectPictures(const char* table, std::string_view which, int64_t version) {
  return fmt::format(
      "SELECT id, path, size, modified_ns, content_hash, code, width, height, failure, {} FROM {} "
      "{}",
      version < 4 ? "NULL" : "perceptual_hash", table, which);
}

CataloguedPicture ReadPicture(const SqliteStatement& row) {
  const std::span<const uint8_t> code = row.Bytes(5);
  std::optional<uint64_t> hash;
  if (!row.IsNull(9)) hash = std::bit_cast<uint64_t>(row.Number(9));
  return {.id = static_cast<uint64_t>(row.Number(0)),
          .path = std::string(AsText(row.Bytes(1))),
          .size = static_cast<uint64_t>(row.Number(2)),
          .modified_ns = row.Number(3),
          .content_hash = std::bit_cast<uint64_t>(row.Number(4)),
          .code = {code.begin(), code.end()},
          .width = row.Number(6),
          .height = row.Number(7),
          .failure = std::string(row.Text(8)),
          .perceptual_hash = hash};
}

std::string InsertPicture(const char* table) {
  return fmt::format(
      "INSERT INTO {}(id, path, size, modified_ns, content_hash, code, width, height, failure, "
      "perceptual_hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
      table);
}

void BindPicture(SqliteStatement& statement, uint64_t id, const CataloguedPicture& picture) {
  statement.Bind(1, std::bit_cast<int64_t>(id))
      .BindBytes(2, AsBytes(picture.path))
      .Bind(3, std::bit_cast<int64_t>(picture.size))
      .Bind(4, picture.modified_ns)
      .Bind(5, std::bit_cast<int64_t>(picture.content_hash))
      .BindBytes(6, picture.code)
      .Bind(7, picture.width)
      .Bind(8, picture.height)
      .BindText(9, picture.failure);
  if (picture.perceptual_hash) {
    statement.Bind(10, std::bit_cast<int64_t>(*picture.perceptual_hash));
  } else {
    statement.BindNull(10);
  }
}

ReadConnection::ReadConnection(std::unique_ptr<SqliteDatabase> opened)
    : database(std::move(opened)),
      version(database->ReadNumber("PRAGMA user_version")),
      version_now(database->Prepare("PRAGMA user_version")),
      state(database->Prepare(version == 1 ? kFirstVersionState : kState)),
      find_path(database->Prepare(
          SelectPictures(TableOf(PictureSet::kCurrent), "WHERE path = ?1", version))),
      find_id(database->Prepare(
          SelectPictures(TableOf(PictureSet::kCurrent), "WHERE id = ?1", version))),
      setting(database->Prepare("SELECT value FROM settings WHERE key = ?1")) {}

ReadConnections::ReadConnections(std::filesystem::path path, int wait_ms)
    : path_(std::move(path)), wait_ms_(wait_ms) {
  GiveBack(Take());
}

std::unique_ptr<ReadConnection> ReadConnections::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<ReadConnection> connection = std::move(idle_.back());
      idle_.pop_back();
      return connection;
    }
  }
  return std::make_unique<ReadConnection>(OpenCatalogueToRead(path_, wait_ms_));
}

void ReadConnections::GiveBack(std::unique_ptr<ReadConnection> connection) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMostIdleSqlite) idle_.push_back(std::move(connection));
}

std::unique_ptr<CatalogueSnapshot> TakeSqliteSnapshot(
    const std::shared_ptr<ReadConnections>& connections) {
  while (true) {
    std::unique_ptr<CatalogueSnapshot> snapshot = TryBegin(connections);
    if (snapshot) return snapshot;  // otherwise that connection was closed, and the next is newer
  }
}

}  // namespace bitpool
