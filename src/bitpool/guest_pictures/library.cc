#include "bitpool/library.h"

#include <utility>

#include "bitpool/guest/conversions.h"
#include "bitpool/library/picture_library.h"

namespace bitpool {
inline namespace v0 {

struct Library::Impl {
  std::unique_ptr<PictureLibrary> library;
};

namespace {

LibraryPicture PictureOf(const CataloguedPicture& picture) {
  return {.id = picture.id,
          .path = picture.path,
          .file_size = picture.size,
          .width = static_cast<int>(picture.width),
          .height = static_cast<int>(picture.height),
          .failure = picture.failure};
}

Match MatchOf(const CataloguedPicture& picture, int distance, double score) {
  Match match;
  static_cast<LibraryPicture&>(match) = PictureOf(picture);
  match.distance = distance;
  match.score = score;
  return match;
}

std::vector<Match> MatchesOf(const QueryAnswer& answer) {
  std::vector<Match> matches;
  for (const QueryMatch& found : answer.matches) {
    matches.push_back(MatchOf(found.picture, found.distance, found.score));
  }
  return matches;
}

QueryOptions QueryOptionsOf(std::int64_t k, MatchOrder order) {
  return {.k = k, .order = order == MatchOrder::kScore ? QueryOrder::kScore : QueryOrder::kHamming};
}

GroupKind GroupKindOf(DuplicateKind kind) {
  switch (kind) {
    case DuplicateKind::kExact:
      return GroupKind::kExact;
    case DuplicateKind::kEdited:
      return GroupKind::kEdited;
    case DuplicateKind::kPart:
      return GroupKind::kPart;
    case DuplicateKind::kSimilar:
      break;
  }
  return GroupKind::kSimilar;
}

}  // namespace

Library::Library(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;

Library Library::Open(const std::filesystem::path& folder) {
  return Library(std::make_unique<Impl>(Impl{PictureLibrary::Open(Env::Posix(), folder)}));
}

Library Library::OpenOrCreate(const std::filesystem::path& folder,
                              const std::filesystem::path& pictures) {
  return Library(
      std::make_unique<Impl>(Impl{PictureLibrary::OpenOrCreate(Env::Posix(), folder, pictures)}));
}

UpdateReport Library::Update(const UpdateRequest& request, const Run& run) {
  const UpdateSummary summary = impl_->library->Update(
      {.bits = request.bits, .coder = request.coder, .allow_empty = request.allow_empty},
      ContextOf(run));
  UpdateReport report{.added = summary.added,
                      .changed = summary.changed,
                      .removed = summary.removed,
                      .unchanged = summary.unchanged,
                      .failed = {},
                      .stopped = summary.stopped};
  for (const FailedPicture& failed : summary.failed) {
    report.failed.push_back({.path = failed.path.string(), .reason = failed.reason});
  }
  return report;
}

void Library::Refresh() const { impl_->library->Refresh(); }

std::size_t Library::size() const {
  return static_cast<std::size_t>(impl_->library->Snapshot().catalogue().Count());
}

std::vector<Match> Library::Query(std::span<const std::byte> picture, std::int64_t k,
                                  MatchOrder order, const Run& run) const {
  return MatchesOf(impl_->library->Query(picture, QueryOptionsOf(k, order), ContextOf(run)));
}

std::vector<Match> Library::Query(const std::filesystem::path& picture, std::int64_t k,
                                  MatchOrder order, const Run& run) const {
  return MatchesOf(impl_->library->QueryFile(picture, QueryOptionsOf(k, order), ContextOf(run)));
}

std::vector<Match> Library::QueryId(std::uint64_t id, std::int64_t k, const Run& run) const {
  return MatchesOf(
      impl_->library->QueryId(id, QueryOptionsOf(k, MatchOrder::kHamming), ContextOf(run)));
}

std::vector<PictureGroup> Library::Duplicates(std::optional<int> radius, const Run& run) const {
  std::vector<PictureGroup> groups;
  for (const DuplicateGroup& found :
       impl_->library->Duplicates({.radius = radius}, ContextOf(run)).groups) {
    PictureGroup& group = groups.emplace_back();
    group.kind = GroupKindOf(found.kind);
    group.reason = found.reason.words;
    for (const DuplicatePicture& one : found.pictures) {
      group.pictures.push_back(MatchOf(one.picture, one.distance, 0));
    }
  }
  return groups;
}

std::optional<LibraryPicture> Library::Find(std::uint64_t id) const {
  const std::optional<CataloguedPicture> picture = impl_->library->Find(id);
  if (!picture) return std::nullopt;
  return PictureOf(*picture);
}

std::vector<std::byte> Library::Thumbnail(std::uint64_t id) const {
  return impl_->library->Thumbnail(id);
}

}  // namespace v0
}  // namespace bitpool
