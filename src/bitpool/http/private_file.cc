#include "bitpool/http/private_file.h"

#include <fmt/format.h>

#include <system_error>

#include "bitpool/base/error.h"

namespace bitpool {

void RequirePrivate(const std::string& file, std::filesystem::perms others, std::string_view what) {
  std::error_code error;
  const auto rights = std::filesystem::status(file, error).permissions();
  if (error || (rights & others) == std::filesystem::perms::none) return;
  throw Error(ErrorCode::kInvalidArgument, file,
              fmt::format("every user of this machine can {} it; expected `chmod 600`", what));
}

}  // namespace bitpool
