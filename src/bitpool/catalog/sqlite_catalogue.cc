#include "bitpool/catalog/sqlite_catalogue.h"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/sqlite_database.h"

namespace bitpool {
namespace {

constexpr int64_t kApplication = 0x42706361;  // "Bpca" in the file's header: a catalogue of Bitpool
constexpr int64_t kVersion = 1;
constexpr uint64_t kPageSize = 4096;

// AUTOINCREMENT: no id is given twice. Paths are bytes, compared byte by byte.
constexpr const char* kSchema = R"(
CREATE TABLE pictures(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  path BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  content_hash INTEGER NOT NULL,
  code BLOB NOT NULL,
  width INTEGER NOT NULL,
  height INTEGER NOT NULL,
  failure TEXT NOT NULL
) STRICT;
CREATE INDEX failed_pictures ON pictures(id) WHERE failure <> '';
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
)";

// The columns that ReadPicture takes, of the pictures that are meant.
std::string SelectPictures(std::string_view which) {
  return fmt::format(
      "SELECT id, path, size, modified_ns, content_hash, code, width, height, failure "
      "FROM pictures {}",
      which);
}

CataloguedPicture ReadPicture(const SqliteStatement& row) {
  const std::span<const uint8_t> code = row.Bytes(5);
  return {.id = static_cast<uint64_t>(row.Number(0)),
          .path = std::string(AsText(row.Bytes(1))),
          .size = static_cast<uint64_t>(row.Number(2)),
          .modified_ns = row.Number(3),
          .content_hash = std::bit_cast<uint64_t>(row.Number(4)),
          .code = {code.begin(), code.end()},
          .width = row.Number(6),
          .height = row.Number(7),
          .failure = std::string(row.Text(8))};
}

// Binds everything but the id, in the order of the table.
void BindPicture(SqliteStatement& statement, const CataloguedPicture& picture) {
  statement.BindBytes(1, AsBytes(picture.path))
      .Bind(2, std::bit_cast<int64_t>(picture.size))
      .Bind(3, picture.modified_ns)
      .Bind(4, std::bit_cast<int64_t>(picture.content_hash))
      .BindBytes(5, picture.code)
      .Bind(6, picture.width)
      .Bind(7, picture.height)
      .BindText(8, picture.failure);
}

// The statements of a connection, prepared once.
struct Statements {
  explicit Statements(SqliteDatabase& database)
      : find_path(database.Prepare(SelectPictures("WHERE path = ?1"))),
        find_id(database.Prepare(SelectPictures("WHERE id = ?1"))),
        setting(database.Prepare("SELECT value FROM settings WHERE key = ?1")),
        insert(database.Prepare("INSERT INTO pictures(path, size, modified_ns, content_hash, code, "
                                "width, height, failure) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")),
        update(database.Prepare("UPDATE pictures SET size = ?2, modified_ns = ?3, "
                                "content_hash = ?4, code = ?5, width = ?6, height = ?7, "
                                "failure = ?8 WHERE path = ?1")),
        remove(database.Prepare("DELETE FROM pictures WHERE id = ?1")),
        put_setting(database.Prepare("INSERT INTO settings(key, value) VALUES(?1, ?2) "
                                     "ON CONFLICT(key) DO UPDATE SET value = ?2")) {}

  SqliteStatement find_path;
  SqliteStatement find_id;
  SqliteStatement setting;
  SqliteStatement insert;
  SqliteStatement update;
  SqliteStatement remove;
  SqliteStatement put_setting;
};

class SqliteCatalogue : public Catalogue {
 public:
  SqliteCatalogue(std::unique_ptr<SqliteDatabase> database, CatalogueAccess access)
      : database_(std::move(database)), statements_(*database_), access_(access) {}

  std::unique_ptr<CatalogueBatch> StartBatch() override;

  std::optional<CataloguedPicture> FindByPath(std::string_view path) const override {
    const StatementUse use(statements_.find_path);
    use->BindBytes(1, AsBytes(path));
    return ReadOne(use);
  }

  std::optional<CataloguedPicture> FindById(uint64_t id) const override {
    const StatementUse use(statements_.find_id);
    use->Bind(1, std::bit_cast<int64_t>(id));
    return ReadOne(use);
  }

