#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/image/picture.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// What two pictures are to each other, from the surest to the least sure.
enum class DuplicateKind {
  kExact,    // the same bytes, or the same pixels in another file
  kEdited,   // the same picture: scaled, saved again, in other colours, with a border, turned a bit
  kPart,     // one was cut out of the other
  kSimilar,  // only their codes are near
};

// "exact", "edited", "part", "similar".
const char* NameOf(DuplicateKind kind);
// For a person: "exact copies", "the same picture, edited", "parts of a picture", "only similar".
const char* WordsOf(DuplicateKind kind);

// What was found when two pictures were compared.
struct PairEvidence {
  DuplicateKind kind = DuplicateKind::kSimilar;
  bool same_file = false;      // the same bytes, as far as 64 bits of a hash and the size tell
  bool mirrored = false;       // one is as a mirror shows the other
  bool first_is_part = false;  // of kPart: which one was cut out
  double agreement = 0;        // as PictureMatch has it; 1 for exact copies
  double first_covered = 0, second_covered = 0;
  int distance = 0;  // bits by which the codes differ
};

// What the second of two pictures is to the first, for a person: "the same file", "part of it".
std::string WordsOf(const PairEvidence& evidence);

// Two pictures to be looked at, by their ids.
struct PicturePair {
  uint64_t first = 0, second = 0;  // ascending
  int distance = 0;
  bool mirrored = false;

  auto operator<=>(const PicturePair&) const = default;
};

// Gives every picture to be compared the id under which it is; others with the same bytes have the
// same one.
using ContentIds = std::unordered_map<uint64_t, uint64_t>;

// The code of a picture that is not in the library, with the library's coder.
using PictureEncoder = std::function<std::vector<uint8_t>(const Picture&)>;

// Pairs whose codes are within the radius, each once, in ascending order. Each picture is paired
// with at most its kMostCandidates nearest, and with those that have it among theirs. Throws
// kInvalidArgument for a radius below 0.
inline constexpr size_t kMostCandidates = 24;
std::vector<PicturePair> FindCandidates(const LibrarySnapshot& library, const ContentIds& contents,
                                        int radius, const RunContext& context);

// The same for pictures mirrored, whose codes are made of thumbnails. Pictures that cannot be read
// or described have no candidates.
std::vector<PicturePair> FindMirroredCandidates(const LibrarySnapshot& library,
                                                const ContentIds& contents, int radius,
                                                const PictureEncoder& encode,
                                                const RunContext& context);

// Looks at each pair once, by thumbnails, which are made of the pictures where they are missing. A
// picture that cannot be read is only similar to others. Thumbnails that are the same to the eye,
// of pictures of the same size, are followed by a comparison of all pixels. In memory are a
// thousand pictures at once.
std::vector<PairEvidence> JudgePairs(const LibrarySnapshot& library,
                                     const std::vector<PicturePair>& pairs,
                                     const RunContext& context);

}  // namespace bitpool
