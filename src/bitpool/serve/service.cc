#include "bitpool/serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>

#include "bitpool/base/error.h"
#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"
#include "bitpool/http/request_checks.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/training/model_file.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

constexpr const char* kSessionCookie = "bitpool_session";
constexpr auto kBetweenLooks = std::chrono::milliseconds(500);

int64_t SecondsNow() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Problem ProblemOf(const Error& error) {
  switch (error.code()) {
    case ErrorCode::kInvalidArgument:
      return {.status = 400, .code = "invalid_argument", .detail = error.what()};
    case ErrorCode::kNotFound:
      return {.status = 404, .code = "not_found", .detail = error.what()};
    case ErrorCode::kResources:
      return {.status = 503, .code = "busy", .detail = error.what()};
    case ErrorCode::kCancelled:
      return {.status = 503, .code = "stopping", .detail = error.what()};
    default:
      return {.status = 500, .code = "internal", .detail = error.what()};
  }
}

std::string_view PathOf(std::string_view target) { return target.substr(0, target.find('?')); }

HttpResponse TextResponse(std::string text, int status = 200) {
  return {.status = status,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"Cache-Control", "no-store"}},
          .body = std::move(text)};
}

}  // namespace

Service::Service(Env& env, ServiceOptions options)
    : env_(env), state_(std::move(options)), files_(EmbeddedFiles()) {
  AddServerRoutes();
  AddLibraryRoutes(table_, state_);
  AddPictureRoutes(table_, state_);
  AddSearchRoutes(table_, state_);
  AddDuplicateRoutes(table_, state_);
  AddJobRoutes(table_, state_);
  AddIndexRoutes(table_, state_);
  AddModelRoutes(table_, state_);
  std::vector<std::string> names;
  for (const Route& route : table_.routes()) names.push_back(route.method + " " + route.pattern);
  names.emplace_back("page");
  names.emplace_back("none");
  metrics_ = std::make_unique<RouteMetrics>(std::move(names));
}

Service::~Service() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  if (follower_.joinable()) follower_.join();
}

void Service::RequireNewName(bool taken, const std::string& name) const {
  if (!name.empty() && !taken) return;
  throw Error(ErrorCode::kInvalidArgument, name,
              "expected a name that no other has; NAME=PATH gives one");
}

void Service::AddLibrary(const std::string& name, const std::filesystem::path& location) {
  RequireNewName(
      std::ranges::any_of(state_.libraries, [&](const auto& one) { return one->name() == name; }),
      name);
  state_.libraries.push_back(std::make_unique<ServedLibrary>(
      env_, name, location, FollowOptions{.cache = state_.options.cache, .tell = log_}));
}

void Service::AddIndex(const std::string& name, const std::filesystem::path& file) {
  RequireNewName(
      std::ranges::any_of(state_.indexes, [&](const auto& one) { return one->name() == name; }),
      name);
  state_.indexes.push_back(std::make_unique<ServedIndex>(env_, name, file, state_.all_threads));
}

void Service::AddModel(const std::string& name, const std::filesystem::path& file) {
  RequireNewName(
      std::ranges::any_of(state_.models, [&](const auto& one) { return one.name == name; }), name);
  HashModel model = OpenModel(env_, file).model;
  if (model.pooling) {
    throw Error(ErrorCode::kInvalidArgument, file.string(),
                "expected a model of vectors; this one takes local features");
  }
  state_.models.push_back({.name = name, .model = std::move(model)});
}

void Service::Start(std::function<HttpServerStatus()> transport) {
  state_.transport = std::move(transport);
  follower_ = std::thread([this] { Follow(); });
}

// Looks for others' changes twice a second: a look costs a few dozen microseconds.
void Service::Follow() {
  std::unique_lock lock(mutex_);
  while (!ending_.wait_for(lock, kBetweenLooks, [this] { return ended_; })) {
    lock.unlock();
    for (const auto& served : state_.libraries) {
      try {
        served->Follow();
      } catch (const std::exception& error) {
        if (log_) log_(fmt::format("{}: {}", served->name(), error.what()));
      }
    }
    lock.lock();
  }
}

