#include <nlohmann/json.hpp>

#include "bitpool/serve/parameters.h"
#include "bitpool/serve/raw_arrays.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

json ModelJson(const ServedModel& served) {
  return {{"name", served.name},
          {"method", served.model.method},
          {"dimension", served.model.dimension()},
          {"bits", served.model.bits()}};
}

json ValuesJson(const MatrixF& values) {
  json rows = json::array();
  for (Index column = 0; column < values.cols(); ++column) {
    rows.push_back(std::vector<float>(values.col(column).begin(), values.col(column).end()));
  }
  return rows;
}

HttpResponse Encode(const RouteCall& call, const ServedModel& served, const RunContext& context) {
  const bool values = FlagParameter(call.target, "values");
  const Index dimension = served.model.dimension();
  const MatrixF vectors = IsRaw(call.request)
                              ? RawMatrix(call.request.body, dimension)
                              : JsonMatrix(JsonBody(call.request), "vectors", dimension);
  const EncodedVectors encoded =
      EncodeBatch(*served.model.encoder, MatrixColumns(vectors), context);
  if (WantsRaw(call.request)) {
    if (!values) {
      return RawResponse(
          RawText(std::vector(encoded.codes.rows().begin(), encoded.codes.rows().end())));
    }
    const auto* begin = encoded.projections.data();
    return RawResponse(RawText(std::vector(begin, begin + encoded.projections.size())));
  }
  json codes = json::array();
  for (Index i = 0; i < encoded.codes.size(); ++i) codes.push_back(encoded.codes.ToHex(i));
  json result = {{"bits", served.model.bits()}, {"codes", std::move(codes)}};
  if (values) result["values"] = ValuesJson(encoded.projections);
  return JsonResponse(result);
}

}  // namespace

void AddModelRoutes(RouteTable& table, ServiceState& state) {
  table.Add({.method = "GET",
             .pattern = "/v1/models",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& /*call*/) {
               json models = json::array();
               for (const ServedModel& model : state.models) models.push_back(ModelJson(model));
               return JsonResponse({{"models", std::move(models)}});
             }});
  table.Add({.method = "POST",
             .pattern = "/v1/models/{model}/encode",
             .access = Access::kRead,
             .answer =
                 [&state](const RouteCall& call) {
                   return Encode(call, state.Model(call.captured[0]), state.all_threads);
                 },
             .lane = Lane::kSlow,
             .body_limit = state.options.body_bytes,
             .media_types = {"application/json", "application/octet-stream"}});
}

}  // namespace bitpool
