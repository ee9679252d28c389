#include "bitpool/library/library_snapshot.h"

#include "bitpool/library/library_thumbnails.h"

namespace bitpool {

std::vector<std::byte> LibrarySnapshot::ReadThumbnail(uint64_t id) const {
  return LibraryThumbnails(*env_, folder_).Read(id);
}

}  // namespace bitpool
