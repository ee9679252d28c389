#include "bitpool/serve/picture_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <tuple>

#include "bitpool/http/target.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {
namespace {

constexpr size_t kMostRemembered = 8;

std::string LowerCase(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c < 128 ? std::tolower(c) : c);
  });
  return text;
}

bool Fits(const CataloguedPicture& picture, const ListingQuery& query, const std::string& part) {
  if (query.state == PictureState::kFine && !picture.failure.empty()) return false;
  if (query.state == PictureState::kFailed && picture.failure.empty()) return false;
  return LiesIn(picture.path, query.folder) &&
         (part.empty() || LowerCase(picture.path).find(part) != std::string::npos);
}

// What decides the order.
struct SortKey {
  std::string path;
  int64_t modified_ns = 0;
  uint64_t id = 0;
};

SortKey KeyOf(const CataloguedPicture& picture) {
  return {.path = picture.path, .modified_ns = picture.modified_ns, .id = picture.id};
}

bool ComesBefore(PictureSort sort, const SortKey& a, const SortKey& b) {
  switch (sort) {
    case PictureSort::kPath:
      return std::tie(a.path, a.id) < std::tie(b.path, b.id);
    case PictureSort::kDate:
      return std::tie(b.modified_ns, a.id) < std::tie(a.modified_ns, b.id);
    case PictureSort::kId:
      return a.id < b.id;
  }
  return false;
}

std::optional<SortKey> ParseCursor(const std::string& cursor) {
  const std::optional<std::string> text = PercentDecode(cursor, false);
  if (!text) return std::nullopt;
  SortKey key;
  const char* const end = text->data() + text->size();
  const auto id = std::from_chars(text->data(), end, key.id);
  if (id.ec != std::errc() || id.ptr == end || *id.ptr != '.') return std::nullopt;
  const auto time = std::from_chars(id.ptr + 1, end, key.modified_ns);
  if (time.ec != std::errc() || time.ptr == end || *time.ptr != '.') return std::nullopt;
  key.path.assign(time.ptr + 1, end);
  return key;
}

}  // namespace

bool LiesIn(const std::string& path, const std::string& folder) {
  return folder.empty() ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

PictureListings::Ids PictureListings::Find(const CatalogueSnapshot& catalogue,
                                           const ListingQuery& query) {
  const uint64_t generation = catalogue.generation();
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find_if(remembered_, [&](const Remembered& one) {
      return one.generation == generation && one.query == query;
    });
    if (found != remembered_.end()) {
      remembered_.splice(remembered_.begin(), remembered_, found);
      return found->ids;
    }
  }
  std::vector<SortKey> keys;
  const std::string part = LowerCase(query.path);
  catalogue.ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (Fits(picture, query, part)) keys.push_back(KeyOf(picture));
  });
  std::ranges::sort(
      keys, [&](const SortKey& a, const SortKey& b) { return ComesBefore(query.sort, a, b); });
  auto ids = std::make_shared<std::vector<uint64_t>>();
  ids->reserve(keys.size());
  for (const SortKey& key : keys) ids->push_back(key.id);
  const std::lock_guard lock(mutex_);
  remembered_.push_front({.generation = generation, .query = query, .ids = ids});
  if (remembered_.size() > kMostRemembered) remembered_.pop_back();
  return ids;
}

std::string PictureListings::CursorOf(const CataloguedPicture& last) {
  return PercentEncode(fmt::format("{}.{}.{}", last.id, last.modified_ns, last.path));
}

std::optional<uint64_t> PictureListings::PlaceAfter(const CatalogueSnapshot& catalogue,
                                                    const Ids& ids, PictureSort sort,
                                                    const std::string& cursor) {
  const std::optional<SortKey> last = ParseCursor(cursor);
  if (!last) return std::nullopt;
  const auto place = std::ranges::upper_bound(
      *ids, *last, [&](const SortKey& a, const SortKey& b) { return ComesBefore(sort, a, b); },
      [&](uint64_t id) {
        const std::optional<CataloguedPicture> picture = catalogue.FindById(id);
        return picture ? KeyOf(*picture) : SortKey();
      });
  return static_cast<uint64_t>(place - ids->begin());
}

std::shared_ptr<const PictureListings::FolderCounts> PictureListings::AllFolders(
    const CatalogueSnapshot& catalogue) {
  {
    const std::lock_guard lock(mutex_);
    if (folders_ && folders_generation_ == catalogue.generation()) return folders_;
  }
  auto folders = std::make_shared<FolderCounts>();
  catalogue.ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    // Paths in further folders of a library are absolute.
    for (size_t slash = picture.path.find('/', 1); slash != std::string::npos;
         slash = picture.path.find('/', slash + 1)) {
      ListedFolder& folder = (*folders)[picture.path.substr(0, slash)];
      ++folder.pictures;
      folder.failed += picture.failure.empty() ? 0 : 1;
    }
  });
  for (auto& [path, folder] : *folders) {
    folder.path = path;
    const size_t slash = path.rfind('/');
    if (slash != std::string::npos && slash > 0) ++(*folders)[path.substr(0, slash)].folders;
  }
  const std::lock_guard lock(mutex_);
  folders_ = folders;
  folders_generation_ = catalogue.generation();
  return folders;
}

std::vector<ListedFolder> PictureListings::Folders(const CatalogueSnapshot& catalogue,
                                                   const std::string& parent) {
  std::vector<ListedFolder> found;
  for (const auto& [path, folder] : *AllFolders(catalogue)) {
    const size_t slash = path.rfind('/');
    const std::string above = slash == std::string::npos ? "" : path.substr(0, slash);
    if (above == parent) found.push_back(folder);
  }
  return found;
}

std::vector<ListedMonth> PictureListings::Months(const CatalogueSnapshot& catalogue,
                                                 const std::string& folder) {
  std::vector<int64_t> times;
  catalogue.ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (LiesIn(picture.path, folder)) times.push_back(picture.modified_ns);
  });
  std::ranges::sort(times, std::greater());
  std::vector<ListedMonth> months;
  for (size_t i = 0; i < times.size(); ++i) {
    const std::string date = TimeText(times[i]);
    const std::string month = date.substr(0, date.find('-', 5));
    if (months.empty() || months.back().month != month) {
      months.push_back({.month = month, .pictures = 0, .offset = i});
    }
    ++months.back().pictures;
  }
  return months;
}

}  // namespace bitpool
