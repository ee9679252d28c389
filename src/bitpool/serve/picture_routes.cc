#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/base/shown_text.h"
#include "bitpool/http/file_source.h"
#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_format.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/trusted_open.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/picture_files.h"
#include "bitpool/serve/picture_json.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

constexpr int kPreviewQuality = 88;

ListingQuery ReadListingQuery(const RequestTarget& target) {
  const std::string sort = ChoiceParameter(target, "sort", {"path", "date", "id"});
  const std::string state = ChoiceParameter(target, "state", {"all", "fine", "failed"});
  ListingQuery query{.folder = TextParameter(target, "folder"),
                     .path = TextParameter(target, "path")};
  if (sort == "date") query.sort = PictureSort::kDate;
  if (sort == "id") query.sort = PictureSort::kId;
  if (state == "fine") query.state = PictureState::kFine;
  if (state == "failed") query.state = PictureState::kFailed;
  return query;
}

uint64_t FirstPlace(const RequestTarget& target, const CatalogueSnapshot& catalogue,
                    const PictureListings::Ids& ids, PictureSort sort) {
  const std::optional<std::string> cursor = target.Parameter("cursor");
  constexpr int64_t kFar = int64_t{1} << 40;
  if (!cursor) {
    return static_cast<uint64_t>(
        NumberParameter(target, "offset", {.least = 0, .most = kFar}).value_or(0));
  }
  const auto place = PictureListings::PlaceAfter(catalogue, ids, sort, *cursor);
  if (!place) throw ProblemError(400, "invalid_argument", "cursor: expected `next` of a page");
  return *place;
}

HttpResponse ListPictures(const RouteCall& call, ServedLibrary& served) {
  const ListingQuery query = ReadListingQuery(call.target);
  const auto limit = static_cast<uint64_t>(LimitParameter(call.target));
  const std::optional<LibrarySnapshot> snapshot = served.TrySnapshot();
  if (!snapshot) {
    return JsonResponse(
        {{"pictures", json::array()}, {"total", 0}, {"offset", 0}, {"next", nullptr}});
  }
  const CatalogueSnapshot& catalogue = snapshot->catalogue();
  const PictureListings::Ids ids = served.listings().Find(catalogue, query);
  const uint64_t first =
      std::min<uint64_t>(FirstPlace(call.target, catalogue, ids, query.sort), ids->size());
  const uint64_t end = std::min<uint64_t>(first + limit, ids->size());
  json pictures = json::array(), next;
  for (uint64_t place = first; place < end; ++place) {
    const std::optional<CataloguedPicture> picture = catalogue.FindById((*ids)[place]);
    if (!picture) continue;
    pictures.push_back(PictureJson(served.name(), *picture));
    if (place + 1 == end && end < ids->size()) next = PictureListings::CursorOf(*picture);
  }
  return JsonResponse({{"pictures", std::move(pictures)},
                       {"total", ids->size()},
                       {"offset", first},
                       {"next", std::move(next)}});
}

HttpResponse ListFolders(const RouteCall& call, ServedLibrary& served) {
  const std::string parent = TextParameter(call.target, "parent");
  json folders = json::array();
  if (const std::optional<LibrarySnapshot> snapshot = served.TrySnapshot()) {
    for (const ListedFolder& folder : served.listings().Folders(snapshot->catalogue(), parent)) {
      const std::string path = ShownName(folder.path);
      folders.push_back({{"path", path},
                         {"name", path.substr(path.rfind('/') + 1)},
                         {"pictures", folder.pictures},
                         {"failed", folder.failed},
                         {"folders", folder.folders}});
    }
  }
  return JsonResponse({{"parent", parent}, {"folders", std::move(folders)}});
}

HttpResponse ListMonths(const RouteCall& call, ServedLibrary& served) {
  json months = json::array();
  if (const std::optional<LibrarySnapshot> snapshot = served.TrySnapshot()) {
    for (const ListedMonth& month :
         served.listings().Months(snapshot->catalogue(), TextParameter(call.target, "folder"))) {
      months.push_back(
          {{"month", month.month}, {"pictures", month.pictures}, {"offset", month.offset}});
    }
  }
  return JsonResponse({{"months", std::move(months)}});
}

// A picture made for the page. With the version in its link it never changes.
HttpResponse SmallPicture(const RouteCall& call, std::string bytes) {
  const std::string tag = fmt::format("\"{:016x}\"", Checksum(std::as_bytes(std::span(bytes))));
  const bool for_ever = call.target.Parameter("v").has_value();
  HttpResponse response{
      .headers = {{"Content-Type", "image/jpeg"},
                  {"ETag", tag},
                  {"Cache-Control",
                   for_ever ? "private, max-age=31536000, immutable" : "private, no-cache"}},
      .body = std::move(bytes)};
  if (!MatchesEntityTag(call.request.headers.Find("If-None-Match"), tag)) return response;
  response.status = 304;
  response.body = std::string();
  return response;
}

