#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/library/library_duplicates.h"
#include "bitpool/library/library_query.h"
#include "bitpool/library/library_snapshot.h"

namespace bitpool {

// Pages that stand alone, in the style of reports: thumbnails inside, no script, nothing from the
// network. A thumbnail leads to the picture's file.

// What was searched for.
struct AskedPicture {
  std::string name;
  std::vector<std::byte> thumbnail;  // a JPEG; may be empty
};
// Throws as DecodePicture.
AskedPicture AskedFile(Env& env, const std::filesystem::path& picture);
std::string QueryPage(const LibrarySnapshot& library, const AskedPicture& asked,
                      const std::vector<QueryMatch>& matches);

// How much a page of duplicates shows; it says what it leaves out.
struct DuplicatesPageLimits {
  size_t groups = 500;
  size_t pictures = 24;  // of one group
};
std::string DuplicatesPage(const LibrarySnapshot& library,
                           const std::vector<DuplicateGroup>& groups, int radius,
                           const DuplicatesPageLimits& limits = {});

}  // namespace bitpool
