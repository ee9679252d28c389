#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace bitpool {

// JSON that someone else may have written. Nothing is thrown: what is not JSON gives a value that
// is discarded (and is neither object nor array), and so does what is nested deeper than
// kMaxJsonDepth. nlohmann's parser takes any depth, but copying, comparing and writing recurse, and
// a megabyte of brackets would exhaust the stack.
nlohmann::json ParseJson(std::string_view text);
nlohmann::json ParseJson(std::span<const std::byte> text);

inline constexpr int kMaxJsonDepth = 64;

}  // namespace bitpool
