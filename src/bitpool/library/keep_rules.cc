#include "bitpool/library/keep_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <compare>
#include <filesystem>
#include <string>

#include "bitpool/base/error.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {
namespace {

struct NamedRule {
  KeepRule rule;
  const char* name;
};
constexpr std::array kNames = {
    NamedRule{KeepRule::kMarked, "marked"}, NamedRule{KeepRule::kFolder, "folder"},
    NamedRule{KeepRule::kPixels, "pixels"}, NamedRule{KeepRule::kFileSize, "size"},
    NamedRule{KeepRule::kOldest, "oldest"}, NamedRule{KeepRule::kFormat, "format"},
    NamedRule{KeepRule::kPath, "path"}};

constexpr std::array kMayBeAsked = {KeepRule::kPixels, KeepRule::kFileSize, KeepRule::kOldest,
                                    KeepRule::kFormat, KeepRule::kFolder,   KeepRule::kPath};

int Sign(std::strong_ordering order) { return std::is_lt(order) ? -1 : std::is_gt(order) ? 1 : 0; }

// The extension of a name in lower case, without the dot.
std::string FormatOf(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& letter : ending) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return ending.empty() ? "no format" : ending.substr(1);
}

// Lossless formats come first; of the lossy ones, the newer keep more at the same size.
int FormatRank(const std::string& format) {
  constexpr std::array<std::string_view, 11> kBestFirst = {
      "tiff", "tif", "png", "heic", "heif", "avif", "webp", "jpeg", "jpg", "jpe", "gif"};
  constexpr std::array<int, 11> kRanks = {0, 0, 1, 2, 2, 3, 4, 5, 5, 5, 6};
  const auto place = std::ranges::find(kBestFirst, format);
  return place == kBestFirst.end() ? 7 : kRanks[static_cast<size_t>(place - kBestFirst.begin())];
}

Index PixelsOf(const CataloguedPicture& picture) { return picture.width * picture.height; }

}  // namespace

const char* NameOf(KeepRule rule) {
  return std::ranges::find(kNames, rule, &NamedRule::rule)->name;
}

std::span<const KeepRule> KeepRulesToAskFor() { return kMayBeAsked; }

KeepRule FindKeepRule(std::string_view name) {
  std::string known;
  for (const KeepRule rule : kMayBeAsked) {
    if (name == NameOf(rule)) return rule;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", NameOf(rule));
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("\"{}\": expected a rule for what to keep: {}", name, known));
}

KeepOrder::KeepOrder(const KeepRules& rules)
    : order_({KeepRule::kMarked}),
      folders_(rules.folders),
      path_is_asked_for_(std::ranges::find(rules.rules, KeepRule::kPath) != rules.rules.end()) {
  const auto add = [&](KeepRule rule) {
    if (std::ranges::find(order_, rule) == order_.end()) order_.push_back(rule);
  };
  if (!folders_.empty() && std::ranges::find(rules.rules, KeepRule::kFolder) == rules.rules.end()) {
    add(KeepRule::kFolder);
  }
  for (const KeepRule rule : rules.rules) add(rule);
  for (const KeepRule rule : {KeepRule::kPixels, KeepRule::kFileSize, KeepRule::kPath}) add(rule);
}

size_t KeepOrder::FolderRank(const std::string& path) const {
  for (size_t i = 0; i < folders_.size(); ++i) {
    if (IsInFolder(path, folders_[i])) return i;
  }
  return folders_.size();
}

int KeepOrder::Compare(KeepRule rule, const Choice& a, const Choice& b) const {
  switch (rule) {
    case KeepRule::kMarked:
      return Sign(b.marked <=> a.marked);
    case KeepRule::kFolder:
      return Sign(FolderRank(a.picture.path) <=> FolderRank(b.picture.path));
    case KeepRule::kPixels:
      return Sign(PixelsOf(b.picture) <=> PixelsOf(a.picture));
    case KeepRule::kFileSize:
      return Sign(b.picture.size <=> a.picture.size);
    case KeepRule::kOldest:
      return Sign(a.picture.modified_ns <=> b.picture.modified_ns);
    case KeepRule::kFormat:
      return Sign(FormatRank(FormatOf(a.picture.path)) <=> FormatRank(FormatOf(b.picture.path)));
    case KeepRule::kPath:
      break;
  }
  const int length = Sign(a.picture.path.size() <=> b.picture.path.size());
  return length != 0 ? length : Sign(a.picture.path <=> b.picture.path);
}

bool KeepOrder::IsBetter(const Choice& a, const Choice& b) const {
  for (const KeepRule rule : order_) {
    const int order = Compare(rule, a, b);
    if (order != 0) return order < 0;
  }
  return false;
}

std::string KeepOrder::Words(KeepRule rule, const Choice& best, const Choice& next) const {
  const CataloguedPicture &a = best.picture, &b = next.picture;
  switch (rule) {
    case KeepRule::kMarked:
      return "marked to be kept";
    case KeepRule::kFolder:
      return fmt::format("in the preferred folder {}", folders_[FolderRank(a.path)]);
    case KeepRule::kPixels:
      return fmt::format("most pixels: {} × {}, the next has {} × {}", a.width, a.height, b.width,
                         b.height);
    case KeepRule::kFileSize:
      return fmt::format("largest file: {} bytes, the next has {}", a.size, b.size);
    case KeepRule::kOldest:
      return "oldest file";
    case KeepRule::kFormat:
      return fmt::format("best format: {}, the next is {}", FormatOf(a.path), FormatOf(b.path));
    case KeepRule::kPath:
      break;
  }
  return fmt::format("{}{}", a.path.size() < b.path.size() ? "shortest path" : "first by its path",
                     path_is_asked_for_ ? "" : ", otherwise equal");
}

KeepReason KeepOrder::ReasonFor(const Choice& best, const Choice& next) const {
  for (const KeepRule rule : order_) {
    if (Compare(rule, best, next) < 0) return {.rule = rule, .words = Words(rule, best, next)};
  }
  return {.rule = KeepRule::kPath, .words = Words(KeepRule::kPath, best, next)};
}

}  // namespace bitpool
