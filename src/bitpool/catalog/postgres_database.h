#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/catalog/catalogue.h"

// What this room shares: PostgreSQL behind small owners. Not for users.
namespace bitpool {

// Codes as PostgreSQL has them: character i of a bit string is bit i of the code, so that its first
// byte has bit 0 at the top. The same function converts both ways.
std::vector<uint8_t> ReverseBitsOfBytes(std::span<const uint8_t> code);

// Values in PostgreSQL's binary format, one after the other.
class PostgresBytes {
 public:
  void PutInt16(int16_t value);
  void PutInt32(int32_t value);
  void PutInt64(int64_t value);
  void PutRaw(std::string_view bytes) { bytes_ += bytes; }
  // The length of a bit string, and its bits. `bits` is at most that of the code's bytes.
  void PutBits(std::span<const uint8_t> code, int bits);

  const std::string& str() const { return bytes_; }

 private:
  std::string bytes_;
};

// The parameters of a statement.
class PostgresParameters {
 public:
  PostgresParameters& Add(int64_t value);
  PostgresParameters& AddBytes(std::string_view bytes);  // bytea
  PostgresParameters& AddText(std::string_view text);
  PostgresParameters& AddNumbers(std::span<const int64_t> values);        // bigint[]
  PostgresParameters& AddByteStrings(std::span<const std::string> each);  // bytea[]

  int count() const { return static_cast<int>(values_.size()); }
  const Oid* types() const { return types_.data(); }
  std::vector<const char*> pointers() const;
  std::vector<int> lengths() const;

 private:
  PostgresParameters& AddValue(Oid type, std::string value);

  std::vector<Oid> types_;
  std::deque<std::string> values_;
};

// The rows that a statement gave. Rows and columns are counted from 0; the views are valid as long
// as this is.
class PostgresResult {
 public:
  explicit PostgresResult(PGresult* result) : result_(result) {}

  int rows() const { return PQntuples(result_.get()); }
  bool IsNull(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }
  int64_t Number(int row, int column) const;  // of a bigint, an integer or a boolean
  std::string_view Bytes(int row, int column) const;
  std::vector<uint8_t> Code(int row, int column) const;  // of a bit string; empty for NULL
  uint64_t changed() const;  // how many rows an INSERT, UPDATE or DELETE met

  PGresult* get() const { return result_.get(); }

 private:
  struct Clear {
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// One connection. Every failure becomes an Error that names the database, a lost connection a
// CatalogueAway. One thread at a time.
class PostgresDatabase {
 public:
  // Throws CatalogueAway, and kInvalidArgument for an address that makes no sense.
  explicit PostgresDatabase(const std::string& address);

  const std::string& name() const { return name_; }

  // Runs statements that give no rows.
  void Execute(const std::string& sql);
  // Runs one statement, which is prepared the first time. The number of different statements must
  // be bounded.
  PostgresResult Query(const std::string& sql, const PostgresParameters& parameters = {});
  // Runs one statement that is not kept.
  PostgresResult QueryOnce(const std::string& sql, const PostgresParameters& parameters = {});
  int64_t ReadNumber(const std::string& sql);  // the first column of the first row

  // Whether statements can be run: no transaction that has failed, and no lost connection.
  bool in_good_transaction() const {
    return PQtransactionStatus(connection_.get()) == PQTRANS_INTRANS;
  }
  bool in_transaction() const;
  bool is_lost() const { return PQstatus(connection_.get()) != CONNECTION_OK; }

  // Waits until there is a notification, or the time is up, and takes all that are there. True if
  // there were any.
  bool WaitForNotification(int wait_ms);

 private:
  friend class PostgresCopy;

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  PostgresResult Check(PGresult* result);
  [[noreturn]] void Fail(const PGresult* result);

  std::string name_;
  std::unique_ptr<PGconn, Finish> connection_;
  std::map<std::string, std::string> prepared_;  // their names
};

// Sends rows to `COPY … FROM STDIN (FORMAT binary)`.
class PostgresCopy {
 public:
  // `what` is the table with its columns.
  PostgresCopy(PostgresDatabase& database, const std::string& what);
  ~PostgresCopy();
  PostgresCopy(const PostgresCopy&) = delete;
  PostgresCopy& operator=(const PostgresCopy&) = delete;

  void StartRow(int columns);
  void Add(int64_t value);
  void AddBytes(std::string_view bytes);
  void AddBits(std::span<const uint8_t> code, int bits);
  void AddCode(std::span<const uint8_t> code);  // all bits of its bytes; NULL when it is empty
  void AddFlag(bool flag);
  void AddNull();
  // The rows are there when this returns.
  void Finish();

 private:
  void Send();

  PostgresDatabase& database_;
  PostgresBytes buffer_;
  bool open_ = true;
};

}  // namespace bitpool
