#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace bitpool::app {

// Writes the files that a package ships beside the program, all of them made from the same words as
// --help: a manual page for every command (man/), and shell completion (completion/). Existing
// files are replaced.
void WriteHelp(const CLI::App& program, const std::string& version, const std::string& folder);

}  // namespace bitpool::app
