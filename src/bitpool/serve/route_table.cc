#include "bitpool/serve/route_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

// The parts of the path that are left open, or nothing when the path is another.
std::optional<std::vector<std::string>> Capture(const std::vector<std::string>& pattern,
                                                const std::vector<std::string>& path) {
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> captured;
  for (size_t i = 0; i < path.size(); ++i) {
    if (pattern[i].empty()) {
      if (path[i].empty()) return std::nullopt;
      captured.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return captured;
}

bool IsKnownMethod(std::string_view method) {
  return method == "GET" || method == "HEAD" || method == "POST" || method == "DELETE" ||
         method == "PUT" || method == "PATCH" || method == "OPTIONS";
}

}  // namespace

void RouteTable::Add(Route route) {
  Pattern pattern;
  for (std::string& segment : ParseTarget(route.pattern).segments) {
    pattern.segments.push_back(segment.starts_with('{') ? "" : std::move(segment));
  }
  patterns_.push_back(std::move(pattern));
  routes_.push_back(std::move(route));
}

RouteTable::Match RouteTable::Find(std::string_view method, const RequestTarget& target) const {
  if (!IsKnownMethod(method)) {
    throw ProblemError(501, "not_implemented", fmt::format("{}: no such method here", method));
  }
  const std::string_view wanted = method == "HEAD" ? "GET" : method;
  std::vector<std::string_view> others;
  for (size_t i = 0; i < routes_.size(); ++i) {
    auto captured = Capture(patterns_[i].segments, target.segments);
    if (!captured) continue;
    if (routes_[i].method == wanted) return {.route = i, .captured = *std::move(captured)};
    others.push_back(routes_[i].method);
  }
  if (others.empty()) throw ProblemError(404, "not_found", "there is nothing at this path");
  throw ProblemError(405, "method_not_allowed",
                     fmt::format("expected {}", fmt::join(others, " or ")));
}

void RequireMediaType(const Route& route, const HttpRequest& request) {
  if (route.media_types.empty()) return;
  const std::string type = MediaType(request.headers.Find("Content-Type"));
  const bool fits = std::ranges::any_of(route.media_types, [&](const std::string& accepted) {
    if (accepted.ends_with("/*")) return type.starts_with(accepted.substr(0, accepted.size() - 1));
    return type == accepted;
  });
  if (fits) return;
  throw ProblemError(415, "unsupported_media_type",
                     fmt::format("Content-Type: expected {}, got \"{}\"",
                                 fmt::join(route.media_types, " or "), type));
}

}  // namespace bitpool
