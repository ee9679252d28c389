#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace bitpool {

// What went wrong, in the terms a caller can act on.
enum class ErrorCode {
  kInvalidArgument,  // the caller asked for something that has no meaning
  kNotFound,         // a file or an entry is not there
  kCorrupt,          // data is damaged or not what it claims to be
  kUnsupported,      // data is valid but of a kind or version this program does not read
  kResources,        // memory, disk space or another limit is used up
  kIo,               // the operating system refused a file operation
  kCancelled,        // the caller asked to stop
  kInternal,         // a mistake in this library
};

// The code in words, for example "not found".
std::string_view ErrorCodeName(ErrorCode code);

// The only exception type the library throws on purpose. The message is one line that names the
// file, the field and what was expected, and can be shown to a user as it is.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace bitpool
