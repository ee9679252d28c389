#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

// What decides which of several copies is to be kept.
enum class KeepRule {
  kMarked,    // the user said so
  kFolder,    // lies in a preferred folder
  kPixels,    // has the most pixels
  kFileSize,  // is the largest file
  kOldest,    // its file was changed longest ago
  kFormat,    // has the best format, by its name: tiff, png, then heic, avif, webp, jpeg, then gif
  kPath,      // has the shortest path, and is the first by its bytes
};

// "marked", "folder", "pixels", "size", "oldest", "format", "path".
const char* NameOf(KeepRule rule);
// The rules that can be asked for, in the order in which they are offered: all but kMarked, which
// always comes first.
std::span<const KeepRule> KeepRulesToAskFor();
// The rule of such a name. Throws kInvalidArgument, naming the rules that can be asked for.
KeepRule FindKeepRule(std::string_view name);

// The order in which the rules are applied: the user's mark first, then these, then whichever of
// pixels and size is not among them, and finally the path.
struct KeepRules {
  std::vector<KeepRule> rules = {};
  // The preferred folders, the most preferred first, written as paths of pictures begin; for
  // kFolder, which comes first where there are folders and it is not among the rules.
  std::vector<std::string> folders = {};
};

// Why a picture is the one to keep.
struct KeepReason {
  KeepRule rule = KeepRule::kPath;  // the first by which it is better than the next best
  std::string words;  // for a person: "most pixels: 640 × 480, the next has 320 × 240"
};

// Compares pictures by rules.
class KeepOrder {
 public:
  explicit KeepOrder(const KeepRules& rules);

  // A picture, and whether the user marked it.
  struct Choice {
    const CataloguedPicture& picture;
    bool marked = false;
  };

  bool IsBetter(const Choice& a, const Choice& b) const;
  // Why the best is better than the next best.
  KeepReason ReasonFor(const Choice& best, const Choice& next) const;

 private:
  // Negative when `a` is better, positive when `b` is.
  int Compare(KeepRule rule, const Choice& a, const Choice& b) const;
  size_t FolderRank(const std::string& path) const;
  std::string Words(KeepRule rule, const Choice& best, const Choice& next) const;

  std::vector<KeepRule> order_;
  std::vector<std::string> folders_;
  bool path_is_asked_for_;  // and does not merely decide between equals
};

}  // namespace bitpool
