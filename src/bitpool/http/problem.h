#pragma once

#include <stdexcept>
#include <string>

#include "bitpool/http/message.h"

namespace bitpool {

// An error as a client sees it: a status, a code for programs, and a message for a person.
struct Problem {
  int status = 500;
  std::string code = "internal";
  std::string detail;
};

// Thrown by code that cannot answer a request.
class ProblemError : public std::runtime_error {
 public:
  ProblemError(int status, std::string code, const std::string& detail)
      : std::runtime_error(detail),
        problem_{.status = status, .code = std::move(code), .detail = detail} {}

  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

// The problem as application/problem+json (RFC 9457).
HttpResponse ProblemResponse(const Problem& problem, const std::string& request_id);

}  // namespace bitpool
