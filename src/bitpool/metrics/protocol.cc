#include "bitpool/metrics/protocol.h"

#include <fmt/format.h>

#include <string_view>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

std::string_view NameOf(ApKind kind) {
  switch (kind) {
    case ApKind::kRectangular:
      return "rectangular";
    case ApKind::kTrapezoidal:
      return "trapezoidal";
  }
  return "?";
}

std::string_view NameOf(ApDivisor divisor) {
  switch (divisor) {
    case ApDivisor::kExisting:
      return "the relevant items that exist";
    case ApDivisor::kReachable:
      return "the relevant items that can be reached";
    case ApDivisor::kFound:
      return "the relevant items found";
  }
  return "?";
}

std::string_view NameOf(TiePolicy ties) {
  switch (ties) {
    case TiePolicy::kExpected:
      return "expected over ties";
    case TiePolicy::kOptimistic:
      return "relevant first in ties";
    case TiePolicy::kPessimistic:
      return "relevant last in ties";
    case TiePolicy::kInputOrder:
      return "ties in input order";
  }
  return "?";
}

}  // namespace

void Protocol::Validate() const {
  ap.Validate();
  for (const Index k : at) {
    if (k >= 1) continue;
    throw Error(ErrorCode::kInvalidArgument, fmt::format("at: expected 1 or more, got {}", k));
  }
}

std::string Protocol::Describe() const {
  const std::string results =
      ap.cutoff == 0 ? "all results" : fmt::format("the first {} results", ap.cutoff);
  return fmt::format("{} AP of {}, divided by {}, {}", NameOf(ap.kind), results, NameOf(ap.divisor),
                     NameOf(ties));
}

Protocol HashingProtocol() { return {}; }

Protocol HashingAt(Index results) {
  if (results < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("mAP of the first {} results: expected 1 or more", results));
  }
  return {.ap = {.divisor = ApDivisor::kFound, .cutoff = results}};
}

Protocol HolidaysProtocol() { return {.ap = {.kind = ApKind::kTrapezoidal}}; }

}  // namespace bitpool
