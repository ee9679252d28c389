#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "bitpool/http/http_server.h"
#include "bitpool/serve/metrics.h"
#include "bitpool/serve/page.h"
#include "bitpool/serve/route_table.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {

// What `bitpool serve` answers: libraries, indexes and models over HTTP, as openapi.json describes
// it, and the page. Knows nothing of sockets.
class Service : public HttpHandler {
 public:
  Service(Env& env, ServiceOptions options);
  ~Service() override;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // To be called before the first request. Throw kInvalidArgument for a name that is taken, and as
  // ServedLibrary, OpenIndex and OpenModel.
  void AddLibrary(const std::string& name, const std::filesystem::path& location);
  void AddIndex(const std::string& name, const std::filesystem::path& file);
  void AddModel(const std::string& name, const std::filesystem::path& file);
  // Follows the libraries from now on; `transport` gives the state of the transport.
  void Start(std::function<HttpServerStatus()> transport);
  // Ceases to be ready, stops the jobs, has `end_transport` answer what was sent and take no more,
  // and then writes what was changed: what was acknowledged is in the files. Every index is written
  // that can be; throws as SaveIndex for the first that cannot.
  void Stop(const std::function<void()>& end_transport = [] {});
  // `log` gets a line for every answer that shows a mistake of ours, from any thread.
  void set_log(std::function<void(const std::string&)> log) { log_ = std::move(log); }

  std::variant<Admission, HttpResponse> Admit(const HttpRequest& head) override;
  HttpResponse Handle(const HttpRequest& request) override;
  void Hurry() override { state_.hurry.request_stop(); }

  const RouteTable& routes() const { return table_; }

 private:
  void AddServerRoutes();
  Access CallerAccess(const HttpRequest& request) const;
  // Returns the answer, and sets `route` to its place among the metrics; throws nothing.
  HttpResponse Answer(const HttpRequest& request, size_t& route);
  HttpResponse Refusal(const HttpRequest& request, const std::exception_ptr& error) const;
  HttpResponse MetricsText() const;
  HttpResponse ServerFacts(const RouteCall& call) const;
  HttpResponse StartSession(const RouteCall& call);
  void RequireNewName(bool taken, const std::string& name) const;
  void Follow();
  void SaveIndexes();

  Env& env_;
  ServiceState state_;
  StaticFiles files_;
  RouteTable table_;
  std::unique_ptr<RouteMetrics> metrics_;  // a place per route, then files, then the rest
  std::function<void(const std::string&)> log_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread follower_;
};

}  // namespace bitpool
