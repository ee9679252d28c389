#include "bitpool/catalog/sqlite_catalogue.h"

#include <fmt/format.h>

#include <atomic>
#include <bit>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/sqlite_schema.h"
#include "bitpool/catalog/sqlite_snapshot.h"

namespace bitpool {
namespace {

// The statements that change one set of pictures.
struct SetStatements {
  SetStatements(SqliteDatabase& database, const char* table)
      : find(database.Prepare(SelectPictures(table, "WHERE path = ?1", kCatalogueVersion))),
        insert(database.Prepare(InsertPicture(table))),
        update(database.Prepare(fmt::format(
            "UPDATE {} SET path = ?2, size = ?3, modified_ns = ?4, content_hash = ?5, code = ?6, "
            "width = ?7, height = ?8, failure = ?9, perceptual_hash = ?10 WHERE id = ?1",
            table))),
        touch(
            database.Prepare(fmt::format("UPDATE {} SET modified_ns = ?2 WHERE path = ?1", table))),
        remove(database.Prepare(fmt::format("DELETE FROM {} WHERE id = ?1", table))) {}

  SqliteStatement find;
  SqliteStatement insert;
  SqliteStatement update;
  SqliteStatement touch;
  SqliteStatement remove;
};

// The one connection that writes.
struct WriteConnection {
  explicit WriteConnection(std::unique_ptr<SqliteDatabase> opened)
      : database(std::move(opened)),
        current(*database, TableOf(PictureSet::kCurrent)),
        next(*database, TableOf(PictureSet::kNext)),
        read_state(database->Prepare("SELECT last_id, generation FROM state")),
        put_state(database->Prepare("UPDATE state SET last_id = ?1, generation = ?2")),
        put_change(database->Prepare("INSERT INTO changes(generation, id, code) VALUES(?1, ?2, ?3) "
                                     "ON CONFLICT(generation, id) DO UPDATE SET code = ?3")),
        put_setting(database->Prepare("INSERT INTO settings(key, value) VALUES(?1, ?2) "
                                      "ON CONFLICT(key) DO UPDATE SET value = ?2")),
        read_setting(database->Prepare("SELECT value FROM settings WHERE key = ?1")),
        add_decision(database->Prepare(
            "INSERT INTO decisions(kind, first_path, first_size, first_hash, second_path, "
            "second_size, second_hash) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)")),
        remove_decision(database->Prepare("DELETE FROM decisions WHERE id = ?1 RETURNING id")) {}

  // The last connection to close would empty the log, but readers may not. If it cannot be emptied
  // now because someone is reading, this does not wait.
  ~WriteConnection() {
    try {
      database->ReadNumber("PRAGMA busy_timeout = 0");
      database->ReadNumber("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (...) {  // the log belongs to the catalogue and does no harm
    }
  }
  WriteConnection(const WriteConnection&) = delete;
  WriteConnection& operator=(const WriteConnection&) = delete;

  std::unique_ptr<SqliteDatabase> database;
  SetStatements current;
  SetStatements next;
  SqliteStatement read_state;
  SqliteStatement put_state;
  SqliteStatement put_change;
  SqliteStatement put_setting;
  SqliteStatement read_setting;
  SqliteStatement add_decision;
  SqliteStatement remove_decision;
  std::atomic<bool> in_batch = false;
};

class SqliteBatch : public CatalogueBatch {
 public:
  // REQUIRES: connection.in_batch was set for this batch, which clears it at its end. Where this
  // throws, the caller does.
  SqliteBatch(WriteConnection& connection, PictureSet set)
      : connection_(connection),
        statements_(set == PictureSet::kCurrent ? connection.current : connection.next),
        is_current_(set == PictureSet::kCurrent) {
    try {
      if (connection.database->in_transaction()) connection.database->Execute("ROLLBACK");
      // The lock is taken now and not at the first change, when it could be refused half-way.
      connection.database->Execute("BEGIN IMMEDIATE");
      const StatementUse state(connection.read_state);
      if (!state->Step()) connection.database->Fail(SQLITE_CORRUPT);
      last_id_ = static_cast<uint64_t>(state->Number(0));
      generation_ = static_cast<uint64_t>(state->Number(1));
    } catch (...) {
      RollBack();
      throw;
    }
  }

