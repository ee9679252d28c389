#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace bitpool::app {

// Writes what a package has beside the program, all of it made from the same words as --help: a
// page of the manual for every command (man/), and the completion of shells (completion/). Existing
// files are replaced.
void WriteHelp(const CLI::App& program, const std::string& version, const std::string& folder);

}  // namespace bitpool::app
