#include "bitpool/catalog/sqlite_database.h"

#include <fmt/format.h>

#include <cerrno>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

// A URI, the only way to say "immutable". All bytes but the plainest are escaped.
std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

struct Meaning {
  ErrorCode code;
  std::string_view text;
};

Meaning MeaningOf(int result) {
  switch (result & 0xff) {  // without the details in the upper bits
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kResources, "another process is writing to this catalogue"};
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // our own statements are right, so the tables are not
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
      return {ErrorCode::kCorrupt, "the catalogue is damaged"};
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupt, "not a catalogue of Bitpool"};
    case SQLITE_FULL:
      return {ErrorCode::kResources, "the disk is full"};
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return {ErrorCode::kResources, "too large for memory or for SQLite"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {ErrorCode::kIo, "writing is not allowed"};
    case SQLITE_CANTOPEN:
      return {ErrorCode::kIo, "cannot open the catalogue"};
    case SQLITE_IOERR:
    case SQLITE_NOLFS:
    case SQLITE_PROTOCOL:
      return {ErrorCode::kIo, "reading or writing failed"};
    default:
      return {ErrorCode::kInternal, "SQLite refused"};
  }
}

}  // namespace

SqliteDatabase::SqliteDatabase(const std::filesystem::path& path, int flags, bool immutable,
                               int wait_ms)
    : name_(path.string()) {
  // Absolute, so that no name has a meaning of its own, as ":memory:" and "file:x" have.
  const std::string absolute = std::filesystem::absolute(path).string();
  sqlite3* connection = nullptr;
  const int result =
      sqlite3_open_v2(immutable ? ImmutableUri(absolute).c_str() : absolute.c_str(), &connection,
                      flags | (immutable ? SQLITE_OPEN_URI : 0), nullptr);
  connection_.reset(connection);
  if (result != SQLITE_OK) Fail(result);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_timeout(connection, wait_ms);
  // The file may come from anywhere: nothing in it runs as code, and damage is looked for.
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  Execute("PRAGMA cell_size_check = ON");
}

void SqliteDatabase::Execute(const std::string& sql) {
  const int result = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) Fail(result);
}

SqliteStatement SqliteDatabase::Prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(connection_.get(), sql.c_str(), -1,
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) Fail(result);
  return {*this, statement};
}

int64_t SqliteDatabase::ReadNumber(const std::string& sql) {
  SqliteStatement statement = Prepare(sql);
  return statement.Step() ? statement.Number(0) : 0;
}

void SqliteDatabase::Fail(int result) {
  Meaning meaning = MeaningOf(result);
  // When the files beside the database run out of space, SQLite reports an I/O error.
  const bool full = connection_ && sqlite3_system_errno(connection_.get()) == ENOSPC;
  if (full && meaning.code == ErrorCode::kIo) meaning = MeaningOf(SQLITE_FULL);
  // Where the result is not SQLite's but ours, the connection knows of no error.
  const bool knows = connection_ && sqlite3_errcode(connection_.get()) != SQLITE_OK;
  const char* reason = knows ? sqlite3_errmsg(connection_.get()) : sqlite3_errstr(result);
  throw Error(meaning.code, name_, fmt::format("{} ({})", meaning.text, reason));
}

SqliteStatement& SqliteStatement::Check(int result) {
  if (result != SQLITE_OK) database_->Fail(result);
  return *this;
}

SqliteStatement& SqliteStatement::Bind(int parameter, int64_t value) {
  return Check(sqlite3_bind_int64(statement_.get(), parameter, value));
}

SqliteStatement& SqliteStatement::BindBytes(int parameter, std::span<const uint8_t> bytes) {
  // A null pointer would bind NULL instead of no bytes.
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  return Check(sqlite3_bind_blob64(statement_.get(), parameter, data, bytes.size(), SQLITE_STATIC));
}

SqliteStatement& SqliteStatement::BindText(int parameter, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  return Check(sqlite3_bind_text64(statement_.get(), parameter, data, text.size(), SQLITE_STATIC,
                                   SQLITE_UTF8));
}

SqliteStatement& SqliteStatement::BindNull(int parameter) {
  return Check(sqlite3_bind_null(statement_.get(), parameter));
}

bool SqliteStatement::Step() {
  const int result = sqlite3_step(statement_.get());
  if (result != SQLITE_ROW && result != SQLITE_DONE) database_->Fail(result);
  return result == SQLITE_ROW;
}

std::span<const uint8_t> SqliteStatement::Bytes(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  if (data == nullptr && sqlite3_errcode(sqlite3_db_handle(statement_.get())) == SQLITE_NOMEM)
    database_->Fail(SQLITE_NOMEM);
  return {data, data == nullptr ? 0 : static_cast<size_t>(size)};
}

std::string_view SqliteStatement::Text(int column) const { return AsText(Bytes(column)); }

void RemoveSqliteFiles(const std::filesystem::path& path) {
  for (const char* ending : {"", "-wal", "-shm"}) {
    std::filesystem::path file = path;
    file += ending;
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
}

}  // namespace bitpool
