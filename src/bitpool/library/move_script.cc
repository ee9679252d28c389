#include "bitpool/library/move_script.h"

#include <fmt/format.h>

#include <string_view>

#include "bitpool/base/shown_text.h"

namespace bitpool {
namespace {

// In single quotes only the quote itself is special; it is written between two such strings.
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

// A path from the folder of pictures begins with "./", so that none is taken for an option.
// Pictures of further folders have absolute paths of their own.
std::string ScriptPath(const std::string& path) {
  return path.starts_with('/') ? path : "./" + path;
}

// Paths begin with "./" or "/". No command substitution touches them:
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
# move PATH [WHAT IS SHOWN]. Called twice: links go first, while what they lead to is there.
move() {
  shown=${2-$1}
  to=${1#./}
  to=$folder/${to#/}
  if [ -L "$1" ]; then now=links; else now=files; fi
  [ "$now" = "$round" ] || return 0
  if [ "$now" = files ] && [ -L "$to" ] && [ ! -e "$1" ]; then return 0; fi # a link that was moved
  if [ -L "$kept" ]; then
    printf 'left, the copy to keep is a link: %s\n' "$shown" >&2
  elif [ ! -f "$kept" ]; then
    printf 'left, the copy to keep is missing: %s\n' "$shown" >&2
  elif [ ! -f "$1" ]; then
    printf 'left, not there: %s\n' "$shown" >&2
  elif [ -e "$to" ] || [ -L "$to" ]; then
    printf 'left, there is one already in the folder: %s\n' "$shown" >&2
  else
    mkdir -p -- "${to%/*}"
    mv -- "$1" "$to"
    moved=$((moved + 1))
    return
  fi
  left=$((left + 1))
}
)sh";

constexpr std::string_view kScriptEnd = R"sh(:
}
round=links
copies
round=files
copies
echo "$moved moved, $left left where they were"
[ "$left" -eq 0 ]
)sh";

// What comes after `move`: the path, and where it could control a terminal, what is shown instead.
std::string MovedPath(const std::string& path) {
  const std::string written = ScriptPath(path), shown = ShownName(written);
  return shown == written ? Quoted(written) : Quoted(written) + " " + Quoted(shown);
}

}  // namespace

std::string MoveScript(const std::filesystem::path& root,
                       const std::vector<DuplicateGroup>& groups) {
  std::string script(kScriptStart);
  script += fmt::format("cd -- {}\ncopies() {{\n", Quoted(root.native()));
  for (const DuplicateGroup& group : groups) {
    script += "\nkeep " + Quoted(ScriptPath(group.pictures.front().picture.path)) + "\n";
    for (const DuplicatePicture& member : group.pictures) {
      if (!member.keep) script += "move " + MovedPath(member.picture.path) + "\n";
    }
  }
  script += "\n";
  script += kScriptEnd;
  return script;
}

}  // namespace bitpool