  void ForEach(const std::function<void(const CataloguedPicture&)>& visit) const override {
    // Not shared: `visit` may itself look through all pictures.
    SqliteStatement all = database_->Prepare(SelectPictures("ORDER BY id"));
    while (all.Step()) visit(ReadPicture(all));
  }

  uint64_t Count() const override {
    return static_cast<uint64_t>(database_->ReadNumber("SELECT count(*) FROM pictures"));
  }

  uint64_t FailedCount() const override {
    return static_cast<uint64_t>(
        database_->ReadNumber("SELECT count(*) FROM pictures WHERE failure <> ''"));
  }

  std::optional<std::string> Setting(std::string_view key) const override {
    const StatementUse use(statements_.setting);
    use->BindText(1, key);
    if (!use->Step()) return std::nullopt;
    return std::string(use->Text(0));
  }

 private:
  friend class SqliteBatch;

  static std::optional<CataloguedPicture> ReadOne(const StatementUse& use) {
    if (!use->Step()) return std::nullopt;
    return ReadPicture(*use.operator->());
  }

  std::unique_ptr<SqliteDatabase> database_;
  mutable Statements statements_;  // SQLite keeps the position of a read in the statement
  CatalogueAccess access_;
  bool in_batch_ = false;
};

class SqliteBatch : public CatalogueBatch {
 public:
  explicit SqliteBatch(SqliteCatalogue& catalogue) : catalogue_(catalogue) {
    // The lock is taken now and not at the first change, when it could be refused half-way.
    catalogue.database_->Execute("BEGIN IMMEDIATE");
    catalogue.in_batch_ = true;
  }

  ~SqliteBatch() override {
    if (!open_) return;
    catalogue_.in_batch_ = false;
    if (!catalogue_.database_->in_transaction()) return;
    try {
      catalogue_.database_->Execute("ROLLBACK");
    } catch (const Error&) {  // done when the file is opened next, as after a kill
    }
  }

  SqliteBatch(const SqliteBatch&) = delete;
  SqliteBatch& operator=(const SqliteBatch&) = delete;

  PutResult Put(const CataloguedPicture& picture) override {
    CheckOpen();
    const std::optional<CataloguedPicture> old = catalogue_.FindByPath(picture.path);
    const bool same = old && old->size == picture.size &&
                      old->content_hash == picture.content_hash && old->code == picture.code;
    if (same) {
      Write(catalogue_.statements_.update, picture);
      return {.id = old->id, .replaced = std::nullopt};
    }
    PutResult result;
    if (old) {
      RemoveId(old->id);
      result.replaced = old->id;
    }
    Write(catalogue_.statements_.insert, picture);
    result.id = static_cast<uint64_t>(catalogue_.database_->last_insert_id());
    return result;
  }

  std::optional<uint64_t> Remove(std::string_view path) override {
    CheckOpen();
    const std::optional<CataloguedPicture> old = catalogue_.FindByPath(path);
    if (!old) return std::nullopt;
    RemoveId(old->id);
    return old->id;
  }

  void PutSetting(std::string_view key, std::string_view value) override {
    CheckOpen();
    const StatementUse use(catalogue_.statements_.put_setting);
    use->BindText(1, key).BindText(2, value);
    use->Step();
  }

  void Commit() override {
    CheckOpen();
    catalogue_.database_->Execute("COMMIT");
    open_ = false;
    catalogue_.in_batch_ = false;
  }

 private:
  void CheckOpen() const {
    // After some failures, a full disk for one, SQLite gives the transaction up. What came after
    // would stand alone.
    if (open_ && catalogue_.database_->in_transaction()) return;
    throw Error(ErrorCode::kInvalidArgument,
                catalogue_.database_->name() + ": this batch of changes is over");
  }

  static void Write(SqliteStatement& statement, const CataloguedPicture& picture) {
    const StatementUse use(statement);
    BindPicture(statement, picture);
    use->Step();
  }

  void RemoveId(uint64_t id) {
    const StatementUse use(catalogue_.statements_.remove);
    use->Bind(1, std::bit_cast<int64_t>(id));
    use->Step();
  }

  SqliteCatalogue& catalogue_;
  bool open_ = true;
};

std::unique_ptr<CatalogueBatch> SqliteCatalogue::StartBatch() {
  if (access_ == CatalogueAccess::kRead || in_batch_) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: {}", database_->name(),
                            in_batch_ ? "another batch of changes is not over"
                                      : "the catalogue was opened for reading only"));
  }
  return std::make_unique<SqliteBatch>(*this);
}

