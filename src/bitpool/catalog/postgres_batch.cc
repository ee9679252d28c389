#include "bitpool/catalog/postgres_batch.h"

#include <fmt/format.h>

#include <bit>
#include <unordered_map>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_schema.h"

namespace bitpool {
namespace {

// A process that stalls in the middle of a batch holds up all others for at most this long.
constexpr const char* kLongestIdle = "300s";

class PostgresBatch : public CatalogueBatch {
 public:
  PostgresBatch(std::shared_ptr<PostgresConnections> connections, PictureSet set,
                const PostgresOptions& options, std::shared_ptr<std::atomic<bool>> in_batch)
      : connections_(std::move(connections)),
        set_(set),
        table_(PostgresTableOf(set)),
        in_batch_(std::move(in_batch)) {
    try {
      // Whatever the database's default: who has waited for the state sees what it then is.
      connection_ = connections_->Take("BEGIN ISOLATION LEVEL READ COMMITTED");
      connection_->Execute(
          fmt::format("SET LOCAL lock_timeout = {}; "
                      "SET LOCAL idle_in_transaction_session_timeout = '{}'",
                      options.wait_ms, kLongestIdle));
      const PostgresResult state = connection_->Query(
          "SELECT generation, version, last_decision FROM bitpool_state FOR UPDATE");
      if (state.rows() != 1) {
        throw Error(ErrorCode::kCorrupt, connection_->name(), "the catalogue has no state");
      }
      generation_ = static_cast<uint64_t>(state.Number(0, 0));
      version_ = state.Number(0, 1) + 1;
      last_decision_ = static_cast<uint64_t>(state.Number(0, 2));
    } catch (...) {
      RollBack();
      throw;
    }
  }

  ~PostgresBatch() override {
    if (open_) End();
  }
  PostgresBatch(const PostgresBatch&) = delete;
  PostgresBatch& operator=(const PostgresBatch&) = delete;

  PutResult Put(const CataloguedPicture& picture) override { return PutAll({&picture, 1}).front(); }

  std::vector<PutResult> PutAll(std::span<const CataloguedPicture> pictures) override {
    CheckOpen();
    const std::unordered_map<std::string, Old> old = FindOld(pictures);
    std::vector<PutResult> results(pictures.size());
    std::vector<size_t> fresh;
    std::vector<Old> replaced;
    for (size_t i = 0; i < pictures.size(); ++i) {
      const auto place = old.find(pictures[i].path);
      const bool known = place != old.end();
      if (known && place->second.IsSameAs(pictures[i])) {
        results[i].id = place->second.id;
        UpdatePostgresPicture(*connection_, set_, results[i].id, pictures[i], version_);
        continue;
      }
      fresh.push_back(i);
      if (!known) continue;
      results[i].replaced = place->second.id;
      replaced.push_back(place->second);
    }
    RemoveRows(replaced);
    const std::vector<uint64_t> ids = ReserveIds(fresh.size());
    for (size_t i = 0; i < fresh.size(); ++i) results[fresh[i]].id = ids[i];
    CopyNew(pictures, fresh, ids);
    return results;
  }

  std::optional<uint64_t> Remove(std::string_view path) override {
    CheckOpen();
    const PostgresResult result = connection_->Query(
        fmt::format("SELECT id, code IS NOT NULL FROM {} WHERE path = $1", table_),
        PostgresParameters().AddBytes(path));
    if (result.rows() == 0) return std::nullopt;
    const Old old = {.id = static_cast<uint64_t>(result.Number(0, 0)),
                     .has_code = result.Number(0, 1) != 0};
    RemoveRows({&old, 1});
    return old.id;
  }

  void Touch(std::string_view path, int64_t modified_ns) override {
    CheckOpen();
    connection_->Query(
        fmt::format("UPDATE {} SET modified_ns = $2, version = $3 WHERE path = $1", table_),
        PostgresParameters().AddBytes(path).Add(modified_ns).Add(version_));
  }

  void ClearNext() override {
    CheckOpen();
    connection_->Execute("DELETE FROM bitpool_next_pictures; DELETE FROM bitpool_next_claims");
  }

  void SwitchToNext() override {
    CheckOpen();
    ++generation_;
    // Not TRUNCATE, which snapshots from before would see.
    connection_->Execute(
        fmt::format("DELETE FROM bitpool_pictures; "
                    "INSERT INTO bitpool_pictures({0}, version) "
                    "SELECT {0}, {1} FROM bitpool_next_pictures; "
                    "DELETE FROM bitpool_next_pictures; DELETE FROM bitpool_changes; "
                    "UPDATE bitpool_state SET known_since = {2}",
                    kPostgresPictureColumns, version_, generation_));
  }

