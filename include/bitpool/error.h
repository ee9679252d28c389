#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/export.h"

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
BITPOOL_EXPORT std::string_view ErrorCodeName(ErrorCode code);

// The only exception type the library throws on purpose. It keeps what it is about (a file, and
// within it a section or a picture) apart from the reason. what() gives both in one line that can
// be shown to a user as it is, for example `photos.bpi: section "ids": 3 ids for 4 codes`.
class BITPOOL_EXPORT Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& reason) : Error(code, Parts{{}, reason}) {}
  Error(ErrorCode code, const std::string& context, const std::string& reason)
      : Error(code, Parts{{context}, reason}) {}

  ErrorCode code() const { return code_; }
  // What it is about, the outermost first; empty where only the caller can know.
  const std::vector<std::string>& context() const { return parts_->context; }
  const std::string& reason() const { return parts_->reason; }
  // The line of what() for a reader who already knows the outermost context, because a list or a
  // heading names it: without that context, if it is the outermost.
  std::string MessageWithin(std::string_view outermost) const;

  // The same error as seen from further out. A context that is already the outermost is not
  // repeated, so that a function may name its file without asking whether an inner one did.
  Error In(const std::string& outer) const;
  // The same error with a detail in parentheses after its reason.
  Error With(const std::string& detail) const;
  // The same error in the terms of another caller: a refused argument means a damaged file where
  // the argument came from a file.
  Error As(ErrorCode code) const { return {code, *parts_}; }

 private:
  struct Parts {
    std::vector<std::string> context;
    std::string reason;
  };
  Error(ErrorCode code, Parts parts);
  static std::string Line(const Parts& parts, size_t first_context);

  ErrorCode code_;
  std::shared_ptr<const Parts> parts_;  // shared, because copies of an exception must not throw
};

// Runs `job`; what it throws is about `context`.
template <class Job>
decltype(auto) InContext(const std::string& context, const Job& job) {
  try {
    return job();
  } catch (const Error& error) {
    throw error.In(context);
  }
}

}  // namespace bitpool
