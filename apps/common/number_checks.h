#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace bitpool::app {

// Makes every option of the program and its subcommands that takes a number refuse anything else:
// CLI11 alone takes 2⁶⁴ for the largest number there is, −1 for it where numbers have no sign, 010
// for 8, nothing for 0, and words such as "nan". To be called when all options are there.
void RequireNumbers(CLI::App& app);

// For an option: whole numbers from `least` on. CLI11's own checks print the largest number of
// double precision with all of its 309 digits.
CLI::Validator WholeFrom(int64_t least);

}  // namespace bitpool::app
