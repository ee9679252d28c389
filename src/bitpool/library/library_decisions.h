#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

// The bytes of a file, as far as a hash of 64 bits and the size tell.
using ContentKey = std::pair<uint64_t, uint64_t>;

inline ContentKey ContentOf(const CataloguedPicture& picture) {
  return {picture.content_hash, picture.size};
}
inline ContentKey ContentOf(const PictureMark& mark) { return {mark.content_hash, mark.size}; }

inline PictureMark MarkOf(const CataloguedPicture& picture) {
  return {.path = picture.path, .size = picture.size, .content_hash = picture.content_hash};
}

// What the user decided, ready to be asked about pictures of one snapshot, which outlives this.
//
// That two pictures are not duplicates is a decision about their content: it holds for all copies
// of the files, wherever they are moved, until they are changed. That a picture is to be kept is a
// decision about the file at its path or, if that is gone or was changed, about any file with the
// content.
class Decisions {
 public:
  explicit Decisions(const CatalogueSnapshot& catalogue);

  // What this content is to be kept apart from.
  std::vector<ContentKey> ApartFrom(const ContentKey& content) const;
  bool IsKept(const CataloguedPicture& picture) const;

 private:
  const CatalogueSnapshot& catalogue_;
  std::multimap<ContentKey, ContentKey> apart_;  // both ways
  std::multimap<ContentKey, std::string> kept_;  // with the path
};

// A decision as it stands in the catalogue.
struct NotedDecision {
  Decision decision;
  bool is_new = false;  // otherwise the same one was there already
};

// Decide that every two of these pictures are no duplicates, or that each of them is to be kept:
// all of it or, when they throw, nothing. Throw kNotFound when a picture is not there, and
// kInvalidArgument where two pictures with the same bytes are declared not to be duplicates.
std::vector<NotedDecision> KeepApart(Catalogue& catalogue, std::span<const uint64_t> ids);
std::vector<NotedDecision> KeepPictures(Catalogue& catalogue, std::span<const uint64_t> ids);

}  // namespace bitpool
