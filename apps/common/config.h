#pragma once

#include <string>

#include "bitpool/training/hash_methods.h"

namespace bitpool::app {

// The constants of a file that `tune` has written, where `settings` has none. Errors name the file.
HashSettings LoadConfig(const std::string& file, const HashSettings& settings);

// The method whose constants the file has.
std::string MethodOfConfig(const std::string& file);

}  // namespace bitpool::app
