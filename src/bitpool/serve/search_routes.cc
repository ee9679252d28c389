#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/picture_files.h"
#include "bitpool/serve/picture_json.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

constexpr int64_t kMostSearchMatches = 10'000;
constexpr int kCropQuality = 95;

// What a search asks for besides the picture.
struct SearchQuery {
  QueryOptions options;
  std::optional<int64_t> radius;
  bool ids_alone = false;
  std::optional<std::array<double, 4>> box;  // left, top, width, height, as shares of the picture
};

std::array<double, 4> ParseBox(const std::string& text) {
  std::array<double, 4> box{};
  std::istringstream words(text);
  bool fine = true;
  for (double& number : box) {
    std::string word;
    fine = fine && std::getline(words, word, ',');
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, number);
    fine = fine && error == std::errc() && stop == end && number >= 0 && number <= 1;
  }
  constexpr double kRounding = 1e-6;
  if (!fine || !words.eof() || box[2] <= 0 || box[3] <= 0 || box[0] + box[2] > 1 + kRounding ||
      box[1] + box[3] > 1 + kRounding) {
    throw ProblemError(400, "invalid_argument",
                       "box: expected left,top,width,height from 0 to 1, inside the picture");
  }
  return box;
}

SearchQuery ReadSearchQuery(const RequestTarget& target) {
  SearchQuery query;
  query.options.k = NumberParameter(target, "k", {.least = 1, .most = kMostSearchMatches})
                        .value_or(query.options.k);
  query.radius = NumberParameter(target, "radius", {.least = 0, .most = kMaxBits});
  if (ChoiceParameter(target, "order", {"score", "hamming"}) == "hamming")
    query.options.order = QueryOrder::kHamming;
  query.ids_alone = ChoiceParameter(target, "detail", {"full", "ids"}) == "ids";
  if (const std::optional<std::string> box = target.Parameter("box")) query.box = ParseBox(*box);
  return query;
}

// The part of the picture in the box, as a file of its own.
std::vector<std::byte> PartInBox(std::span<const std::byte> bytes, const std::array<double, 4>& box,
                                 uint64_t max_pixels) {
  const Picture whole = DecodePicture(bytes, {.max_pixels = max_pixels});
  const auto width = static_cast<double>(whole.width), height = static_cast<double>(whole.height);
  const Picture part = CropPicture(whole, {.left = box[0] * width,
                                           .top = box[1] * height,
                                           .right = (box[0] + box[2]) * width,
                                           .bottom = (box[1] + box[3]) * height});
  return EncodeJpeg(part, kCropQuality);
}

HttpResponse FullAnswer(const ServedLibrary& served, const QueryAnswer& answer,
                        const SearchQuery& query) {
  const int bits = answer.library.index().bits();
  json matches = json::array();
  for (const QueryMatch& match : answer.matches) {
    if (query.radius && match.distance > *query.radius) continue;
    if (query.ids_alone) {
      matches.push_back({{"id", match.picture.id}, {"distance", match.distance}});
    } else {
      matches.push_back({{"picture", PictureJson(served.name(), match.picture)},
                         {"distance", match.distance},
                         {"score", match.score}});
    }
  }
  return JsonResponse({{"bits", bits},
                       {"duplicate_radius", DefaultSimilarRadius(bits)},
                       {"generation", answer.library.catalogue().generation()},
                       {"matches", std::move(matches)}});
}

// The path that is taken thousands of times a second: codes alone, and text without detours.
HttpResponse IdsLike(const ServedLibrary& served, uint64_t id, const SearchQuery& query,
                     const RunContext& context) {
  const std::shared_ptr<const LibraryMoment> moment = served.moment();
  if (!moment) {
    (void)served.Snapshot();  // says why, unless the first codes came this very moment
    throw ProblemError(503, "busy", fmt::format("{}: is just being opened", served.name()));
  }
  const IndexSnapshot& index = moment->index;
  std::vector<uint8_t> code(BytesPerCode(index.bits()));
  if (!index.CopyCode(static_cast<int64_t>(id), code)) {
    throw ProblemError(404, "not_found",
                       fmt::format("{}: there is no picture {} with a code", served.name(), id));
  }
  const int64_t k = std::min<int64_t>(query.options.k, index.size() - 1);
  std::string text =
      fmt::format("{{\"bits\":{},\"duplicate_radius\":{},\"generation\":{},\"matches\":[",
                  index.bits(), DefaultSimilarRadius(index.bits()), moment->generation);
  const SearchResult found =
      index.Search(BinaryCodes(index.bits(), std::move(code)), k + 1, context);
  int64_t count = 0;
  for (const Neighbour& near : found.neighbours) {
    if (near.id == static_cast<int64_t>(id) || near.id < 0) continue;
    if (count == k || (query.radius && near.distance > *query.radius)) break;
    fmt::format_to(std::back_inserter(text), FMT_COMPILE("{}{{\"id\":{},\"distance\":{}}}"),
                   count++ == 0 ? "" : ",", near.id, near.distance);
  }
  text += "]}\n";
  return {.headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

uint64_t AskedPictureId(const HttpRequest& request) {
  const json body = JsonBody(request);
  const auto id = body.find("picture");
  if (id == body.end() || !id->is_number_unsigned())
    throw ProblemError(400, "invalid_argument", "picture: expected the id of a picture");
  return id->get<uint64_t>();
}

HttpResponse SearchByPicture(const ServiceState& state, const ServedLibrary& served,
                             std::span<const std::byte> picture, const SearchQuery& query) {
  const QueryAnswer answer = AboutPicture([&] {
    // Inspected first, so that the cost is known before it is incurred.
    InspectPicture(picture, {.max_pixels = state.options.pixels});
    if (!query.box) return served.library().Query(picture, query.options, state.one_thread);
    const std::vector<std::byte> part = PartInBox(picture, *query.box, state.options.pixels);
    return served.library().Query(part, query.options, state.one_thread);
  });
  return FullAnswer(served, answer, query);
}

HttpResponse Search(const RouteCall& call, const ServiceState& state) {
  const ServedLibrary& served = state.Library(call.captured[0]);
  SearchQuery query = ReadSearchQuery(call.target);
  if (!served.moment()) (void)served.Snapshot();  // says why
  if (MediaType(call.request.headers.Find("Content-Type")) != "application/json") {
    return SearchByPicture(state, served, std::as_bytes(std::span(call.request.body)), query);
  }
  const uint64_t id = AskedPictureId(call.request);
  if (query.box) {
    const CataloguedPicture picture = RequirePicture(served, std::to_string(id));
    return SearchByPicture(state, served, ReadOriginal(served, picture), query);
  }
  if (query.ids_alone) return IdsLike(served, id, query, state.one_thread);
  query.options.order = QueryOrder::kHamming;  // the same order, since all bits count alike
  return FullAnswer(served, served.library().QueryId(id, query.options, state.one_thread), query);
}

}  // namespace

void AddSearchRoutes(RouteTable& table, ServiceState& state) {
  table.Add({.method = "POST",
             .pattern = "/v1/libraries/{library}/search",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) { return Search(call, state); },
             .lane = Lane::kSlow,
             .quick_as_json = true,
             .body_limit = state.options.body_bytes,
             .media_types = {"application/json", "image/*"}});
}

}  // namespace bitpool
