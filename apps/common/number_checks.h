#pragma once

#include <CLI/CLI.hpp>

namespace bitpool::app {

// Makes every option of the program and its subcommands that takes a number refuse anything else:
// CLI11 alone takes 2⁶⁴ for the largest number there is, −1 for it where numbers have no sign, 010
// for 8, nothing for 0, and words such as "nan". To be called when all options are there.
void RequireNumbers(CLI::App& app);

}  // namespace bitpool::app
