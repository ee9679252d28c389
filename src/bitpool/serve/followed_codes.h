#pragma once

#include <cstdint>
#include <memory>

#include "bitpool/index/code_index.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// The codes of a library in an index of the server's own, in whichever layout answers single
// questions faster: a library keeps its codes in blocks, which are quick to open and to change, and
// a server asks the same codes for days. One thread at a time.
class FollowedCodes {
 public:
  // The codes of the snapshot. Takes time that depends on what changed since the last time; all
  // codes are taken where the library no longer knows that.
  IndexSnapshot BringTo(const LibrarySnapshot& library);

 private:
  bool ApplyChanges(const CatalogueSnapshot& catalogue);
  void TakeAll(const IndexSnapshot& codes);

  std::unique_ptr<CodeIndex> index_;
  uint64_t generation_ = 0;
};

}  // namespace bitpool