  ~SqliteBatch() override {
    if (open_) End();
  }

  SqliteBatch(const SqliteBatch&) = delete;
  SqliteBatch& operator=(const SqliteBatch&) = delete;

  PutResult Put(const CataloguedPicture& picture) override {
    CheckOpen();
    const std::optional<CataloguedPicture> old = Find(picture.path);
    const bool same = old && old->size == picture.size &&
                      old->content_hash == picture.content_hash && old->code == picture.code;
    if (same) {
      Write(statements_.update, old->id, picture);
      return {.id = old->id, .replaced = std::nullopt};
    }
    PutResult result;
    if (old) {
      RemovePicture(*old);
      result.replaced = old->id;
    }
    result.id = ++last_id_;
    Write(statements_.insert, result.id, picture);
    changed_ = true;
    if (!picture.code.empty()) NoteChange(result.id, picture.code);
    return result;
  }

  std::optional<uint64_t> Remove(std::string_view path) override {
    CheckOpen();
    const std::optional<CataloguedPicture> old = Find(path);
    if (!old) return std::nullopt;
    RemovePicture(*old);
    return old->id;
  }

  void Touch(std::string_view path, int64_t modified_ns) override {
    CheckOpen();
    const StatementUse use(statements_.touch);
    use->BindBytes(1, AsBytes(path)).Bind(2, modified_ns);
    use->Step();
  }

  void ClearNext() override {
    CheckOpen();
    connection_.database->Execute("DELETE FROM next_pictures");
  }

  void SwitchToNext() override {
    CheckOpen();
    ++generation_;
    connection_.database->Execute(
        fmt::format("DELETE FROM pictures; INSERT INTO pictures SELECT * FROM next_pictures; "
                    "DELETE FROM next_pictures; DELETE FROM changes; "
                    "UPDATE state SET known_since = {}",
                    generation_));
  }

  void ForgetChanges(uint64_t until) override {
    CheckOpen();
    connection_.database->Execute(
        fmt::format("DELETE FROM changes WHERE generation <= {0}; "
                    "UPDATE state SET known_since = max(known_since, {0})",
                    until));
  }

  void PutSetting(std::string_view key, std::string_view value) override {
    CheckOpen();
    const StatementUse use(connection_.put_setting);
    use->BindText(1, key).BindText(2, value);
    use->Step();
  }

  std::optional<std::string> Setting(std::string_view key) const override {
    CheckOpen();
    const StatementUse use(connection_.read_setting);
    use->BindText(1, key);
    if (!use->Step()) return std::nullopt;
    return std::string(use->Text(0));
  }

  uint64_t AddDecision(const Decision& decision) override {
    CheckOpen();
    const StatementUse use(connection_.add_decision);
    use->Bind(1, static_cast<int64_t>(decision.kind));
    int parameter = 2;
    for (const PictureMark* mark : {&decision.first, &decision.second}) {
      use->BindBytes(parameter, AsBytes(mark->path))
          .Bind(parameter + 1, std::bit_cast<int64_t>(mark->size))
          .Bind(parameter + 2, std::bit_cast<int64_t>(mark->content_hash));
      parameter += 3;
    }
    use->Step();
    return static_cast<uint64_t>(connection_.database->last_insert_id());
  }

  bool RemoveDecision(uint64_t id) override {
    CheckOpen();
    const StatementUse use(connection_.remove_decision);
    use->Bind(1, std::bit_cast<int64_t>(id));
    return use->Step();
  }

  uint64_t Commit() override {
    CheckOpen();
    if (changed_ && is_current_) ++generation_;
    {
      const StatementUse use(connection_.put_state);
      use->Bind(1, std::bit_cast<int64_t>(last_id_)).Bind(2, std::bit_cast<int64_t>(generation_));
      use->Step();
    }
    connection_.database->Execute("COMMIT");
    open_ = false;
    connection_.in_batch = false;
    return generation_;
  }

