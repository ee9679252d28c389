#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "bitpool/training/methods.h"

namespace bitpool::app {

// Adds an option to the command for every option of the methods but the bits: what the user gives
// is set in `settings`. Switches are flags that turn them off.
void AddMethodOptions(CLI::App* command, MethodSettings& settings);

// The same for the constants that `tune` chooses, and the switches: those that are given stay as
// they are.
void AddFixedOptions(CLI::App* command, MethodSettings& settings);

// Those methods, as a help text has them.
std::string ListMethods(const std::vector<std::string>& names);

// The constants of a file that `tune` has written, where `settings` has none. Errors name the file.
MethodSettings LoadConfig(const std::string& file, const MethodSettings& settings);

// The method whose constants the file has.
std::string MethodOfConfig(const std::string& file);

}  // namespace bitpool::app
