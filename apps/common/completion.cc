#include "completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace bitpool::app {
namespace {

std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Quoted(const std::vector<std::string>& words) {
  return Quoted(fmt::format("{}", fmt::join(words, " ")));
}

std::vector<std::string> Names(const std::vector<OptionText>& options) {
  std::vector<std::string> names;
  for (const OptionText& option : options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

// The further words of a command: its subcommands, or what its positionals may be.
std::vector<std::string> FurtherWords(const CommandText& command) {
  std::vector<std::string> words = command.subcommands;
  for (const OptionText& positional : command.positionals) {
    words.insert(words.end(), positional.choices.begin(), positional.choices.end());
  }
  return words;
}

// The subcommands with all the words before them, quoted.
std::vector<std::string> Paths(const std::vector<CommandText>& all) {
  std::vector<std::string> paths;
  for (const CommandText& command : all) {
    if (command.words.size() > 1) paths.push_back(Quoted(JoinWords(command, " ")));
  }
  return paths;
}

// The cases of bash and zsh in which the word before is an option that takes a value.
std::string ValueCases(const std::vector<CommandText>& all) {
  std::string text;
  for (const CommandText& command : all) {
    for (const OptionText& option : command.options) {
      if (option.value.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) {
        patterns.push_back(Quoted(JoinWords(command, " ") + " " + name));
      }
      text += fmt::format("    {}) value=yes offered={} ;;\n", fmt::join(patterns, "|"),
                          Quoted(option.choices));
    }
  }
  return text;
}

// The cases of bash and zsh for the command written so far.
std::string CommandCases(const std::vector<CommandText>& all) {
  std::string text;
  for (const CommandText& command : all) {
    text += fmt::format("    {}) switches={} offered={} ;;\n", Quoted(JoinWords(command, " ")),
                        Quoted(Names(command.options)), Quoted(FurtherWords(command)));
  }
  return text;
}

// What bash and zsh share: from the words that are written to those that are offered.
std::string Choosing(const std::vector<CommandText>& all, const char* written, const char* word) {
  return fmt::format(
      R"(  for each in {}; do
    case "$at $each" in
      {}) at="$at $each" ;;
    esac
  done
  case "$at $before" in
{}  esac
  [[ -n $value ]] || case $at in
{}  esac
  [[ -z $value && {} == -* ]] && offered="$switches "{}
)",
      written, fmt::join(Paths(all), "|"), ValueCases(all), CommandCases(all), word,
      Quoted(Names(all.front().options)));
}

std::string FishOption(const OptionText& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.choices.empty()) {
    text += " -x -a " + Quoted(option.choices);
  } else if (!option.value.empty()) {
    text += " -r";
  }
  return text + " -d " + Quoted(option.description);
}

}  // namespace

std::string BashCompletion(const std::vector<CommandText>& all) {
  // Where nothing is offered, `complete -o default` offers files.
  return fmt::format(
      R"(# Completion of {0} for bash.
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local at={0} each value= offered= switches=
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
{1}  COMPREPLY=($(compgen -W "$offered" -- "$word"))
}}
complete -o bashdefault -o default -F _{0} {0}
)",
      all.front().words.front(), Choosing(all, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"", "$word"));
}

std::string ZshCompletion(const std::vector<CommandText>& all) {
  return fmt::format(
      R"(#compdef {0}
_{0}() {{
  local before=${{words[CURRENT-1]}} at={0} each value= offered= switches=
  if [[ $PREFIX == --*=* ]]; then
    before=${{PREFIX%%=*}}
    compset -P '*='
  fi
{1}  if [[ -n $offered ]]; then compadd -- ${{=offered}}; else _files; fi
}}
_{0} "$@"
)",
      all.front().words.front(), Choosing(all, "${words[2,CURRENT-1]}", "$PREFIX"));
}

std::string FishCompletion(const std::vector<CommandText>& all) {
  const std::string program = all.front().words.front();
  std::string text = fmt::format(
      R"(# Completion of {0} for fish.
function __{0}_at
  set -l at {0}
  for each in (commandline -opc)[2..-1]
    contains -- "$at $each" {1}; and set at "$at $each"
  end
  test "$at" = "$argv"
end
)",
      program, fmt::join(Paths(all), " "));
  for (const OptionText& option : all.front().options) {
    text += fmt::format("complete -c {}{}\n", program, FishOption(option));
  }
  for (const CommandText& command : all) {
    const std::string start = fmt::format(
        "complete -c {} -n {}", program, Quoted("__" + program + "_at " + JoinWords(command, " ")));
    const std::vector<std::string> further = FurtherWords(command);
    if (!further.empty()) text += start + " -f -a " + Quoted(further) + "\n";
    if (command.words.size() == 1) continue;
    for (const OptionText& option : command.options) text += start + FishOption(option) + "\n";
  }
  return text;
}

}  // namespace bitpool::app
