#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/picture_library.h"

namespace bitpool {

// What a request for duplicates asks for.
struct DuplicatesQuery {
  KeepRule rule = KeepRule::kPixels;
  std::string prefer_folder = {};  // pictures in it are kept before all others
  std::optional<int> radius = {};
  bool similar = false;  // groups of pictures that are only similar, instead of all others

  bool operator==(const DuplicatesQuery&) const = default;
};

struct ServedDuplicates {
  uint64_t generation = 0;
  std::vector<DuplicateGroup> groups;  // exact ones first, then by the path of the first
};

// The same as long as the pictures of the group are the same.
std::string GroupId(const DuplicateGroup& group);
uint64_t SpareBytes(const DuplicateGroup& group);  // of all that are not kept

// Throws as PictureLibrary::Duplicates.
ServedDuplicates FindServedDuplicates(const PictureLibrary& library, const DuplicatesQuery& query,
                                      const RunContext& context);

// Remembers the last answers: pages ask for one part after the other. Whoever asks while they are
// being found waits for them.
class DuplicateCache {
 public:
  using Found = std::shared_ptr<const ServedDuplicates>;
  Found Get(const PictureLibrary& library, const DuplicatesQuery& query, const RunContext& context);
  // To be called after a decision.
  void Forget();

 private:
  struct Answer {
    DuplicatesQuery query;
    Found found;
  };
  std::mutex mutex_;
  std::array<Answer, 2> answers_;  // without and with similar ones
};

}  // namespace bitpool
