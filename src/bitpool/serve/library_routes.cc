#include <nlohmann/json.hpp>

#include "bitpool/base/shown_text.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

json LibraryJson(const ServiceState& state, ServedLibrary& served) {
  const std::shared_ptr<Job> job = state.jobs.Running(served.name());
  json result = {{"name", served.name()},
                 {"folder", ShownName(served.roots().root.native())},
                 {"indexed", false},
                 {"pictures", 0},
                 {"failed", 0},
                 {"bits", 0},
                 {"duplicate_radius", 0},
                 {"generation", 0},
                 {"job", job ? json(job->id()) : json()},
                 {"trash", served.decisions().trashed()}};
  const std::optional<LibrarySnapshot> snapshot = served.TrySnapshot();
  if (!snapshot) return result;
  const int bits = snapshot->index().bits();
  result.update({{"indexed", true},
                 {"pictures", snapshot->catalogue().Count()},
                 {"failed", snapshot->catalogue().FailedCount()},
                 {"bits", bits},
                 {"duplicate_radius", DefaultSimilarRadius(bits)},
                 {"generation", snapshot->catalogue().generation()}});
  return result;
}

}  // namespace

void AddLibraryRoutes(RouteTable& table, ServiceState& state) {
  table.Add({.method = "GET",
             .pattern = "/v1/libraries",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& /*call*/) {
               json libraries = json::array();
               for (const auto& served : state.libraries) {
                 libraries.push_back(LibraryJson(state, *served));
               }
               return JsonResponse({{"libraries", std::move(libraries)}});
             }});
  table.Add({.method = "GET",
             .pattern = "/v1/libraries/{library}",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) {
               return JsonResponse(LibraryJson(state, state.Library(call.captured[0])));
             }});
}

}  // namespace bitpool
