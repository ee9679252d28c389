#include "bitpool/catalog/postgres_address.h"

#include <libpq-fe.h>

#include <map>
#include <memory>

#include "bitpool/base/error.h"

namespace bitpool {

bool IsPostgresAddress(std::string_view location) {
  return location.starts_with("postgresql://") || location.starts_with("postgres://");
}

std::string ShownAddress(const std::string& address) {
  // What libpq says about an address that it cannot read may have a password in it.
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(
      PQconninfoParse(address.c_str(), nullptr), PQconninfoFree);
  if (!options) {
    throw Error(ErrorCode::kInvalidArgument,
                "the address of the database cannot be read: expected postgresql://HOST/DATABASE, "
                "with special characters written as %XX");
  }
  std::map<std::string_view, std::string> given;
  for (const PQconninfoOption* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given[option->keyword] = option->val;
  }
  std::string shown = "postgresql://" + given["host"];
  if (!given["port"].empty()) shown += ":" + given["port"];
  return shown + "/" + given["dbname"];
}

}  // namespace bitpool
