#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <type_traits>

#include "bitpool/base/error.h"

// Checks of options, worded alike everywhere: "lambda: expected 0 or more, got -1".
namespace bitpool {

// Throws kInvalidArgument unless the option is good.
template <class Value>
void RequireOption(bool good, std::string_view name, std::string_view expected, const Value& got) {
  if (good) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: expected {}, got {}", name, expected, got));
}

inline void RequirePositive(double value, std::string_view name) {
  RequireOption(value > 0 && std::isfinite(value), name, "a positive number", value);
}

template <class Integer>
void RequireAtLeast(std::type_identity_t<Integer> least, Integer value, std::string_view name) {
  RequireOption(value >= least, name, fmt::format("{} or more", least), value);
}

}  // namespace bitpool
