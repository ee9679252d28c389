#include "bitpool/library/move_script.h"

#include <fmt/format.h>

#include <string_view>

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
move() {
  to=${1#./}
  to=$folder/${to#/}
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

std::string MoveScript(const std::filesystem::path& root,
                       const std::vector<DuplicateGroup>& groups) {
  std::string script(kScriptStart);
  script += fmt::format("cd -- {}\n", Quoted(root.native()));
  for (const DuplicateGroup& group : groups) {
    script += "\nkeep " + Quoted(ScriptPath(group.pictures.front().picture.path)) + "\n";
    for (const DuplicatePicture& member : group.pictures) {
      if (!member.keep) script += "move " + Quoted(ScriptPath(member.picture.path)) + "\n";
    }
  }
  script += "\n";
  script += kScriptEnd;
  return script;
}

}  // namespace bitpool
