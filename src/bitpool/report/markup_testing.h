#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

// Shared by the tests of reports and charts.
namespace bitpool::testing {

// An element of a page, in the order of the opening tags. Text has its escapes undone.
struct MarkupElement {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // directly inside, without that of inner elements
  int parent = -1;   // its place in the list
  bool Has(std::string_view css_class) const {
    const auto found = attributes.find("class");
    if (found == attributes.end()) return false;
    const std::string classes = " " + found->second + " ";
    return classes.find(" " + std::string(css_class) + " ") != std::string::npos;
  }
  double Number(const std::string& attribute) const { return std::stod(attributes.at(attribute)); }
};

// A strict reader of the part of XML that pages are written in. Throws std::runtime_error for tags
// that do not match, characters that are not escaped, attributes without quotes or given twice.
class MarkupReader {
 public:
  explicit MarkupReader(std::string_view page) : rest_(page) {}

  std::vector<MarkupElement> Read() {
    constexpr std::string_view kDoctype = "<!DOCTYPE html>";
    if (rest_.starts_with(kDoctype)) rest_.remove_prefix(kDoctype.size());
    while (!rest_.empty()) {
      if (!rest_.starts_with('<')) {
        ReadText();
      } else if (rest_.starts_with("</")) {
        ReadClosingTag();
      } else {
        ReadOpeningTag();
      }
    }
    Require(open_.empty(), "an element is not closed");
    return elements_;
  }

 private:
  void Require(bool good, const std::string& problem) const {
    if (!good) throw std::runtime_error(problem + " before: " + std::string(rest_.substr(0, 80)));
  }

  std::string_view Take(size_t count) {
    Require(count != std::string_view::npos && count <= rest_.size(), "the page ends early");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string TakeName() {
    const std::string name(Take(rest_.find_first_of(" />=\n")));
    Require(!name.empty() && name.find_first_of("<&\"'") == std::string::npos, "bad name " + name);
    return name;
  }

  std::string Unescaped(std::string_view text) const {
    static const std::map<std::string, char, std::less<>> kEscapes = {
        {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"#39", '\''}};
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
      Require(static_cast<unsigned char>(text[i]) >= 0x20 || text[i] == '\n' || text[i] == '\t',
              "control character");
      if (text[i] != '&') {
        plain += text[i];
        continue;
      }
      const size_t end = text.find(';', i);
      Require(end != std::string_view::npos, "& is not escaped");
      const auto escape = kEscapes.find(text.substr(i + 1, end - i - 1));
      Require(escape != kEscapes.end(), "& is not escaped");
      plain += escape->second;
      i = end;
    }
    return plain;
  }

  void ReadText() {
    const std::string text = Unescaped(Take(std::min(rest_.find('<'), rest_.size())));
    if (!open_.empty()) {
      elements_[open_.back()].text += text;
    } else {
      Require(text.find_first_not_of(" \n") == std::string::npos, "text outside");
    }
  }

  void ReadClosingTag() {
    Take(2);
    const std::string name = TakeName();
    Require(!open_.empty() && elements_[open_.back()].name == name, "unexpected </" + name);
    Require(Take(1) == ">", "bad closing tag");
    open_.pop_back();
  }

  void ReadOpeningTag() {
    Take(1);
    MarkupElement element;
    element.name = TakeName();
    element.parent = open_.empty() ? -1 : static_cast<int>(open_.back());
    while (rest_.starts_with(' ')) {
      Take(1);
      const std::string attribute = TakeName();
      Require(Take(2) == "=\"", "attribute without quotes");
      const std::string value = Unescaped(Take(rest_.find('"')));
      Take(1);
      Require(element.attributes.insert({attribute, value}).second, "attribute given twice");
    }
    const bool empty = rest_.starts_with("/>");
    Require(empty || rest_.starts_with('>'), "bad tag " + element.name);
    Take(empty ? 2 : 1);
    elements_.push_back(element);
    if (!empty) open_.push_back(elements_.size() - 1);
  }

  std::string_view rest_;
  std::vector<MarkupElement> elements_;
  std::vector<size_t> open_;
};

inline std::vector<MarkupElement> ReadMarkup(std::string_view page) {
  return MarkupReader(page).Read();
}

// The elements of a name and, unless that is empty, of a class.
inline std::vector<MarkupElement> Select(const std::vector<MarkupElement>& elements,
                                         std::string_view name, std::string_view css_class = {}) {
  std::vector<MarkupElement> found;
  for (const MarkupElement& element : elements) {
    if (element.name == name && (css_class.empty() || element.Has(css_class))) {
      found.push_back(element);
    }
  }
  return found;
}

}  // namespace bitpool::testing
