#include "bitpool/library/library_duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace bitpool {
namespace {

bool IsBetter(const CataloguedPicture& a, const CataloguedPicture& b) {
  const auto quality = [](const CataloguedPicture& picture) {
    return std::tuple(picture.width * picture.height, picture.size);
  };
  if (quality(a) != quality(b)) return quality(a) > quality(b);
  return std::tuple(a.path.size(), std::string_view(a.path)) <
         std::tuple(b.path.size(), std::string_view(b.path));
}

std::optional<size_t> EarlierCopy(const DuplicateGroup& group, const CataloguedPicture& picture) {
  for (size_t i = 0; i < group.size(); ++i) {
    const CataloguedPicture& earlier = group[i].picture;
    if (earlier.content_hash == picture.content_hash && earlier.size == picture.size) return i;
  }
  return std::nullopt;
}

DuplicateGroup MakeGroup(std::vector<CataloguedPicture> pictures) {
  std::ranges::sort(pictures, IsBetter);
  DuplicateGroup group;
  for (CataloguedPicture& picture : pictures) {
    const std::optional<size_t> copy_of = EarlierCopy(group, picture);
    const int distance =
        group.empty() ? 0 : HammingDistance(group.front().picture.code, picture.code);
    group.push_back({.picture = std::move(picture), .distance = distance, .copy_of = copy_of});
  }
  return group;
}

// In single quotes nothing has a meaning but the quote itself, which is written between two such
// strings.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

// Paths begin with "./", so that none is taken for an option. No command substitution touches them:
// it would drop newlines at the end of a name.
constexpr std::string_view kScriptStart = R"sh(#!/bin/sh
# Moves near-duplicate pictures out of the way and keeps the best copy of each group.
# Nothing is deleted or replaced. Read it, then run:  sh THIS_FILE FOLDER
set -eu
if [ "$#" -ne 1 ] || [ -z "$1" ]; then
  echo "usage: sh $0 FOLDER   (where to move the other copies)" >&2
  exit 2
fi
case $1 in
  /*) folder=$1 ;;
  *) folder=$(pwd; echo /); folder=${folder%??}/$1 ;;
esac
moved=0 left=0
keep() { kept=$1; }
move() {
  to=$folder/${1#./}
  if [ ! -f "$kept" ]; then
    printf 'left, the copy to keep is missing: %s\n' "$1" >&2
  elif [ ! -f "$1" ]; then
    printf 'left, not there: %s\n' "$1" >&2
  elif [ -L "$kept" ] || [ -L "$1" ]; then
    printf 'left, this or the copy to keep is a link: %s\n' "$1" >&2
  elif [ -e "$to" ] || [ -L "$to" ]; then
    printf 'left, there is one already: %s\n' "$to" >&2
  else
    mkdir -p -- "${to%/*}"
    mv -- "$1" "$to"
    moved=$((moved + 1))
    return
  fi
  left=$((left + 1))
}
)sh";

constexpr std::string_view kScriptEnd =
    "echo \"$moved moved, $left left where they were\"\n[ \"$left\" -eq 0 ]\n";

}  // namespace

std::vector<DuplicateGroup> FindDuplicates(const LibrarySnapshot& library, int radius,
                                           const RunContext& context) {
  std::vector<DuplicateGroup> groups;
  for (const std::vector<int64_t>& ids : library.index().FindGroups(radius, context)) {
    std::vector<CataloguedPicture> pictures;
    for (const int64_t id : ids) {
      auto picture = library.catalogue().FindById(static_cast<uint64_t>(id));
      if (picture) pictures.push_back(*std::move(picture));
    }
    if (pictures.size() > 1) groups.push_back(MakeGroup(std::move(pictures)));
  }
  std::ranges::sort(groups, {}, [](const DuplicateGroup& group) -> const std::string& {
    return group.front().picture.path;
  });
  return groups;
}

std::string MoveScript(const std::filesystem::path& root,
                       const std::vector<DuplicateGroup>& groups) {
  std::string script(kScriptStart);
  script += fmt::format("cd -- {}\n", Quoted(root.native()));
  for (const DuplicateGroup& group : groups) {
    script += "\nkeep " + Quoted("./" + group.front().picture.path) + "\n";
    for (size_t i = 1; i < group.size(); ++i) {
      script += "move " + Quoted("./" + group[i].picture.path) + "\n";
    }
  }
  script += "\n";
  script += kScriptEnd;
  return script;
}

}  // namespace bitpool
