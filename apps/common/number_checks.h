#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

namespace bitpool::app {

// Makes every option of the program and its subcommands that takes a number refuse anything else:
// CLI11 on its own takes 2⁶⁴ as the largest number there is, −1 as that too where numbers have no
// sign, 010 as 8 and an empty value as 0, and accepts words such as "nan". To be called when all
// options are there.
void RequireNumbers(CLI::App& app);

// For an option: whole numbers from `least` on. CLI11's own checks print the largest number of
// double precision with all of its 309 digits.
CLI::Validator WholeFrom(int64_t least);

}  // namespace bitpool::app