  void ForgetChanges(uint64_t until) override {
    CheckOpen();
    connection_->Execute(
        fmt::format("DELETE FROM bitpool_changes WHERE generation <= {0}; "
                    "UPDATE bitpool_state SET known_since = greatest(known_since, {0})",
                    until));
  }

  void PutSetting(std::string_view key, std::string_view value) override {
    CheckOpen();
    connection_->Query(
        "INSERT INTO bitpool_settings(key, value) VALUES($1, $2) "
        "ON CONFLICT(key) DO UPDATE SET value = $2",
        PostgresParameters().AddBytes(key).AddBytes(value));
  }

  std::optional<std::string> Setting(std::string_view key) const override {
    CheckOpen();
    const PostgresResult result = connection_->Query(
        "SELECT value FROM bitpool_settings WHERE key = $1", PostgresParameters().AddBytes(key));
    if (result.rows() == 0) return std::nullopt;
    return std::string(result.Bytes(0, 0));
  }

  void Settle(std::span<const std::string> paths) override {
    CheckOpen();
    connection_->Query(fmt::format("DELETE FROM {} WHERE path = ANY($1)", PostgresClaimsOf(set_)),
                       PostgresParameters().AddByteStrings(paths));
  }

  bool IsWorkUnderWay() const override {
    CheckOpen();
    return connection_->ReadNumber(
               "SELECT EXISTS(SELECT FROM bitpool_claims) OR "
               "EXISTS(SELECT FROM bitpool_next_claims) OR "
               "EXISTS(SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND "
               "objsubid = 2 AND classid IN ('bitpool_claims'::regclass, "
               "'bitpool_next_claims'::regclass) AND database = "
               "(SELECT oid FROM pg_database WHERE datname = current_database()))") != 0;
  }

  uint64_t AddDecision(const Decision& decision) override {
    CheckOpen();
    PostgresParameters parameters;
    parameters.Add(std::bit_cast<int64_t>(++last_decision_))
        .Add(static_cast<int64_t>(decision.kind));
    for (const PictureMark* mark : {&decision.first, &decision.second}) {
      parameters.AddBytes(mark->path)
          .Add(std::bit_cast<int64_t>(mark->size))
          .Add(std::bit_cast<int64_t>(mark->content_hash));
    }
    connection_->Query("INSERT INTO bitpool_decisions VALUES($1, $2, $3, $4, $5, $6, $7, $8)",
                       parameters);
    return last_decision_;
  }

  bool RemoveDecision(uint64_t id) override {
    CheckOpen();
    return connection_
               ->Query("DELETE FROM bitpool_decisions WHERE id = $1",
                       PostgresParameters().Add(std::bit_cast<int64_t>(id)))
               .changed() > 0;
  }

  uint64_t Commit() override {
    CheckOpen();
    if (changed_ && set_ == PictureSet::kCurrent) ++generation_;
    connection_->Query("UPDATE bitpool_state SET generation = $1, version = $2, last_decision = $3",
                       PostgresParameters()
                           .Add(std::bit_cast<int64_t>(generation_))
                           .Add(version_)
                           .Add(std::bit_cast<int64_t>(last_decision_)));
    connection_->Query(
        "SELECT pg_notify('bitpool_' || replace(library::text, '-', ''), version::text) "
        "FROM bitpool_state");
    connection_->Execute("COMMIT");
    open_ = false;
    connections_->GiveBack(std::move(connection_));
    *in_batch_ = false;
    return generation_;
  }

 private:
  // What there already is of a picture.
  struct Old {
    uint64_t id = 0;
    uint64_t size = 0;
    uint64_t content_hash = 0;
    std::vector<uint8_t> code = {};
    bool has_code = false;

    bool IsSameAs(const CataloguedPicture& picture) const {
      return size == picture.size && content_hash == picture.content_hash && code == picture.code;
    }
  };

  void CheckOpen() const {
    // After a failure PostgreSQL aborts the transaction.
    if (open_ && connection_->in_good_transaction()) return;
    throw Error(ErrorCode::kInvalidArgument, "this batch of changes is over");
  }

  void End() {
    open_ = false;
    RollBack();
    *in_batch_ = false;
  }

  void RollBack() noexcept {
    try {
      if (connection_ && connection_->in_transaction()) connection_->Execute("ROLLBACK");
      if (connection_) connections_->GiveBack(std::move(connection_));
    } catch (...) {  // the server does it when it notices that we are gone
    }
    connection_.reset();
  }

