#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/error.h"
#include "bitpool/export.h"
#include "bitpool/run.h"

// The component `pictures`: libraries of pictures.
namespace bitpool {
inline namespace v0 {

// What a library knows about one of its pictures.
struct LibraryPicture {
  std::uint64_t id = 0;
  std::string path;             // bytes, relative to the folder of pictures; need not be UTF-8
  std::uint64_t file_size = 0;  // bytes
  int width = 0, height = 0;    // upright
  std::string failure;          // why it could not be indexed; empty: all is well
};

// A picture that was found.
struct Match : LibraryPicture {
  int distance = 0;  // bits in which the codes differ
  double score = 0;  // larger is nearer; 0 where the query was not in real numbers
};

// What the pictures of a group are to each other, from the most to the least certain.
enum class GroupKind {
  kExact,    // the same bytes, or the same pixels in another file
  kEdited,   // one picture, edited: scaled, saved again, in other colours, with a border
  kPart,     // some were cut out of others
  kSimilar,  // only the codes are near
};

// Pictures that belong together.
struct PictureGroup {
  GroupKind kind = GroupKind::kExact;  // the least certain one by which a picture joined
  std::vector<Match> pictures;         // the one to keep first; each distance is to that one
  std::string reason;                  // why that one is to be kept, in words
};

enum class MatchOrder {
  kScore,    // by the score: bits the query is sure of count more
  kHamming,  // by the distance, then the score
};

struct UpdateRequest {
  std::optional<int> bits = {};      // of a new library's codes
  std::filesystem::path coder = {};  // a coder's file (.bpc); empty: the library's own, or the
                                     // one that ships; for codes of a length other than its own,
                                     // one that is learned from the pictures
  // Forget the pictures of a folder in which none are found any more; otherwise that is refused
  // (kNotFound), because its file system may not be mounted.
  bool allow_empty = false;
};

// What an update did.
struct UpdateReport {
  std::uint64_t added = 0, changed = 0, removed = 0, unchanged = 0;
  struct Failure {
    std::string path;
    std::string reason;
  };
  std::vector<Failure> failed;
  bool stopped = false;  // before all was done; what was done is kept
};

// A folder of pictures that can be searched. Any thread and any process may search while one
// updates; each answer comes from one version of the library.
class Library {
 public:
  // Throws kNotFound when there is no library in the folder.
  BITPOOL_EXPORT static Library Open(const std::filesystem::path& folder);
  // The library in the folder, or a new one for a folder of pictures, which has no pictures before
  // Update.
  BITPOOL_EXPORT static Library OpenOrCreate(const std::filesystem::path& folder,
                                             const std::filesystem::path& pictures);
  BITPOOL_EXPORT ~Library();
  BITPOOL_EXPORT Library(Library&& other) noexcept;
  BITPOOL_EXPORT Library& operator=(Library&& other) noexcept;

  // Reads what is new or changed in the folder of pictures and forgets what is gone.
  BITPOOL_EXPORT UpdateReport Update(const UpdateRequest& request = {}, const Run& run = {});
  // Takes over what another process has changed, so that the next answer need not.
  BITPOOL_EXPORT void Refresh() const;

  BITPOOL_EXPORT std::size_t size() const;  // pictures

  // The k pictures most like a picture: its bytes as they are in a file, a file, or, by distance,
  // one of the library's own.
  BITPOOL_EXPORT std::vector<Match> Query(std::span<const std::byte> picture, std::int64_t k = 20,
                                          MatchOrder order = MatchOrder::kScore,
                                          const Run& run = {}) const;
  BITPOOL_EXPORT std::vector<Match> Query(const std::filesystem::path& picture, std::int64_t k = 20,
                                          MatchOrder order = MatchOrder::kScore,
                                          const Run& run = {}) const;
  BITPOOL_EXPORT std::vector<Match> QueryId(std::uint64_t id, std::int64_t k = 20,
                                            const Run& run = {}) const;

  // Groups of duplicates. Pictures whose codes differ by at most `radius` bits are looked at;
  // without a radius, one is chosen by the length of the codes. Pictures that are only similar are
  // left out. What the user decided about pictures is respected.
  BITPOOL_EXPORT std::vector<PictureGroup> Duplicates(std::optional<int> radius = {},
                                                      const Run& run = {}) const;

  // Nothing when there is no such picture.
  BITPOOL_EXPORT std::optional<LibraryPicture> Find(std::uint64_t id) const;
  // A JPEG; empty when there is none.
  BITPOOL_EXPORT std::vector<std::byte> Thumbnail(std::uint64_t id) const;

 private:
  struct Impl;
  explicit Library(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace bitpool