void Service::Stop(const std::function<void()>& end_transport) {
  state_.ready = false;
  state_.jobs.StopAll();
  end_transport();
  SaveIndexes();
}

void Service::SaveIndexes() {
  std::exception_ptr first;
  for (const auto& index : state_.indexes) {
    try {
      index->Save();
    } catch (const std::exception& error) {
      if (!first) {
        first = std::current_exception();
      } else if (log_) {
        log_(error.what());
      }
    }
  }
  if (first) std::rethrow_exception(first);
}

Access Service::CallerAccess(const HttpRequest& request) const {
  if (state_.options.keys.empty()) return Access::kWrite;
  const std::string_view key = BearerKey(request);
  if (!key.empty()) return state_.options.keys.AccessOf(key);
  return state_.sessions.AccessOf(CookieValue(request, kSessionCookie), SecondsNow());
}

std::variant<Admission, HttpResponse> Service::Admit(const HttpRequest& head) {
  try {
    if (const auto problem = FindOriginProblem(head, state_.options.hosts))
      return ProblemResponse(*problem, head.id);
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (reads && files_.Has(std::string(PathOf(head.target)))) return Admission{};
    const RouteTable::Match match = table_.Find(head.method, ParseTarget(head.target));
    const Route& route = table_.routes()[match.route];
    const Access access = CallerAccess(head);
    if (access < route.access) {
      if (access == Access::kNone)
        throw ProblemError(401, "unauthorized", "expected Authorization: Bearer KEY");
      throw ProblemError(403, "forbidden", "this key may only read");
    }
    RequireMediaType(route, head);
    const bool quick =
        route.quick_as_json && MediaType(head.headers.Find("Content-Type")) == "application/json";
    return Admission{
        .lane = quick ? Lane::kQuick : route.lane,
        .body_limit = quick ? std::min(kJsonBytes, route.body_limit) : route.body_limit};
  } catch (...) {
    HttpResponse refusal = Refusal(head, std::current_exception());
    metrics_->Count(table_.routes().size() + 1, refusal.status, 0);
    return refusal;
  }
}

HttpResponse Service::Refusal(const HttpRequest& request, const std::exception_ptr& error) const {
  Problem problem;
  try {
    std::rethrow_exception(error);
  } catch (const ProblemError& known) {
    problem = known.problem();
  } catch (const Error& known) {
    problem = ProblemOf(known);
  } catch (const std::bad_alloc&) {
    problem = {.status = 503, .code = "busy", .detail = "no memory is left for this"};
  } catch (const std::exception& unknown) {
    problem = {.status = 500, .code = "internal", .detail = unknown.what()};
  }
  if (problem.status == 500 && log_)
    log_(fmt::format("{} {} {}: {}", request.id, request.method, PathOf(request.target),
                     problem.detail));
  HttpResponse response = ProblemResponse(problem, request.id);
  if (problem.status == 405)
    response.headers.Add("Allow", problem.detail.substr(problem.detail.find(' ') + 1));
  return response;
}

HttpResponse Service::Answer(const HttpRequest& request, size_t& route) {
  const std::string path(PathOf(request.target));
  if (files_.Has(path)) {
    route = table_.routes().size();
    return files_.Answer(request, path);
  }
  const RequestTarget target = ParseTarget(request.target);
  RouteTable::Match match = table_.Find(request.method, target);
  route = match.route;
  return table_.routes()[route].answer({.request = request,
                                        .target = target,
                                        .captured = std::move(match.captured),
                                        .access = CallerAccess(request)});
}