  std::unordered_map<std::string, Old> FindOld(std::span<const CataloguedPicture> pictures) {
    std::vector<std::string> paths;
    paths.reserve(pictures.size());
    for (const CataloguedPicture& picture : pictures) paths.push_back(picture.path);
    const PostgresResult result =
        connection_->Query(fmt::format("SELECT id, path, size, content_hash, code FROM {} "
                                       "JOIN unnest($1) AS asked(path) USING(path)",
                                       table_),
                           PostgresParameters().AddByteStrings(paths));
    std::unordered_map<std::string, Old> old;
    for (int row = 0; row < result.rows(); ++row) {
      old.emplace(result.Bytes(row, 1),
                  Old{.id = static_cast<uint64_t>(result.Number(row, 0)),
                      .size = std::bit_cast<uint64_t>(result.Number(row, 2)),
                      .content_hash = std::bit_cast<uint64_t>(result.Number(row, 3)),
                      .code = result.Code(row, 4),
                      .has_code = !result.IsNull(row, 4)});
    }
    return old;
  }

  // Ids are durable before anything is named by them, even what is written beside the database:
  // they come from a transaction of their own, and no other batch gets them again, whatever becomes
  // of this one.
  std::vector<uint64_t> ReserveIds(size_t count) {
    if (count == 0) return {};
    auto other = connections_->Take("SELECT");
    const PostgresResult result =
        other->Query("SELECT nextval('bitpool_picture_ids') FROM generate_series(1, $1)",
                     PostgresParameters().Add(static_cast<int64_t>(count)));
    std::vector<uint64_t> ids;
    ids.reserve(count);
    for (int row = 0; row < result.rows(); ++row) {
      ids.push_back(static_cast<uint64_t>(result.Number(row, 0)));
    }
    connections_->GiveBack(std::move(other));
    return ids;
  }

  void CopyNew(std::span<const CataloguedPicture> pictures, std::span<const size_t> fresh,
               std::span<const uint64_t> ids) {
    if (fresh.empty()) return;
    changed_ = true;
    PostgresPictureCopy rows(*connection_, set_, version_);
    for (size_t i = 0; i < fresh.size(); ++i) rows.Add(ids[i], pictures[fresh[i]]);
    rows.Finish();
    if (set_ != PictureSet::kCurrent) return;
    PostgresCopy changes(*connection_, "bitpool_changes(generation, id, code, coded)");
    for (size_t i = 0; i < fresh.size(); ++i) {
      const std::vector<uint8_t>& code = pictures[fresh[i]].code;
      if (code.empty()) continue;
      changes.StartRow(4);
      changes.Add(static_cast<int64_t>(generation_ + 1));
      changes.Add(std::bit_cast<int64_t>(ids[i]));
      changes.AddCode(code);
      changes.AddFlag(true);
    }
    changes.Finish();
  }

  void RemoveRows(std::span<const Old> rows) {
    if (rows.empty()) return;
    changed_ = true;
    std::vector<int64_t> ids, coded;
    for (const Old& row : rows) {
      ids.push_back(std::bit_cast<int64_t>(row.id));
      if (row.has_code) coded.push_back(ids.back());
    }
    connection_->Query(fmt::format("DELETE FROM {} WHERE id = ANY($1)", table_),
                       PostgresParameters().AddNumbers(ids));
    if (set_ != PictureSet::kCurrent) return;
    // The changes of this batch belong to the generation that its commit makes.
    connection_->Query(
        "INSERT INTO bitpool_changes(generation, id, code, coded) "
        "SELECT $1, gone.id, NULL, gone.id = ANY($3) FROM unnest($2) AS gone(id) "
        "ON CONFLICT(generation, id) DO UPDATE SET code = NULL",
        PostgresParameters()
            .Add(static_cast<int64_t>(generation_ + 1))
            .AddNumbers(ids)
            .AddNumbers(coded));
  }

  std::shared_ptr<PostgresConnections> connections_;
  PictureSet set_;
  const char* table_;
  std::shared_ptr<std::atomic<bool>> in_batch_;
  std::unique_ptr<PostgresDatabase> connection_;
  uint64_t generation_ = 0;
  int64_t version_ = 0;
  uint64_t last_decision_ = 0;
  bool changed_ = false;
  bool open_ = true;
};

}  // namespace

std::unique_ptr<CatalogueBatch> StartPostgresBatch(
    const std::shared_ptr<PostgresConnections>& connections, PictureSet set,
    const PostgresOptions& options, const std::shared_ptr<std::atomic<bool>>& in_batch) {
  return std::make_unique<PostgresBatch>(connections, set, options, in_batch);
}

}  // namespace bitpool
