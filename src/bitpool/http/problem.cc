#include "bitpool/http/problem.h"

#include <nlohmann/json.hpp>

namespace bitpool {

HttpResponse ProblemResponse(const Problem& problem, const std::string& request_id) {
  const nlohmann::json json = {{"type", "urn:bitpool:problem:" + problem.code},
                               {"title", StatusPhrase(problem.status)},
                               {"status", problem.status},
                               {"detail", problem.detail},
                               {"code", problem.code},
                               {"request_id", request_id}};
  HttpResponse response{
      .status = problem.status,
      .headers = {{"Content-Type", "application/problem+json"}, {"Cache-Control", "no-store"}},
      // A name in the detail may be any bytes.
      .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
  if (problem.status == 503) response.headers.Add("Retry-After", "1");
  if (problem.status == 401) response.headers.Add("WWW-Authenticate", "Bearer realm=\"bitpool\"");
  return response;
}

}  // namespace bitpool
