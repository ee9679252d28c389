#include "bitpool/catalog/catalogue.h"

#include "bitpool/catalog/sqlite_catalogue.h"

namespace bitpool {

std::unique_ptr<Catalogue> OpenCatalogue(const std::string& location, CatalogueAccess access) {
  return OpenSqliteCatalogue(location, access);
}

}  // namespace bitpool
