#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

struct DuplicatePicture {
  CataloguedPicture picture;
  int distance = 0;  // of its code from that of the first of the group
  // The earlier one of the group that has the same bytes (as far as 64 bits of a hash and the size
  // tell), by its place.
  std::optional<size_t> copy_of;
};

// Pictures whose codes are joined by small steps. The best copy comes first and is the one to
// keep: the most pixels, then the largest file, the shortest path, and the first by its bytes. The
// others follow in the same order.
using DuplicateGroup = std::vector<DuplicatePicture>;

// A radius that joins little but copies of one picture: an eighth of the bits, and less in codes of
// fewer than 64, which leave less room between pictures. Chosen on photographs, with the edited
// copies of `bitpool bench duplicates`. With 64 bits 86 % of them are within 8 bits of their
// picture and, of 500,000 pairs of different pictures, none within 10, one within 11, seven within
// 12, two to three times as many with every further bit. With 32 bits 91 % of the copies are within
// 2, and of 114,000 other pairs one within 4.
constexpr int DefaultDuplicateRadius(int bits) {
  return bits >= 64 ? bits / 8 : std::max(0, (bits - 16) / 6);
}

// Groups of two and more pictures that are joined by chains of codes, each within `radius` bits of
// the next. They are in the order of the path of the best copy. Throws kInvalidArgument for a
// radius below 0.
std::vector<DuplicateGroup> FindDuplicates(const LibrarySnapshot& library, int radius,
                                           const RunContext& context);

// A script for a POSIX shell that moves all but the best of each group to a folder that is named
// when it is run, under the paths they had. It deletes and replaces nothing, and leaves a group
// alone whose best copy is no longer there. Links are left alone too: the other copy may be what
// they lead to. Any name is safe in it.
std::string MoveScript(const std::filesystem::path& root,
                       const std::vector<DuplicateGroup>& groups);

}  // namespace bitpool
