#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/raw_arrays.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

constexpr int64_t kMostMatches = 10'000;
// For all queries of a request together, so that a body of a few megabytes cannot claim all memory
// of the machine: 160 MB, and some gigabytes for a moment when the answers are written as JSON.
constexpr int64_t kMostAnswers = 10'000'000;

BinaryCodes CodesOf(const json& body, int bits) {
  return BinaryCodes::FromHex(
      bits, FieldOf<std::vector<std::string>>(body, "codes", "hexadecimal codes"));
}

json ChangeJson(const ServedIndex::Change& change, const ServedIndex& index) {
  return {{"added", change.added},
          {"removed", change.removed},
          {"first_id", change.first_id ? json(*change.first_id) : json()},
          {"codes", index.codes().size()}};
}

// Raw bytes: the codes; with ids=leading, preceded by as many ids.
HttpResponse AddRaw(const RouteCall& call, ServedIndex& index, bool replace) {
  const int bits = index.codes().bits();
  std::string_view bytes = call.request.body;
  std::optional<std::vector<int64_t>> ids;
  if (!TextParameter(call.target, "ids").empty()) {
    ChoiceParameter(call.target, "ids", {"leading"});
    const size_t row = sizeof(int64_t) + BytesPerCode(bits);
    if (bytes.size() % row != 0) {
      throw ProblemError(400, "invalid_argument",
                         fmt::format("the body: expected a multiple of {} bytes", row));
    }
    const size_t leading = bytes.size() / row * sizeof(int64_t);
    ids = RawArray<int64_t>(bytes.substr(0, leading));
    bytes.remove_prefix(leading);
  }
  const BinaryCodes codes(bits, RawArray<uint8_t>(bytes));
  return JsonResponse(ChangeJson(index.Add(codes, std::move(ids), replace), index));
}

HttpResponse AddCodes(const RouteCall& call, ServedIndex& index) {
  const bool replace = FlagParameter(call.target, "replace");
  if (IsRaw(call.request)) return AddRaw(call, index, replace);
  const json body = JsonBody(call.request);
  std::optional<std::vector<int64_t>> ids;
  if (body.contains("ids")) ids = JsonWholeNumbers(body, "ids");
  const BinaryCodes codes = CodesOf(body, index.codes().bits());
  return JsonResponse(ChangeJson(index.Add(codes, std::move(ids), replace), index));
}

HttpResponse RemoveCodes(const RouteCall& call, ServedIndex& index) {
  const std::vector<int64_t> ids = IsRaw(call.request)
                                       ? RawArray<int64_t>(call.request.body)
                                       : JsonWholeNumbers(JsonBody(call.request), "ids");
  return JsonResponse(ChangeJson(index.Remove(ids), index));
}

// The answers to all queries; distances alone, or scores too.
struct Answers {
  std::vector<std::vector<ScoredNeighbour>> rows;
  bool scored = false;
};

HttpResponse AsJson(const Answers& answers) {
  json results = json::array();
  for (const auto& row : answers.rows) {
    json list = json::array();
    for (const ScoredNeighbour& near : row) {
      json one = {{"id", near.id}, {"distance", near.distance}};
      if (answers.scored) one["score"] = near.score;
      list.push_back(std::move(one));
    }
    results.push_back(std::move(list));
  }
  return JsonResponse({{"results", std::move(results)}});
}

[[noreturn]] void RefuseRadius(const std::string& asked) {
  throw ProblemError(400, "invalid_argument",
                     fmt::format("radius: {}, expected at most {} answers in all: ask fewer "
                                 "queries, or for a smaller radius or k",
                                 asked, kMostAnswers));
}

// Every query has the room of the longest answer.
HttpResponse AsRaw(const Answers& answers) {
  size_t width = 0;
  for (const auto& row : answers.rows) width = std::max(width, row.size());
  if (width * answers.rows.size() > kMostAnswers) {
    RefuseRadius(fmt::format("{} queries of up to {} answers", answers.rows.size(), width));
  }
  std::vector<int64_t> ids(width * answers.rows.size(), -1);
  std::vector<int32_t> distances(ids.size(), -1);
  std::vector<double> scores(answers.scored ? ids.size() : 0);
  for (size_t query = 0; query < answers.rows.size(); ++query) {
    for (size_t i = 0; i < answers.rows[query].size(); ++i) {
      const ScoredNeighbour& near = answers.rows[query][i];
      ids[query * width + i] = near.id;
      distances[query * width + i] = near.distance;
      if (answers.scored) scores[query * width + i] = near.score;
    }
  }
  HttpResponse response = RawResponse(RawText(ids) + RawText(distances) + RawText(scores));
  response.headers.Add("Bitpool-K", std::to_string(width));
  return response;
}

// The number of answers per query. Throws ProblemError for more answers than one request may have.
int64_t AllowedCount(bitpool::Index queries, int64_t k, const IndexSnapshot& index) {
  const int64_t count = std::min<int64_t>(k, std::max<bitpool::Index>(1, index.size()));
  if (queries <= kMostAnswers / count) return count;
  throw ProblemError(400, "invalid_argument",
                     fmt::format("k: {} for each of {} queries, expected at most {} answers in all",
                                 k, queries, kMostAnswers));
}

