#include "bitpool/catalog/postgres_catalogue.h"

#include <atomic>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/catalog/postgres_batch.h"
#include "bitpool/catalog/postgres_schema.h"
#include "bitpool/catalog/postgres_snapshot.h"

namespace bitpool {
namespace {

class PostgresCatalogue : public Catalogue {
 public:
  PostgresCatalogue(std::string address, CatalogueAccess access, const PostgresOptions& options)
      : address_(std::move(address)),
        name_(ShownAddress(address_)),
        writable_(access != CatalogueAccess::kRead),
        options_(options),
        connections_(std::make_shared<PostgresConnections>(address_)) {
    connections_->GiveBack(OpenPostgresDatabase(address_, access));
  }

  std::unique_ptr<CatalogueSnapshot> Snapshot() const override {
    return TakePostgresSnapshot(connections_);
  }

  std::unique_ptr<CatalogueBatch> StartBatch(PictureSet set) override {
    if (!writable_) Refuse("the catalogue was opened for reading only");
    if (in_batch_->exchange(true)) Refuse("another batch of changes is not over");
    try {
      return StartPostgresBatch(connections_, set, options_, in_batch_);
    } catch (...) {  // also when there is no memory for the batch itself
      *in_batch_ = false;
      throw;
    }
  }

  std::unique_ptr<PictureClaims> Claims(PictureSet set) override {
    if (!writable_) Refuse("the catalogue was opened for reading only");
    return MakePostgresClaims(address_, set);
  }

 private:
  [[noreturn]] void Refuse(const char* reason) const {
    throw Error(ErrorCode::kInvalidArgument, name_, reason);
  }

  std::string address_;
  std::string name_;
  bool writable_;
  PostgresOptions options_;
  std::shared_ptr<PostgresConnections> connections_;
  std::shared_ptr<std::atomic<bool>> in_batch_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

std::unique_ptr<Catalogue> OpenPostgresCatalogue(const std::string& address, CatalogueAccess access,
                                                 const PostgresOptions& options) {
  return std::make_unique<PostgresCatalogue>(address, access, options);
}

}  // namespace bitpool
