#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/duplicate_candidates.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// What two pictures are to each other, from the most to the least certain.
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
  bool mirrored = false;       // one is the mirror image of the other
  bool first_is_part = false;  // of kPart: which one was cut out
  double agreement = 0;        // as PictureMatch has it; 1 for exact copies
  double first_covered = 0, second_covered = 0;
  int distance = 0;  // as PicturePair has it

  bool operator==(const PairEvidence&) const = default;
};

// What the second of two pictures is to the first, for a person: "the same file", "part of it".
std::string WordsOf(const PairEvidence& evidence);

// The bits by which the codes of two pictures differ, or, where one has none, their hashes; 0 where
// that is not known either.
int DistanceOf(const CataloguedPicture& first, const CataloguedPicture& second);

// Looks at pairs of a library's pictures, by thumbnails, which are made from the pictures where
// they are missing. A picture that cannot be read is only similar to others. Thumbnails that are
// the same to the eye, of pictures of the same size, are followed by a comparison of all pixels. A
// thousand pictures are in memory at once; those of the last pairs are kept for the next. Findings
// are recorded where the library's folder says, if that can be written to, and such pairs are not
// looked at again.
class PairJudge {
 public:
  // All outlive this. `pictures` are all that there are.
  PairJudge(const LibrarySnapshot& library, const ComparedPictures& pictures,
            const RunContext& context);
  ~PairJudge();
  PairJudge(const PairJudge&) = delete;
  PairJudge& operator=(const PairJudge&) = delete;

  // The evidence for each pair.
  std::vector<PairEvidence> Judge(const std::vector<PicturePair>& pairs, Progress& progress);
  // To be called at the end: what was recorded of other pictures is of no more use.
  void ForgetOthers();

 private:
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace bitpool
