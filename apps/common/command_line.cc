#include "command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

namespace bitpool::app {
namespace {

std::vector<std::string> SplitWords(const std::string& text) {
  std::vector<std::string> words = CLI::detail::split(text, ',');
  for (std::string& word : words) CLI::detail::trim(word);
  return words;
}

std::string WithoutStop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// CLI11 writes what a value is as TYPE:CONDITION:CONDITION, a list of words as {one,two}.
void ReadType(const std::string& type, OptionText& text) {
  const size_t colon = type.find(':');
  text.value = type.substr(0, colon);
  if (colon == std::string::npos) return;
  const std::string condition = type.substr(colon + 1);
  if (condition.starts_with('{') && condition.ends_with('}')) {
    text.choices = SplitWords(condition.substr(1, condition.size() - 2));
  } else {
    text.expected = CLI::detail::to_lower(condition);
  }
}

OptionText Describe(const CLI::Option& option) {
  OptionText text;
  for (const std::string& name : option.get_snames()) text.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) text.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    ReadType(option.get_type_name(), text);
    if (option.get_positional()) text.value = option.get_name(true);
    text.default_value = option.get_default_str();
    text.repeated = option.get_items_expected_max() > 1;
  }
  text.description = WithoutStop(option.get_description());
  text.group = option.get_positional() ? "Arguments" : option.get_group();
  text.required = option.get_required();
  return text;
}

void Walk(const CLI::App& app, std::vector<std::string> words, std::vector<CommandText>& commands) {
  words.push_back(app.get_name());
  CommandText command{.words = words,
                      .description = WithoutStop(app.get_description()),
                      .footer = app.get_footer(),
                      .positionals = {},
                      .options = {},
                      .subcommands = {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->nonpositional() ? command.options : command.positionals).push_back(Describe(*option));
  }
  const auto subcommands =
      app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  for (const CLI::App* sub : subcommands) command.subcommands.push_back(sub->get_name());
  commands.push_back(std::move(command));
  for (const CLI::App* sub : subcommands) Walk(*sub, words, commands);
}

}  // namespace

std::vector<CommandText> DescribeCommands(const CLI::App& program) {
  std::vector<CommandText> commands;
  Walk(program, {}, commands);
  return commands;
}

std::string JoinWords(const CommandText& command, const char* between) {
  return fmt::format("{}", fmt::join(command.words, between));
}

}  // namespace bitpool::app