// All within the radius of each query, found for few enough queries at a time that what is found
// fits into memory even when it is everything.
template <class Take>
void SearchRadius(const IndexSnapshot& index, const BinaryCodes& queries, int radius,
                  const RunContext& context, const Take& take) {
  const bitpool::Index at_once =
      std::max<bitpool::Index>(1, kMostAnswers / std::max<bitpool::Index>(1, index.size()));
  const auto bytes = static_cast<bitpool::Index>(queries.bytes_per_code());
  for (bitpool::Index first = 0; first < queries.size(); first += at_once) {
    const bitpool::Index count = std::min(at_once, queries.size() - first);
    const auto rows = queries.rows().subspan(static_cast<size_t>(first * bytes),
                                             static_cast<size_t>(count * bytes));
    const BinaryCodes some(queries.bits(), {rows.begin(), rows.end()});
    for (const auto& found : index.RangeSearch(some, radius, context)) take(found);
  }
}

Answers SearchCodes(const IndexSnapshot& index, const BinaryCodes& queries,
                    std::optional<int64_t> radius, int64_t k, const RunContext& context) {
  Answers answers;
  int64_t all = 0;
  const auto add = [&](std::span<const Neighbour> found) {
    auto& row = answers.rows.emplace_back();
    for (const Neighbour& near : found) {
      if (near.id < 0 || std::ssize(row) == k) break;
      row.push_back({.id = near.id, .score = 0, .distance = near.distance});
    }
    all += std::ssize(row);
    if (all > kMostAnswers) RefuseRadius("more answers");
  };
  if (radius) {
    if (queries.size() > kMostAnswers) RefuseRadius(fmt::format("{} queries", queries.size()));
    SearchRadius(index, queries, static_cast<int>(*radius), context, add);
  } else {
    const SearchResult result = index.Search(queries, k, context);
    for (bitpool::Index query = 0; query < queries.size(); ++query) add(result.of(query));
  }
  return answers;
}

Answers SearchValues(const IndexSnapshot& index, const MatrixF& values, int64_t k,
                     const RunContext& context) {
  Answers answers{.rows = {}, .scored = true};
  const RealSearchResult result = index.SearchReal(values, k, {}, context);
  for (bitpool::Index query = 0; query < values.cols(); ++query) {
    auto& row = answers.rows.emplace_back();
    for (const ScoredNeighbour& near : result.of(query)) {
      if (near.id >= 0) row.push_back(near);
    }
  }
  return answers;
}

HttpResponse Search(const RouteCall& call, const ServedIndex& served, const RunContext& context) {
  const IndexSnapshot index = served.codes().Snapshot();
  constexpr int64_t kUsual = 20;
  const auto radius = NumberParameter(call.target, "radius", {.least = 0, .most = kMaxBits});
  const int64_t k = NumberParameter(call.target, "k", {.least = 1, .most = kMostMatches})
                        .value_or(radius ? kMostMatches : kUsual);
  const bool raw = IsRaw(call.request);
  const json body = raw ? json() : JsonBody(call.request);
  const bool real = raw ? FlagParameter(call.target, "values") : body.contains("values");
  if (real && radius)
    throw ProblemError(400, "invalid_argument", "radius: real numbers are searched by k alone");
  Answers answers;
  if (real) {
    const MatrixF values =
        raw ? RawMatrix(call.request.body, index.bits()) : JsonMatrix(body, "values", index.bits());
    answers = SearchValues(index, values, AllowedCount(values.cols(), k, index), context);
  } else {
    const BinaryCodes queries =
        raw ? BinaryCodes(index.bits(), RawArray<uint8_t>(call.request.body))
            : CodesOf(body, index.bits());
    answers = SearchCodes(index, queries, radius,
                          radius ? k : AllowedCount(queries.size(), k, index), context);
  }
  return WantsRaw(call.request) ? AsRaw(answers) : AsJson(answers);
}

}  // namespace

void AddIndexRoutes(RouteTable& table, ServiceState& state) {
  table.Add({.method = "GET",
             .pattern = "/v1/indexes",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& /*call*/) {
               json indexes = json::array();
               for (const auto& index : state.indexes) indexes.push_back(index->ToJson());
               return JsonResponse({{"indexes", std::move(indexes)}});
             }});
  table.Add({.method = "GET",
             .pattern = "/v1/indexes/{index}",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) {
               return JsonResponse(state.Index(call.captured[0]).ToJson());
             }});
  const auto add = [&](const char* verb, Access access, auto answer) {
    table.Add({.method = "POST",
               .pattern = std::string("/v1/indexes/{index}/") + verb,
               .access = access,
               .answer =
                   [&state, answer](const RouteCall& call) {
                     return answer(call, state.Index(call.captured[0]));
                   },
               .lane = Lane::kSlow,
               .body_limit = state.options.body_bytes,
               .media_types = {"application/json", "application/octet-stream"}});
  };
  add("add", Access::kWrite, AddCodes);
  add("remove", Access::kWrite, RemoveCodes);
  add("search", Access::kRead, [&state](const RouteCall& call, const ServedIndex& index) {
    return Search(call, index, state.all_threads);
  });
  table.Add({.method = "POST",
             .pattern = "/v1/indexes/{index}/save",
             .access = Access::kWrite,
             .answer =
                 [&state](const RouteCall& call) {
                   ServedIndex& index = state.Index(call.captured[0]);
                   index.Save();
                   return JsonResponse(index.ToJson());
                 },
             .lane = Lane::kSlow,
             .body_limit = kJsonBytes});
}

}  // namespace bitpool
