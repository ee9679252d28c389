#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/duplicate_pairs.h"
#include "bitpool/library/keep_rules.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// A picture of a group.
struct DuplicatePicture {
  CataloguedPicture picture;
  bool keep = false;    // suggested to be kept: the first of the group, and what the user marked
  bool marked = false;  // the user said so
  // The place in the group of the picture that this one is compared with: the first, if the two
  // were compared. Nothing for the first itself.
  std::optional<size_t> compared_with = {};
  PairEvidence evidence = {};  // of that one (the first of the pair) and this one
  int distance = 0;            // between its code and that of the first of the group
};

// Two pictures of a group that were compared, by their places in ascending order.
struct DuplicatePair {
  size_t first = 0, second = 0;
  PairEvidence evidence;
};

// Pictures that are joined by pairs of duplicates. The one to keep comes first, the others follow
// by the same rules.
struct DuplicateGroup {
  DuplicateKind kind = DuplicateKind::kExact;  // the least certain by which a picture was joined
  std::vector<DuplicatePicture> pictures;
  KeepReason reason;                 // why the first is to be kept
  std::vector<DuplicatePair> pairs;  // all that were compared and not found to be different
};

// A radius beyond which there are few copies of a picture: pictures within it are looked at. Five
// sixteenths of the bits, and less in codes of fewer than 64, which leave less room between
// pictures. It can be wide, since only the nearest of each picture are looked at. Among few
// pictures it is half of the bits, which is how far apart pictures are on average: looking at the
// nearest of each, however far, then takes no longer than indexing them.
inline constexpr int64_t kFewPictures = 500;
constexpr int DefaultDuplicateRadius(int bits, int64_t pictures) {
  if (pictures <= kFewPictures) return bits / 2;
  return bits >= 64 ? 5 * bits / 16 : std::max(0, (bits - 8) / 4);
}

// A radius that joins little but copies of one picture, even where nobody looks: an eighth of the
// bits, and less in codes of fewer than 64. Chosen on photographs, with the edited copies of
// `bitpool-bench duplicates`. With 64 bits 86 % of them are within 8 bits of their picture and, of
// 500,000 pairs of different pictures, none within 10, one within 11, seven within 12, two to three
// times as many with every further bit. With 32 bits 91 % of the copies are within 2, and of
// 114,000 other pairs one within 4.
constexpr int DefaultSimilarRadius(int bits) {
  return bits >= 64 ? bits / 8 : std::max(0, (bits - 16) / 6);
}

// Bits by which the perceptual hashes of a picture and an edited copy may differ, for the pair to
// be looked at too, whatever their codes.
inline constexpr int kHashRadius = 14;

// What to search for.
struct DuplicateSearch {
  // Pairs whose codes, or perceptual hashes, differ by at most this many bits are looked at. Unset:
  // DefaultDuplicateRadius, and kHashRadius for hashes, which is the most for them.
  std::optional<int> radius = {};
  // Pairs that are only similar join groups too: within the radius, or, where it is not set,
  // DefaultSimilarRadius.
  bool similar = false;
  bool mirrored = false;  // mirrored copies too; every picture is then encoded again
  KeepRules keep = {};
};

// The code of a picture that is not in the library, with the library's coder.
using PictureEncoder = CandidatePairs::PictureEncoder;

// Groups of two or more pictures, in the order of the path of the first. Pictures with the same
// bytes are always in one group; pictures that the user keeps apart never are. `encode` is for
// mirrored copies. Throws kInvalidArgument for a radius below 0 or above the bits of the codes, or
// mirrored copies without it.
std::vector<DuplicateGroup> FindDuplicates(const LibrarySnapshot& library,
                                           const DuplicateSearch& search,
                                           const PictureEncoder& encode, const RunContext& context);

}  // namespace bitpool
