#include "number_checks.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

namespace bitpool::app {
namespace {

template <class Number>
bool Parses(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

template <class Number>
bool IsWhole(std::string_view text) {
  Number number = 0;
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  const bool octal = digits.size() > 1 && digits.starts_with('0');
  return !octal && Parses(text, number);
}

bool IsReal(std::string_view text) {
  double number = 0;
  return Parses(text, number) && std::isfinite(number);
}

// An option that follows too few values is taken for one.
bool LooksLikeAnOption(std::string_view value) {
  return value.size() > 1 && value[0] == '-' && value.find_first_of("0123456789.") != 1;
}

// What is wrong with a value, as CLI11 has it: empty when nothing is.
std::string Problem(bool fine, std::string_view expected, const std::string& value) {
  if (fine) return "";
  return fmt::format("expected {}{}, got \"{}\"",
                     LooksLikeAnOption(value) ? "one more value, " : "", expected, value);
}

void RequireNumber(CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.find("FLOAT") != std::string::npos) {
    option.check(
        [](const std::string& value) { return Problem(IsReal(value), "a finite number", value); });
  } else if (type.starts_with("INT")) {
    option.check([](const std::string& value) {
      return Problem(IsWhole<int64_t>(value), "a whole number", value);
    });
  } else if (type.starts_with("UINT")) {
    option.check([](const std::string& value) {
      return Problem(IsWhole<uint64_t>(value), "a whole number from 0", value);
    });
  }
}

}  // namespace

CLI::Validator WholeFrom(int64_t least) {
  return {[least](std::string& value) {
            int64_t number = 0;
            return Problem(IsWhole<int64_t>(value) && Parses(value, number) && number >= least,
                           fmt::format("a whole number from {}", least), value);
          },
          least == 0 ? "NONNEGATIVE" : "POSITIVE"};
}

void RequireNumbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options([](CLI::Option*) { return true; })) {
    RequireNumber(*option);
  }
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    RequireNumbers(*command);
  }
}

}  // namespace bitpool::app
