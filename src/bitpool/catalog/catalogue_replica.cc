#include "bitpool/catalog/catalogue_replica.h"

#include <chrono>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/catalog/postgres_schema.h"
#include "bitpool/catalog/replica_file.h"
#include "bitpool/catalog/sqlite_snapshot.h"

namespace bitpool {
namespace {

constexpr int kReadWaitMs = 5000;
constexpr int kSliceMs = 100;  // how long a stop may take
constexpr int kBetweenTriesMs = 500;

class ReplicaCatalogue : public Catalogue {
 public:
  ReplicaCatalogue(std::string address, const std::filesystem::path& path, ReplicaOptions options)
      : address_(std::move(address)), name_(ShownAddress(address_)), options_(std::move(options)) {
    connection_ = OpenPostgresDatabase(address_, CatalogueAccess::kRead);
    file_ = std::make_unique<ReplicaFile>(path, PostgresLibraryId(*connection_));
    file_->BringTo(*connection_);
    readers_ = std::make_shared<ReadConnections>(path, kReadWaitMs);
    follower_ = std::jthread([this](const std::stop_token& stop) { Follow(stop); });
  }

  std::unique_ptr<CatalogueSnapshot> Snapshot() const override {
    return TakeSqliteSnapshot(readers_);
  }

  std::unique_ptr<CatalogueBatch> StartBatch(PictureSet /*set*/) override {
    throw Error(ErrorCode::kInvalidArgument, name_, "the catalogue was opened for reading only");
  }

  void Refresh() const override {
    try {
      BringUpToDate();
    } catch (const CatalogueAway&) {  // the follower reports it
    }
  }

 private:
  void BringUpToDate() const {
    const std::lock_guard lock(copying_);
    if (!connection_ || connection_->is_lost()) {
      connection_.reset();
      connection_ = OpenPostgresDatabase(address_, CatalogueAccess::kRead);
    }
    file_->BringTo(*connection_);
  }

  void Follow(const std::stop_token& stop) {
    bool away = false;
    while (!stop.stop_requested()) {
      std::string problem;
      try {
        Listen(stop, away);
      } catch (const std::exception& error) {
        problem = error.what();
      }
      if (stop.stop_requested()) return;
      if (!std::exchange(away, true)) {
        Tell(problem + "; answers are from the last version that was seen");
      }
      Sleep(stop, kBetweenTriesMs);
    }
  }

  // Follows the original until it can no longer be reached.
  void Listen(const std::stop_token& stop, bool& away) {
    const auto listener = OpenPostgresDatabase(address_, CatalogueAccess::kRead);
    listener->Execute("LISTEN " + PostgresChannelOf(*listener));
    // Nobody was listening when earlier changes were announced.
    BringUpToDate();
    if (std::exchange(away, false)) Tell(name_ + ": the database is back");
    int waited = 0;
    while (!stop.stop_requested()) {
      const bool told = listener->WaitForNotification(kSliceMs);
      waited += kSliceMs;
      if (!told && waited < options_.poll_ms) continue;
      BringUpToDate();
      waited = 0;
    }
  }

  void Tell(const std::string& what) const {
    if (options_.tell) options_.tell(what);
  }

  static void Sleep(const std::stop_token& stop, int ms) {
    for (int slept = 0; slept < ms && !stop.stop_requested(); slept += kSliceMs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kSliceMs));
    }
  }

  std::string address_;
  std::string name_;
  ReplicaOptions options_;
  mutable std::mutex copying_;  // held by whoever brings the copy up to date
  mutable std::unique_ptr<PostgresDatabase> connection_;
  std::unique_ptr<ReplicaFile> file_;
  std::shared_ptr<ReadConnections> readers_;
  std::jthread follower_;  // ends before all that it uses
};

}  // namespace

std::unique_ptr<Catalogue> OpenCatalogueReplica(const std::string& address,
                                                const std::filesystem::path& file,
                                                const ReplicaOptions& options) {
  return std::make_unique<ReplicaCatalogue>(address, file, options);
}

}  // namespace bitpool
