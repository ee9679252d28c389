#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bitpool::app {

// What a program takes on its command line, as a person reads it: for manual pages and for the
// completion of shells, which both walk the subcommands of a CLI::App.
struct OptionText {
  std::vector<std::string> names;    // with their dashes, short ones first; empty: a positional
  std::string value;                 // what it is called in a synopsis; empty: a flag
  std::string description;           // without a full stop
  std::string default_value;         // empty: none, or the description has it
  std::string expected;              // what a value has to be, where that is not a list of words
  std::vector<std::string> choices;  // the words it may be, where there are only some
  std::string group;
  bool repeated = false;  // takes several values
  bool required = false;
};

struct CommandText {
  std::vector<std::string> words;  // the program and its subcommands: bitpool, data, get
  std::string description;         // without a full stop
  std::string footer;
  std::vector<OptionText> positionals, options;
  std::vector<std::string> subcommands;
};

// All commands of a program, each before its subcommands. Options without a group are hidden, as
// they are in --help.
std::vector<CommandText> DescribeCommands(const CLI::App& program);

// The words of a command with something between them.
std::string JoinWords(const CommandText& command, const char* between);

}  // namespace bitpool::app
