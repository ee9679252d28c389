#include "config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bitpool/io/env.h"
#include "bitpool/io/json_text.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/tune.h"
#include "session.h"

namespace bitpool::app {
namespace {

// What an option means to some methods.
struct OptionMeaning {
  std::string help;
  std::vector<std::string> methods;
};

struct SharedOption {
  OptionDescription description;  // the first
  std::vector<OptionMeaning> meanings;
};

// Every option of the methods once, but for the bits.
std::vector<SharedOption> SharedOptions() {
  std::vector<SharedOption> all;
  for (const Method& method : Methods()) {
    for (const OptionDescription& option : method.options) {
      if (option.name == "bits") continue;
      auto found = std::ranges::find(
          all, option.name, [](const SharedOption& shared) { return shared.description.name; });
      if (found == all.end())
        found = all.insert(all.end(), {.description = option, .meanings = {}});
      auto meaning = std::ranges::find(found->meanings, option.help, &OptionMeaning::help);
      if (meaning == found->meanings.end()) {
        meaning = found->meanings.insert(meaning, {.help = option.help, .methods = {}});
      }
      meaning->methods.push_back(method.name);
    }
  }
  return all;
}

// A switch that the program can only turn off; others it can only turn on.
bool IsOnByDefault(const OptionDescription& option) {
  return option.type == OptionType::kSwitch && option.default_value != 0;
}

void AddOption(CLI::App* command, const OptionDescription& option, const std::string& help,
               MethodSettings& settings) {
  const std::string name = option.name;
  std::string spelled = name;  // as options of programs are: --learn-pooling
  std::ranges::replace(spelled, '_', '-');
  if (IsOnByDefault(option)) {
    command->add_flag_callback(
        "--no-" + spelled, [&settings, name] { settings.options[name] = 0; }, help);
  } else if (option.type == OptionType::kSwitch) {
    command->add_flag_callback(
        "--" + spelled, [&settings, name] { settings.options[name] = 1; }, help);
  } else if (option.type == OptionType::kWhole) {
    command->add_option_function<int>(
        "--" + spelled, [&settings, name](int value) { settings.options[name] = value; }, help);
  } else {
    command->add_option_function<double>(
        "--" + spelled, [&settings, name](double value) { settings.options[name] = value; }, help);
  }
}

std::string HelpOf(const SharedOption& option) {
  std::string help = option.description.help;
  if (IsOnByDefault(option.description)) {  // "Give …" is turned off by --no-…
    help.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(help.front())));
    return "Do not " + help;
  }
  if (option.description.of_pooling) return help + " (features)";
  std::vector<std::string> meanings;
  for (const OptionMeaning& meaning : option.meanings) {
    meanings.push_back(fmt::format("{} ({})", meaning.help, ListMethods(meaning.methods)));
  }
  return fmt::format("{}", fmt::join(meanings, ". "));
}

nlohmann::json ParseConfig(const std::string& file) {
  const auto view = Env::Posix().Map(file);
  nlohmann::json config = ParseJson(view->bytes());
  if (!config.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, file, "expected JSON that tune has written");
  }
  return config;
}

}  // namespace

void AddMethodOptions(CLI::App* command, MethodSettings& settings) {
  for (const SharedOption& option : SharedOptions()) {
    AddOption(command, option.description, HelpOf(option), settings);
  }
}

void AddFixedOptions(CLI::App* command, MethodSettings& settings) {
  const std::vector<std::string> tuned = TunedConstants();
  for (const SharedOption& option : SharedOptions()) {
    const std::string& name = option.description.name;
    if (std::ranges::find(tuned, name) != tuned.end()) {
      AddOption(command, option.description, "Fix " + name, settings);
    } else if (option.description.type == OptionType::kSwitch) {
      AddOption(command, option.description, HelpOf(option), settings);
    }
  }
}

std::string ListMethods(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

MethodSettings LoadConfig(const std::string& file, const MethodSettings& settings) {
  RequireValid(settings);  // what is wrong without the file is not wrong in it
  return NamingTheFile(file, [&] {
    MethodSettings all = ReadConfig(ParseConfig(file), settings);
    RequireValid(all);
    return all;
  });
}

std::string MethodOfConfig(const std::string& file) {
  const nlohmann::json config = ParseConfig(file);
  if (!config.contains("method") || !config["method"].is_string()) {
    throw Error(ErrorCode::kInvalidArgument, file, "expected \"method\" with a name");
  }
  return config["method"].get<std::string>();
}

}  // namespace bitpool::app