HttpResponse Service::Handle(const HttpRequest& request) {
  size_t route = table_.routes().size() + 1;
  HttpResponse response;
  try {
    response = Answer(request, route);
    CompressIfAccepted(request, response);
  } catch (...) {
    response = Refusal(request, std::current_exception());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - request.received;
  metrics_->Count(route, response.status, took.count());
  return response;
}

HttpResponse Service::ServerFacts(const RouteCall& call) const {
  return JsonResponse({{"name", "bitpool"},
                       {"version", Version()},
                       {"access", NameOf(call.access)},
                       {"keys", !state_.options.keys.empty()},
                       {"allow_changes", state_.options.allow_changes},
                       {"limits",
                        {{"body_bytes", state_.options.body_bytes},
                         {"pixels", state_.options.pixels},
                         {"page", kMostPerPage}}}});
}

HttpResponse Service::StartSession(const RouteCall& call) {
  const std::string token = state_.sessions.Start(call.access, SecondsNow());
  return {.status = 204,
          .headers = {
              {"Set-Cookie",
               fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", kSessionCookie,
                           token, KeySessions::kSeconds, state_.options.secure ? "; Secure" : "")},
              {"Cache-Control", "no-store"}}};
}

HttpResponse Service::MetricsText() const {
  std::string text = metrics_->ToText();
  text +=
      "# HELP bitpool_library_pictures Pictures with a code.\n"
      "# TYPE bitpool_library_pictures gauge\n";
  for (const auto& served : state_.libraries) {
    const auto moment = served->moment();
    text += fmt::format("bitpool_library_pictures{{library=\"{}\"}} {}\n",
                        LabelText(served->name()), moment ? moment->index.size() : 0);
  }
  text += "# HELP bitpool_index_codes Codes of an index.\n# TYPE bitpool_index_codes gauge\n";
  for (const auto& index : state_.indexes) {
    text += fmt::format("bitpool_index_codes{{index=\"{}\"}} {}\n", LabelText(index->name()),
                        index->codes().size());
  }
  if (!state_.transport) return TextResponse(std::move(text));
  const HttpServerStatus status = state_.transport();
  text += GaugeText("bitpool_connections", "Open connections.",
                    static_cast<double>(status.connections));
  text += CounterText("bitpool_connections_total", "Connections that were taken.", status.accepted);
  text += GaugeText("bitpool_queue_quick", "Short requests that wait for a thread.",
                    static_cast<double>(status.waiting_quick));
  text += GaugeText("bitpool_queue_slow", "Long requests that wait for a thread.",
                    static_cast<double>(status.waiting_slow));
  text += CounterText("bitpool_refused_busy_total", "Requests beyond a limit of the whole.",
                      status.refused_busy);
  text += CounterText("bitpool_refused_malformed_total", "What was no proper request.",
                      status.refused_malformed);
  text +=
      CounterText("bitpool_timed_out_total", "Slow clients that were cut off.", status.timed_out);
  return TextResponse(std::move(text));
}

void Service::AddServerRoutes() {
  const auto add = [this](const char* method, const char* pattern, Access access, auto answer) {
    table_.Add({.method = method, .pattern = pattern, .access = access, .answer = answer});
  };
  add("GET", "/v1/server", Access::kNone,
      [this](const RouteCall& call) { return ServerFacts(call); });
  add("POST", "/v1/session", Access::kRead,
      [this](const RouteCall& call) { return StartSession(call); });
  add("DELETE", "/v1/session", Access::kNone, [this](const RouteCall& call) {
    state_.sessions.End(CookieValue(call.request, kSessionCookie));
    return HttpResponse{
        .status = 204,
        .headers = {{"Set-Cookie", fmt::format("{}=; Path=/; Max-Age=0", kSessionCookie)}}};
  });
  add("GET", "/livez", Access::kNone,
      [](const RouteCall& /*call*/) { return TextResponse("ok\n"); });
  add("GET", "/readyz", Access::kNone, [this](const RouteCall& /*call*/) {
    if (state_.ready) return TextResponse("ok\n");
    throw ProblemError(503, "stopping", "the server is ending");
  });
  add("GET", "/metrics", Access::kRead,
      [this](const RouteCall& /*call*/) { return MetricsText(); });
}

}  // namespace bitpool
