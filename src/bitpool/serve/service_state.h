#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/hash/hash_model.h"
#include "bitpool/http/api_keys.h"
#include "bitpool/http/http_server.h"
#include "bitpool/io/env.h"
#include "bitpool/serve/jobs.h"
#include "bitpool/serve/route_table.h"
#include "bitpool/serve/served_index.h"
#include "bitpool/serve/served_library.h"

namespace bitpool {

struct ServiceOptions {
  bool allow_changes = false;           // pictures may be moved to the trash folder
  std::vector<std::string> hosts = {};  // names of this server besides localhost
  ApiKeys keys = {};                    // none: everybody may do everything
  bool secure = false;                  // clients come by TLS
  uint64_t body_bytes = HttpLimits().body_bytes;
  uint64_t pixels = 200'000'000;     // of a picture that is sent
  std::filesystem::path cache = {};  // the folder for copies of the catalogues of shared libraries
};

struct ServedModel {
  std::string name;
  HashModel model;
};

// What the routes work on.
struct ServiceState {
  explicit ServiceState(ServiceOptions chosen) : options(std::move(chosen)) {}

  // Throw ProblemError (404).
  ServedLibrary& Library(const std::string& name) const;
  ServedIndex& Index(const std::string& name) const;
  const ServedModel& Model(const std::string& name) const;

  const ServiceOptions options;
  // Every request has one thread of those that answer; what takes all cores says so.
  const RunContext one_thread{RunOptions{.threads = 1}};
  std::stop_source hurry;
  const RunContext all_threads{RunOptions{.stop = hurry.get_token()}};
  std::vector<std::unique_ptr<ServedLibrary>> libraries;
  std::vector<std::unique_ptr<ServedIndex>> indexes;
  std::vector<ServedModel> models;
  JobBoard jobs;
  KeySessions sessions;
  std::atomic<bool> ready = true;
  std::function<HttpServerStatus()> transport;  // empty: not known
};

// Each adds the routes of one tag of openapi.json. `state` outlives the table.
void AddLibraryRoutes(RouteTable& table, ServiceState& state);
void AddPictureRoutes(RouteTable& table, ServiceState& state);
void AddSearchRoutes(RouteTable& table, ServiceState& state);
void AddDuplicateRoutes(RouteTable& table, ServiceState& state);
void AddJobRoutes(RouteTable& table, ServiceState& state);
void AddIndexRoutes(RouteTable& table, ServiceState& state);
void AddModelRoutes(RouteTable& table, ServiceState& state);

// The most entries of a page, and the most bytes of a body in JSON.
inline constexpr int64_t kMostPerPage = 500;
inline constexpr uint64_t kJsonBytes = uint64_t{8} << 20;

// How many are wanted at most: the parameter `limit`.
int64_t LimitParameter(const RequestTarget& target);

}  // namespace bitpool
