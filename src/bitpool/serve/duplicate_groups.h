#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/picture_library.h"

namespace bitpool {

// What is asked of duplicates.
struct DuplicatesQuery {
  std::string rule = "pixels";     // as openapi.json has them
  std::string prefer_folder = {};  // pictures in it are kept before all others
  std::optional<int> radius = {};

  bool operator==(const DuplicatesQuery&) const = default;
};

struct ServedDuplicate {
  CataloguedPicture picture;
  std::string kind;  // how it relates to the first: exact, edited, part or similar
  int distance = 0;
};

struct ServedGroup {
  std::string id;      // the same as long as its pictures are the same
  std::string kind;    // the loosest of its members
  std::string reason;  // why the first is the one to keep
  std::vector<ServedDuplicate> members;

  uint64_t spare_bytes() const;  // of all but the first
};

struct ServedDuplicates {
  uint64_t generation = 0;
  std::filesystem::path root;
  std::vector<ServedGroup> groups;  // exact ones first, then by the path of the first
};

// The one place that knows how a library finds duplicates.
ServedDuplicates FindServedDuplicates(const PictureLibrary& library, const DuplicatesQuery& query,
                                      const RunContext& context);

// Remembers the last answer: pages ask for one part of it after the other. Who asks while it is
// being found waits for it.
class DuplicateCache {
 public:
  using Found = std::shared_ptr<const ServedDuplicates>;
  Found Get(const PictureLibrary& library, const DuplicatesQuery& query, const RunContext& context);
  // After a decision.
  void Forget();

 private:
  std::mutex mutex_;
  DuplicatesQuery query_;
  Found found_;
};

}  // namespace bitpool