 private:
  void CheckOpen() const {
    // After some failures, such as a full disk, SQLite rolls the transaction back. Changes made
    // after that would stand alone.
    if (open_ && connection_.database->in_transaction()) return;
    throw Error(ErrorCode::kInvalidArgument, connection_.database->name(),
                "this batch of changes is over");
  }

  void End() {
    open_ = false;
    RollBack();
    connection_.in_batch = false;
  }

  void RollBack() noexcept {
    try {
      if (connection_.database->in_transaction()) connection_.database->Execute("ROLLBACK");
    } catch (...) {  // done before the next batch, or when the file is opened next, as after a kill
    }
  }

  std::optional<CataloguedPicture> Find(std::string_view path) {
    const StatementUse use(statements_.find);
    use->BindBytes(1, AsBytes(path));
    if (!use->Step()) return std::nullopt;
    return ReadPicture(statements_.find);
  }

  static void Write(SqliteStatement& statement, uint64_t id, const CataloguedPicture& picture) {
    const StatementUse use(statement);
    BindPicture(statement, id, picture);
    use->Step();
  }

  void RemovePicture(const CataloguedPicture& picture) {
    {
      const StatementUse use(statements_.remove);
      use->Bind(1, std::bit_cast<int64_t>(picture.id));
      use->Step();
    }
    changed_ = true;
    if (!picture.code.empty()) NoteChange(picture.id, {});
  }

  // The changes of this batch belong to the generation that its commit makes.
  void NoteChange(uint64_t id, std::span<const uint8_t> code) {
    if (!is_current_) return;
    const StatementUse use(connection_.put_change);
    use->Bind(1, std::bit_cast<int64_t>(generation_ + 1))
        .Bind(2, std::bit_cast<int64_t>(id))
        .BindBytes(3, code);
    use->Step();
  }

  WriteConnection& connection_;
  SetStatements& statements_;
  bool is_current_;
  uint64_t last_id_ = 0;
  uint64_t generation_ = 0;
  bool changed_ = false;
  bool open_ = true;
};

class SqliteCatalogue : public Catalogue {
 public:
  // `writer` is null when the catalogue is only read.
  SqliteCatalogue(const std::filesystem::path& path, std::unique_ptr<SqliteDatabase> writer,
                  const SqliteOptions& options)
      : name_(path.string()),
        writer_(writer ? std::make_unique<WriteConnection>(std::move(writer)) : nullptr),
        readers_(std::make_shared<ReadConnections>(path, options.wait_ms)) {}

  std::unique_ptr<CatalogueSnapshot> Snapshot() const override {
    return TakeSqliteSnapshot(readers_);
  }

  std::unique_ptr<CatalogueBatch> StartBatch(PictureSet set) override {
    if (!writer_) Refuse("the catalogue was opened for reading only");
    if (writer_->in_batch.exchange(true)) Refuse("another batch of changes is not over");
    try {
      return std::make_unique<SqliteBatch>(*writer_, set);
    } catch (...) {  // also when there is no memory for the batch itself
      writer_->in_batch = false;
      throw;
    }
  }

 private:
  [[noreturn]] void Refuse(const char* reason) const {
    throw Error(ErrorCode::kInvalidArgument, name_, reason);
  }

  std::string name_;
  std::unique_ptr<WriteConnection> writer_;
  std::shared_ptr<ReadConnections> readers_;
};

}  // namespace

std::unique_ptr<Catalogue> OpenSqliteCatalogue(const std::filesystem::path& path,
                                               CatalogueAccess access,
                                               const SqliteOptions& options) {
  std::unique_ptr<SqliteDatabase> writer;
  // Creating comes first: it also takes over what a process that was killed while creating left
  // behind.
  if (access == CatalogueAccess::kCreate) writer = CreateCatalogue(path, options.wait_ms);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(ErrorCode::kNotFound, path.string(), "there is no catalogue");
  }
  if (access != CatalogueAccess::kRead && !writer) {
    writer = OpenCatalogueToWrite(path, options.wait_ms);
  }
  return std::make_unique<SqliteCatalogue>(path, std::move(writer), options);
}

}  // namespace bitpool
