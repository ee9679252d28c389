#include "library_rights.h"

#include "bitpool/catalog/postgres_address.h"
#include "least_rights.h"

namespace bitpool::app {

void KeepLeastRightsWith(const std::string& library, std::vector<std::filesystem::path> outputs) {
  if (IsPostgresAddress(library)) return;
  outputs.emplace_back(library);
  KeepLeastRights(outputs);
}

}  // namespace bitpool::app
