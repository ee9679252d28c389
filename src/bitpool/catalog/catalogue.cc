#include "bitpool/catalog/catalogue.h"

#include "bitpool/catalog/postgres_address.h"
#include "bitpool/catalog/postgres_catalogue.h"
#include "bitpool/catalog/sqlite_catalogue.h"

namespace bitpool {

std::vector<PutResult> CatalogueBatch::PutAll(std::span<const CataloguedPicture> pictures) {
  std::vector<PutResult> results;
  results.reserve(pictures.size());
  for (const CataloguedPicture& picture : pictures) results.push_back(Put(picture));
  return results;
}

std::unique_ptr<Catalogue> OpenCatalogue(const std::string& location, CatalogueAccess access) {
  if (IsPostgresAddress(location)) return OpenPostgresCatalogue(location, access);
  return OpenSqliteCatalogue(location, access);
}

}  // namespace bitpool
