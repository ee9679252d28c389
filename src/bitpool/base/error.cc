#include "bitpool/base/error.h"

#include <utility>

namespace bitpool {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid argument";
    case ErrorCode::kNotFound:
      return "not found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kResources:
      return "out of resources";
    case ErrorCode::kIo:
      return "input/output error";
    case ErrorCode::kCancelled:
      return "cancelled";
    case ErrorCode::kInternal:
      return "internal error";
  }
  return "internal error";
}

Error::Error(ErrorCode code, Parts parts)
    : std::runtime_error(Line(parts, 0)),
      code_(code),
      parts_(std::make_shared<const Parts>(std::move(parts))) {}

std::string Error::Line(const Parts& parts, size_t first_context) {
  std::string line;
  for (size_t i = first_context; i < parts.context.size(); ++i) line += parts.context[i] + ": ";
  return line + parts.reason;
}

std::string Error::MessageWithin(std::string_view outermost) const {
  return Line(*parts_, !context().empty() && context().front() == outermost ? 1 : 0);
}

Error Error::In(const std::string& outer) const {
  if (!context().empty() && context().front() == outer) return *this;
  Parts parts = *parts_;
  parts.context.insert(parts.context.begin(), outer);
  return {code_, std::move(parts)};
}

Error Error::With(const std::string& detail) const {
  return {code_, Parts{context(), reason() + " (" + detail + ")"}};
}

}  // namespace bitpool
