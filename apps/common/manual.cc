#include "manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <utility>

#include "session.h"

namespace bitpool::app {
namespace {

// Text in which roff sees no commands, and quotes and dashes stay what they are.
std::string Escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      default:
        escaped += c;
    }
  }
  return escaped.starts_with('.') ? "\\&" + escaped : escaped;
}

std::string InCapitals(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string Bold(const std::string& text) { return "\\fB" + Escape(text) + "\\fR"; }
std::string Italic(const std::string& text) { return "\\fI" + Escape(text) + "\\fR"; }

std::string Values(const OptionText& option) {
  return Italic(option.value) + (option.repeated ? "..." : "");
}

std::string Synopsis(const CommandText& command) {
  std::string text = Bold(JoinWords(command, " "));
  if (!command.options.empty()) text += " [" + Italic("OPTIONS") + "]";
  for (const OptionText& positional : command.positionals) {
    text += " " + (positional.required ? Values(positional) : "[" + Values(positional) + "]");
  }
  if (!command.subcommands.empty()) text += " " + Italic("SUBCOMMAND");
  return text + "\n";
}

std::string Entry(const OptionText& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back(Bold(name));
  std::string text = fmt::format(".TP\n{}", fmt::join(names, ", "));
  if (!option.value.empty()) text += (names.empty() ? "" : " ") + Values(option);
  text += "\n" + Escape(option.description) + ".\n";
  if (!option.choices.empty()) {
    text += Escape(fmt::format("One of {}.\n", fmt::join(option.choices, ", ")));
  }
  if (!option.expected.empty()) text += Escape("Expected: " + option.expected + ".\n");
  if (!option.default_value.empty()) text += Escape("Default: " + option.default_value + ".\n");
  if (option.required) text += "Required.\n";
  return text;
}

// The entries of a list, under a heading for each group.
std::string Entries(const std::vector<OptionText>& options) {
  std::string text, group;
  for (const OptionText& option : options) {
    if (option.group != group) {
      group = option.group;
      text += ".SH " + Escape(InCapitals(group)) + "\n";
    }
    text += Entry(option);
  }
  return text;
}

std::string PageName(const CommandText& command) { return JoinWords(command, "-"); }
std::string Reference(const std::string& page) { return Bold(page) + "(1)"; }

std::string Subcommands(const CommandText& command, const std::vector<CommandText>& all) {
  std::string text;
  for (const CommandText& other : all) {
    if (other.words.size() != command.words.size() + 1) continue;
    if (!std::equal(command.words.begin(), command.words.end(), other.words.begin())) continue;
    text += fmt::format(".TP\n{}\n{}.\n", Reference(PageName(other)), Escape(other.description));
  }
  return text.empty() ? "" : ".SH SUBCOMMANDS\n" + text;
}

// Footers are paragraphs, then `Example:` with lines that are indented.
std::string Footer(const std::string& footer) {
  std::istringstream lines(footer);
  std::string text;
  bool example = false;
  for (std::string line; std::getline(lines, line);) {
    const bool indented = line.starts_with("  ");
    if (indented != example) text += indented ? ".EX\n" : ".EE\n";
    example = indented;
    if (line.empty()) {
      text += ".PP\n";
    } else if (line == "Example:" || line == "Examples:") {
      text += ".SH EXAMPLES\n";
    } else {
      text += Escape(indented ? line.substr(2) : line) + "\n";
    }
  }
  return text + (example ? ".EE\n" : "");
}

std::string ExitStatuses() {
  constexpr std::array<std::pair<ExitStatus, const char*>, 9> kMeanings = {{
      {kExitFine, "Fine."},
      {kExitInternal, "A mistake in the program itself."},
      {kExitUsage, "Wrong usage, or an output that exists."},
      {kExitNotFound, "Something is not there."},
      {kExitCorrupt, "A file is corrupt, or of a kind or version that is not read."},
      {kExitIo, "The system refused to read or write."},
      {kExitResources, "Out of memory, disk space or another resource."},
      {kExitSomeFailed, "Finished, but some inputs failed."},
      {kExitInterrupted, "Interrupted; files are as before or complete."},
  }};
  std::string text = ".SH EXIT STATUS\n";
  for (const auto& [status, meaning] : kMeanings) {
    text += fmt::format(".TP\n{}\n{}\n", Bold(std::to_string(status)), meaning);
  }
  return text;
}

}  // namespace

std::string ManualPage(const CommandText& command, const std::vector<CommandText>& all,
                       const std::string& version) {
  const CommandText& program = all.front();
  const std::string name = PageName(command);
  std::string text = fmt::format(".TH \"{}\" 1 \"\" \"{}\" \"User Commands\"\n",
                                 Escape(InCapitals(name)), Escape(version));
  // Nothing is hyphenated or spread out, so that the words of options can be found as they are.
  text += ".nh\n.ad l\n.SH NAME\n";
  text += Escape(name) + " \\- " + Escape(command.description) + "\n";
  text += ".SH SYNOPSIS\n" + Synopsis(command);
  const std::string footer = Footer(command.footer);
  const size_t examples = std::min(footer.find(".SH EXAMPLES"), footer.size());
  text += ".SH DESCRIPTION\n" + Escape(command.description) + ".\n";
  if (examples > 0) text += ".PP\n" + footer.substr(0, examples);
  text += Entries(command.positionals) + Entries(command.options);
  if (command.words.size() > 1) {
    text += ".PP\nThe options of " + Reference(PageName(program)) + " are understood here too.\n";
  }
  text += Subcommands(command, all) + footer.substr(examples);
  if (command.words.size() == 1) return text + ExitStatuses();
  return text + ".SH SEE ALSO\n" + Reference(PageName(program)) + ", for exit statuses too\n";
}

}  // namespace bitpool::app
