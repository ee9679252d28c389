#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// What this room shares: SQLite behind small owners. Not for users.
namespace bitpool {

class SqliteStatement;

// One connection. Every failure becomes an Error that names the file.
class SqliteDatabase {
 public:
  // `flags` are SQLITE_OPEN_*. `immutable`: nobody changes the file while it is open, so no files
  // beside it are needed.
  SqliteDatabase(const std::filesystem::path& path, int flags, bool immutable, int wait_ms);

  const std::string& name() const { return name_; }

  // Runs statements that give no rows.
  void Execute(const std::string& sql);
  SqliteStatement Prepare(const std::string& sql);
  int64_t ReadNumber(const std::string& sql);  // the first column of the first row

  bool in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }
  bool read_only() const { return sqlite3_db_readonly(connection_.get(), "main") != 0; }
  int64_t last_insert_id() const { return sqlite3_last_insert_rowid(connection_.get()); }

  // Throws the Error for a result code of SQLite.
  [[noreturn]] void Fail(int result);

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };

  std::string name_;
  std::unique_ptr<sqlite3, Close> connection_;
};

// A prepared statement. Used as: bind, Step until it gives no row, Reset. Its database outlives it.
class SqliteStatement {
 public:
  SqliteStatement(SqliteDatabase& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}

  // Parameters are counted from 1. Bytes and text must outlive the next Reset.
  SqliteStatement& Bind(int parameter, int64_t value);
  SqliteStatement& BindBytes(int parameter, std::span<const uint8_t> bytes);
  SqliteStatement& BindText(int parameter, std::string_view text);
  SqliteStatement& BindNull(int parameter);

  // True when there is a row.
  bool Step();
  // Ready to be used again; a read transaction is over.
  void Reset() { sqlite3_reset(statement_.get()); }

  // Columns of the row are counted from 0; the views are valid until the next Step or Reset.
  int64_t Number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  std::span<const uint8_t> Bytes(int column) const;
  std::string_view Text(int column) const;
  bool IsNull(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
  }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };

  SqliteStatement& Check(int result);

  SqliteDatabase* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a statement at the end of the block, whatever happens in it.
class StatementUse {
 public:
  explicit StatementUse(SqliteStatement& statement) : statement_(statement) {}
  ~StatementUse() { statement_.Reset(); }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;
  SqliteStatement* operator->() const { return &statement_; }

 private:
  SqliteStatement& statement_;
};

// A database that nobody has open, with the files beside it. What cannot be removed stays.
void RemoveSqliteFiles(const std::filesystem::path& path);

inline std::span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

inline std::string_view AsText(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace bitpool
