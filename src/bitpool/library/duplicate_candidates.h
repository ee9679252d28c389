#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/picture.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// Two pictures to be looked at, by their ids.
struct PicturePair {
  uint64_t first = 0, second = 0;  // ascending
  int distance = 0;                // bits by which the codes differ, or else the hashes
  bool mirrored = false;

  auto operator<=>(const PicturePair&) const = default;
};

// The pictures that are compared, one for each content, with what is needed to find candidates.
// About 40 bytes for each.
class ComparedPictures {
 public:
  explicit ComparedPictures(int bits) : codes_(bits) {}

  // REQUIRES: ids ascend. A picture without a code and a hash has no candidates.
  void Add(const CataloguedPicture& picture);

  size_t size() const { return ids_.size(); }
  uint64_t id(size_t place) const { return ids_[place]; }
  const std::vector<uint64_t>& content_hashes() const { return content_hashes_; }
  // REQUIRES: there is a picture with this id.
  uint64_t ContentHashOf(uint64_t id) const;
  int bits() const { return codes_.bits(); }
  // The places of the pictures that have a code, ascending, and their codes in the same order.
  const std::vector<uint32_t>& with_code() const { return with_code_; }
  const BinaryCodes& codes() const { return codes_; }
  const std::vector<uint32_t>& with_hash() const { return with_hash_; }
  const BinaryCodes& hashes() const { return hashes_; }
  // The distance between the codes at two places; nothing when one has no code.
  std::optional<int> CodeDistance(uint32_t a, uint32_t b) const;

 private:
  std::vector<uint64_t> ids_, content_hashes_;
  std::vector<uint32_t> with_code_, with_hash_;
  BinaryCodes codes_;
  BinaryCodes hashes_{64};
};

// How far candidates may be apart.
struct CandidateRadii {
  int codes = 0;
  int hashes = 0;
};

// Pairs to be looked at, each once. Every picture is paired with its kMostCandidates nearest by the
// codes and by the hashes, within the radii, and so also with the pictures that have it among
// theirs. At most 400 bytes for each picture are in memory.
inline constexpr size_t kMostCandidates = 24;
class CandidatePairs {
 public:
  // Throws kInvalidArgument for a radius below 0.
  static CandidatePairs Find(const ComparedPictures& pictures, const CandidateRadii& radii,
                             const RunContext& context);
  // The same for mirrored copies, by the codes that `encode` makes of mirrored thumbnails. Pictures
  // that cannot be read or described have no candidates.
  using PictureEncoder = std::function<std::vector<uint8_t>(const Picture&)>;
  static CandidatePairs FindMirrored(const LibrarySnapshot& library,
                                     const ComparedPictures& pictures, int radius,
                                     const PictureEncoder& encode, const RunContext& context);

  uint64_t Count() const;
  // Some at a time, so that not all have to be in memory.
  void ForEachBlock(const std::function<void(const std::vector<PicturePair>&)>& visit) const;

 private:
  struct Near {
    uint32_t place;
    int32_t distance;
  };

  CandidatePairs(const ComparedPictures& pictures, bool mirrored)
      : pictures_(pictures), mirrored_(mirrored), nearest_(pictures.size()) {}

  void AddNearest(const BinaryCodes& codes, const std::vector<uint32_t>& places, int radius,
                  const RunContext& context);
  void AddNearestMirrored(const IndexSnapshot& index, size_t begin,
                          const std::vector<std::vector<uint8_t>>& codes, int radius,
                          const RunContext& context);
  void Note(uint32_t place, const Near& near);
  bool Has(uint32_t place, uint32_t other) const;
  template <class Visit>
  void ForEach(const Visit& visit) const;

  const ComparedPictures& pictures_;
  bool mirrored_;
  std::vector<std::vector<Near>> nearest_;  // by the place of the picture whose nearest they are
};

}  // namespace bitpool
