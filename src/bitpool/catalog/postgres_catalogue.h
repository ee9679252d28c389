#pragma once

#include <memory>
#include <string>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

struct PostgresOptions {
  int wait_ms = 60000;  // how long to wait for another process that is writing
};

// A catalogue in a PostgreSQL database (14 or newer), in the schema that comes first on the search
// path. `address` is postgresql://…; what it does not say, such as a password, is taken from where
// libpq looks for it. A snapshot is a read transaction on a connection of its own, which is kept
// for the next one. A batch is a transaction that locks the state of the catalogue, so that batches
// of many processes follow each other; listeners are notified of each. Throws as OpenCatalogue.
std::unique_ptr<Catalogue> OpenPostgresCatalogue(const std::string& address, CatalogueAccess access,
                                                 const PostgresOptions& options = {});

}  // namespace bitpool
