#pragma once

#include <functional>
#include <string>

#include "bitpool/codes/hamming_scan.h"

// Shared by the tests of this room.
namespace bitpool {

// Runs `action` with each of the instruction sets that this processor has.
inline void ForEachTarget(std::function<void(const std::string&)> action) {
  ForEachScanTarget(
      [](const char* target, void* state) {
        (*static_cast<std::function<void(const std::string&)>*>(state))(target);
      },
      &action);
}

}  // namespace bitpool
