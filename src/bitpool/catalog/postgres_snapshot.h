#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/postgres_database.h"

// What this room shares: reading a catalogue in PostgreSQL. Not for users.
namespace bitpool {

// The idle connections of a catalogue. May be used from many threads.
class PostgresConnections {
 public:
  explicit PostgresConnections(std::string address) : address_(std::move(address)) {}

  // Runs `begin` on a connection, which is taken. If that connection was lost since its last use,
  // another is opened now.
  std::unique_ptr<PostgresDatabase> Take(const std::string& begin);
  // A connection within a transaction, or one that was lost, is closed.
  void GiveBack(std::unique_ptr<PostgresDatabase> connection);

 private:
  std::unique_ptr<PostgresDatabase> TakeIdle();

  std::string address_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<PostgresDatabase>> idle_;
};

std::unique_ptr<CatalogueSnapshot> TakePostgresSnapshot(
    const std::shared_ptr<PostgresConnections>& connections);

// All rows of a statement, by a cursor, so that `visit` may run others. REQUIRES: a transaction.
void ForEachPostgresRow(PostgresDatabase& database, const std::string& sql,
                        const std::function<void(const PostgresResult&, int row)>& visit);

}  // namespace bitpool
