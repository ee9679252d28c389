#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/catalog/catalogue.h"

namespace bitpool {

enum class PictureSort {
  kPath,  // by its bytes
  kDate,  // the newest first
  kId,    // in the order they were added
};
enum class PictureState { kAll, kFine, kFailed };

// Which pictures, and in which order.
struct ListingQuery {
  PictureSort sort = PictureSort::kPath;
  PictureState state = PictureState::kAll;
  std::string folder = {};  // with the folders in it; empty: all
  std::string path = {};    // a part of the path; case does not matter

  auto operator<=>(const ListingQuery&) const = default;
};

// Whether a path lies in a folder, or in a folder in it.
bool LiesIn(const std::string& path, const std::string& folder);

struct ListedFolder {
  std::string path;
  uint64_t pictures = 0;  // with those in the folders in it
  uint64_t failed = 0;
  uint64_t folders = 0;  // directly in it
};

struct ListedMonth {
  std::string month;  // "2019-07"
  uint64_t pictures = 0;
  uint64_t offset = 0;  // of the first in PictureSort::kDate
};

// Looks through a catalogue once for each question and generation, and remembers the answers to the
// last few. Used from many threads.
class PictureListings {
 public:
  using Ids = std::shared_ptr<const std::vector<uint64_t>>;

  // All pictures of the query, in order.
  Ids Find(const CatalogueSnapshot& catalogue, const ListingQuery& query);
  // The place of the first picture after the one that a cursor stands for, even when that is gone.
  // Nothing for an invalid cursor.
  static std::optional<uint64_t> PlaceAfter(const CatalogueSnapshot& catalogue, const Ids& ids,
                                            PictureSort sort, const std::string& cursor);
  static std::string CursorOf(const CataloguedPicture& last);

  // The folders directly in a folder, by name.
  std::vector<ListedFolder> Folders(const CatalogueSnapshot& catalogue, const std::string& parent);
  std::vector<ListedMonth> Months(const CatalogueSnapshot& catalogue, const std::string& folder);

 private:
  using FolderCounts = std::map<std::string, ListedFolder>;
  struct Remembered {
    uint64_t generation;
    ListingQuery query;
    Ids ids;
  };
  std::shared_ptr<const FolderCounts> AllFolders(const CatalogueSnapshot& catalogue);

  std::mutex mutex_;
  std::list<Remembered> remembered_;  // the most recently used first
  uint64_t folders_generation_ = 0;
  std::shared_ptr<const FolderCounts> folders_;
};

}  // namespace bitpool
