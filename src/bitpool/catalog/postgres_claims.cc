#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/catalog/postgres_batch.h"
#include "bitpool/catalog/postgres_schema.h"

namespace bitpool {
namespace {

constexpr size_t kOfferedAtOnce = 10000;

// A worker is a number that its session has locked. When the process or its machine dies, the
// session ends and so does the lock: whatever carries the number is then free. No clock is needed.
class PostgresClaims : public PictureClaims {
 public:
  PostgresClaims(std::string address, PictureSet set)
      : address_(std::move(address)), table_(PostgresClaimsOf(set)) {
    Session();
  }

  void Offer(std::span<const std::string> paths) override {
    PostgresDatabase& session = Session();
    // In a fixed order, so that two processes that offer the same pictures do not deadlock.
    std::vector<std::string> sorted(paths.begin(), paths.end());
    std::ranges::sort(sorted);
    for (size_t first = 0; first < sorted.size(); first += kOfferedAtOnce) {
      const size_t count = std::min(kOfferedAtOnce, sorted.size() - first);
      session.Query(
          fmt::format("INSERT INTO {}(path) SELECT unnest($1) ON CONFLICT DO NOTHING", table_),
          PostgresParameters().AddByteStrings(std::span(sorted).subspan(first, count)));
    }
  }

  std::vector<std::string> Claim(size_t most) override {
    std::vector<std::string> paths = ClaimThose("", "worker IS NULL", most);
    if (!paths.empty()) return paths;
    // Pictures of dead workers: workers that were on the list when the statement began, and hold no
    // lock after that. Asking only which locks there are, and then for the pictures of other
    // workers, would take pictures from a worker that began in between.
    const std::string dead = fmt::format(R"(
alive AS MATERIALIZED (
  SELECT objid::bigint AS worker FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = '{0}'::regclass
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())),
dead AS MATERIALIZED (
  SELECT DISTINCT worker FROM {0}
  WHERE worker IS NOT NULL AND worker NOT IN (SELECT worker FROM alive)),)",
                                         table_);
    return ClaimThose(dead, "worker IN (SELECT worker FROM dead)", most);
  }

  void Release() override {
    if (!session_ || session_->is_lost()) return;  // already free
    session_->Query(fmt::format("UPDATE {} SET worker = NULL WHERE worker = $1", table_),
                    PostgresParameters().Add(worker_));
    session_->QueryOnce(fmt::format("SELECT pg_advisory_unlock('{}'::regclass::oid::integer, {})",
                                    table_, worker_));
    session_.reset();
  }

  uint64_t Count() override {
    return static_cast<uint64_t>(
        Session().ReadNumber(fmt::format("SELECT count(*) FROM {}", table_)));
  }

 private:
  std::vector<std::string> ClaimThose(const std::string& tables, const char* which, size_t most) {
    PostgresDatabase& session = Session();
    const PostgresResult result =
        session.Query(fmt::format(R"(
WITH {1}
free AS (SELECT path FROM {0} WHERE {2} ORDER BY path LIMIT $1 FOR UPDATE SKIP LOCKED)
UPDATE {0} SET worker = $2 FROM free WHERE {0}.path = free.path RETURNING {0}.path)",
                                  table_, tables, which),
                      PostgresParameters().Add(static_cast<int64_t>(most)).Add(worker_));
    std::vector<std::string> paths;
    paths.reserve(static_cast<size_t>(result.rows()));
    for (int row = 0; row < result.rows(); ++row) paths.emplace_back(result.Bytes(row, 0));
    std::ranges::sort(paths);
    return paths;
  }

  // The session with this worker's lock; a new one, with another number, if it was lost.
  PostgresDatabase& Session() {
    if (session_ && !session_->is_lost()) return *session_;
    session_.reset();
    auto session = OpenPostgresDatabase(address_, CatalogueAccess::kWrite);
    do {
      worker_ = session->ReadNumber("SELECT nextval('bitpool_workers')");
    } while (session->ReadNumber(
                 fmt::format("SELECT pg_try_advisory_lock('{}'::regclass::oid::integer, {})",
                             table_, worker_)) == 0);
    session_ = std::move(session);
    return *session_;
  }

  std::string address_;
  const char* table_;
  std::unique_ptr<PostgresDatabase> session_;
  int64_t worker_ = 0;
};

}  // namespace

std::unique_ptr<PictureClaims> MakePostgresClaims(const std::string& address, PictureSet set) {
  return std::make_unique<PostgresClaims>(address, set);
}

}  // namespace bitpool
