#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace bitpool::app {

// Gives an option one of some words, each of which stands for a value. CLI11's own transformers
// show the values too, as numbers or, for an enum of one byte, as control characters.
template <class T>
CLI::Option* ChooseBy(const std::map<std::string, T>& meanings, CLI::Option* option) {
  std::vector<std::string> words;
  words.reserve(meanings.size());
  for (const auto& [word, meaning] : meanings) words.push_back(word);
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto take = [meanings, list](std::string& text) {
    const auto found = meanings.find(text);
    if (found == meanings.end()) return fmt::format("{} not in {}", text, list);
    text = CLI::detail::value_string(found->second);
    return std::string();
  };
  return option->transform(CLI::Validator(take, list))->type_name("TEXT");
}

}  // namespace bitpool::app
