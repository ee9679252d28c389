#include "bitpool/io/system_error.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

ErrorCode CodeOf(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EFBIG:
    case ENOLCK:
      return ErrorCode::kResources;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

void ThrowSystem(const std::filesystem::path& path, const char* action, int error_number) {
  throw Error(CodeOf(error_number), path.string(),
              fmt::format("cannot {}: {}", action, std::generic_category().message(error_number)));
}

}  // namespace bitpool