std::string AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

HttpResponse Thumbnail(const RouteCall& call, const ServedLibrary& served) {
  const uint64_t id = NumberSegment(call.captured[1], "picture");
  const std::vector<std::byte> jpeg = served.library().Thumbnail(id);
  if (jpeg.empty()) {
    throw ProblemError(404, "not_found",
                       fmt::format("{}: there is no thumbnail of picture {}", served.name(), id));
  }
  return SmallPicture(call, AsText(jpeg));
}

HttpResponse Preview(const RouteCall& call, const ServedLibrary& served, uint64_t max_pixels) {
  constexpr NumberRange kSides = {.least = 16, .most = 4096};
  constexpr int64_t kUsualSide = 2048;
  const int64_t side = NumberParameter(call.target, "side", kSides).value_or(kUsualSide);
  const CataloguedPicture picture = RequirePicture(served, call.captured[1]);
  const std::vector<std::byte> bytes = ReadOriginal(served, picture);
  const Picture small = AboutPicture([&] {
    return DecodePicture(bytes, {.max_pixels = max_pixels, .max_side = static_cast<Index>(side)});
  });
  return SmallPicture(call, AsText(EncodeJpeg(small, kPreviewQuality)));
}

std::string ContentTypeOf(FileSource& file) {
  std::string start(std::min<uint64_t>(file.size(), 64), '\0');
  file.ReadAt(0, start);
  try {
    return fmt::format("image/{}", SniffFormat(std::as_bytes(std::span(start))).name);
  } catch (const Error&) {
    return "application/octet-stream";
  }
}

HttpResponse Original(const RouteCall& call, const ServedLibrary& served) {
  const CataloguedPicture picture = RequirePicture(served, call.captured[1]);
  const std::filesystem::path path = PathOf(served, picture);
  const auto file = std::make_shared<FileSource>(OpenTrusted(path), path.string());
  const std::string tag = fmt::format("\"{:x}-{:x}\"", file->size(), file->modified_ns());
  const std::string name = picture.path.substr(picture.path.rfind('/') + 1);
  HttpResponse response{.headers = {{"Content-Type", ContentTypeOf(*file)},
                                    {"Content-Disposition",
                                     "inline; filename*=UTF-8''" + PercentEncode(ShownName(name))},
                                    // Whatever is in the file, it does nothing in a browser.
                                    {"Content-Security-Policy", "default-src 'none'; sandbox"},
                                    {"Accept-Ranges", "bytes"},
                                    {"Cache-Control", "private, no-cache"},
                                    {"ETag", tag}}};
  if (MatchesEntityTag(call.request.headers.Find("If-None-Match"), tag)) {
    response.status = 304;
    return response;
  }
  const std::optional<ByteRange> range = RequestedRange(call.request.headers, file->size(), tag);
  if (range) {
    response.status = 206;
    response.headers.Add("Content-Range",
                         fmt::format("bytes {}-{}/{}", range->first,
                                     range->first + range->length - 1, file->size()));
  }
  response.body = SourceRange{.source = file,
                              .offset = range ? range->first : 0,
                              .length = range ? range->length : file->size()};
  return response;
}

}  // namespace

void AddPictureRoutes(RouteTable& table, ServiceState& state) {
  const auto add = [&](const std::string& path, auto answer, Lane lane = Lane::kQuick) {
    table.Add({.method = "GET",
               .pattern = "/v1/libraries/{library}/" + path,
               .access = Access::kRead,
               .answer =
                   [&state, answer](const RouteCall& call) {
                     return answer(call, state.Library(call.captured[0]));
                   },
               .lane = lane});
  };
  add("pictures", ListPictures);
  add("folders", ListFolders);
  add("dates", ListMonths);
  add("pictures/{id}", [](const RouteCall& call, const ServedLibrary& served) {
    return JsonResponse(PictureJson(served.name(), RequirePicture(served, call.captured[1])));
  });
  add("pictures/{id}/thumbnail", Thumbnail);
  add(
      "pictures/{id}/preview",
      [&state](const RouteCall& call, const ServedLibrary& served) {
        return Preview(call, served, state.options.pixels);
      },
      Lane::kSlow);
  add("pictures/{id}/original", Original);
}

}  // namespace bitpool
