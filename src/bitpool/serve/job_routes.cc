#include <charconv>
#include <nlohmann/json.hpp>

#include "bitpool/http/problem.h"
#include "bitpool/http/target.h"
#include "bitpool/serve/library_changes.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

std::shared_ptr<Job> RequireJob(const ServiceState& state, const std::string& id) {
  std::shared_ptr<Job> job = state.jobs.Find(id);
  if (job) return job;
  throw ProblemError(404, "not_found", "there is no job \"" + id + "\"");
}

HttpResponse ListJobs(const ServiceState& state) {
  json jobs = json::array();
  for (const auto& job : state.jobs.List()) jobs.push_back(job->ToJson());
  return JsonResponse({{"jobs", std::move(jobs)}});
}

HttpResponse Update(const RouteCall& call, ServiceState& state) {
  const std::shared_ptr<Job> job = StartUpdate(state, state.Library(call.captured[0]));
  HttpResponse response = JsonResponse(job->ToJson(), 202);
  response.headers.Add("Location", "/v1/jobs/" + job->id());
  return response;
}

HttpResponse Watch(const RouteCall& call, const ServiceState& state) {
  const std::string_view last = call.request.headers.Find("Last-Event-ID");
  uint64_t after = 0;
  std::from_chars(last.data(), last.data() + last.size(), after);  // 0 for what is not a number
  return {.headers = {{"Content-Type", "text/event-stream"}, {"Cache-Control", "no-store"}},
          .body = RequireJob(state, call.captured[0])->Watch(after)};
}

}  // namespace

void AddJobRoutes(RouteTable& table, ServiceState& state) {
  table.Add({.method = "POST",
             .pattern = "/v1/libraries/{library}/updates",
             .access = Access::kWrite,
             .answer = [&state](const RouteCall& call) { return Update(call, state); },
             .body_limit = kJsonBytes});
  table.Add({.method = "GET",
             .pattern = "/v1/jobs",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& /*call*/) { return ListJobs(state); }});
  table.Add({.method = "GET",
             .pattern = "/v1/jobs/{job}",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) {
               return JsonResponse(RequireJob(state, call.captured[0])->ToJson());
             }});
  table.Add({.method = "DELETE",
             .pattern = "/v1/jobs/{job}",
             .access = Access::kWrite,
             .answer = [&state](const RouteCall& call) {
               const std::shared_ptr<Job> job = RequireJob(state, call.captured[0]);
               job->Cancel();
               return JsonResponse(job->ToJson(), 202);
             }});
  table.Add({.method = "GET",
             .pattern = "/v1/jobs/{job}/events",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) { return Watch(call, state); }});
}

}  // namespace bitpool