void PrepareToWrite(SqliteDatabase& database) {
  if (database.read_only()) database.Fail(SQLITE_READONLY);
  // The write-ahead log: readers go on while someone writes. FULL: a commit that returned survives
  // the loss of power, or ids that an index already holds could be given again. It costs one sync
  // for each batch.
  database.ReadNumber("PRAGMA journal_mode = WAL");
  database.Execute("PRAGMA synchronous = FULL");
}

// An empty log holds nothing; readers leave one behind.
bool HasLog(const std::filesystem::path& path) {
  std::filesystem::path log = path;
  log += "-wal";
  std::error_code missing;
  return std::filesystem::file_size(log, missing) > 0 && !missing;
}

// SQLite takes what is missing of the last page for zeros. (A log may hold that page.)
bool LastPageIsCut(const std::filesystem::path& path) {
  std::error_code failed;
  return !HasLog(path) && std::filesystem::file_size(path, failed) % kPageSize != 0 && !failed;
}

void CheckIsCatalogue(SqliteDatabase& database, bool last_page_is_cut) {
  const int64_t application = database.ReadNumber("PRAGMA application_id");
  const int64_t version = database.ReadNumber("PRAGMA user_version");
  if (application != kApplication || version < 1) {
    throw Error(ErrorCode::kCorrupt, database.name() + ": not a catalogue of Bitpool");
  }
  if (version > kVersion) {
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{}: a newer Bitpool made it (version {} of the catalogue, this "
                            "program reads up to {})",
                            database.name(), version, kVersion));
  }
  if (last_page_is_cut) {
    throw Error(ErrorCode::kCorrupt,
                database.name() + ": the catalogue is damaged (the last page is cut off)");
  }
}

std::unique_ptr<SqliteDatabase> OpenExisting(const std::filesystem::path& path, int flags,
                                             bool immutable, int wait_ms) {
  const bool last_page_is_cut = LastPageIsCut(path);
  auto database = std::make_unique<SqliteDatabase>(path, flags, immutable, wait_ms);
  CheckIsCatalogue(*database, last_page_is_cut);
  return database;
}

// Opens for reading also where nothing may be written, not even the files beside the database that
// the log needs. They are missing only if nobody is writing.
std::unique_ptr<SqliteDatabase> OpenToRead(const std::filesystem::path& path, int wait_ms) {
  try {
    return OpenExisting(path, SQLITE_OPEN_READONLY, false, wait_ms);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kIo || HasLog(path)) throw;
  }
  return OpenExisting(path, SQLITE_OPEN_READONLY, true, wait_ms);
}

// Starts the transaction that makes the catalogue. False when the file is in use for something.
bool BeginIfEmpty(SqliteDatabase& database) {
  try {
    database.Execute("BEGIN EXCLUSIVE");
    return database.ReadNumber("PRAGMA schema_version") == 0;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCorrupt) return false;  // no database
    throw;
  }
}

}  // namespace

std::unique_ptr<Catalogue> CreateSqliteCatalogue(const std::filesystem::path& path,
                                                 const SqliteOptions& options) {
  auto database = std::make_unique<SqliteDatabase>(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                                   false, options.wait_ms);
  database->Execute(fmt::format("PRAGMA page_size = {}", kPageSize));
  // One transaction: what a process leaves that is killed here counts as empty.
  if (!BeginIfEmpty(*database)) {
    throw Error(ErrorCode::kInvalidArgument, path.string() + ": already exists");
  }
  database->Execute(kSchema);
  database->Execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                                kApplication, kVersion));
  PrepareToWrite(*database);
  return std::make_unique<SqliteCatalogue>(std::move(database), CatalogueAccess::kWrite);
}

std::unique_ptr<Catalogue> OpenSqliteCatalogue(const std::filesystem::path& path,
                                               CatalogueAccess access,
                                               const SqliteOptions& options) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(ErrorCode::kNotFound, path.string() + ": there is no catalogue");
  }
  if (access == CatalogueAccess::kRead) {
    return std::make_unique<SqliteCatalogue>(OpenToRead(path, options.wait_ms), access);
  }
  auto database = OpenExisting(path, SQLITE_OPEN_READWRITE, false, options.wait_ms);
  PrepareToWrite(*database);
  return std::make_unique<SqliteCatalogue>(std::move(database), access);
}

}  // namespace bitpool
