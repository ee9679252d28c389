#pragma once

#include <string>
#include <string_view>

namespace bitpool {

// Whether a location is that of a PostgreSQL database: postgresql://… or postgres://…
bool IsPostgresAddress(std::string_view location);

// The address as it may be shown to anyone: the host, the port and the name of the database that it
// names, without users, passwords and options. Throws kInvalidArgument for an address that libpq
// does not understand, without repeating it.
std::string ShownAddress(const std::string& address);

}  // namespace bitpool
