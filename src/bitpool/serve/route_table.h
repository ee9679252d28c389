#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/http/api_keys.h"
#include "bitpool/http/http_server.h"
#include "bitpool/http/message.h"
#include "bitpool/http/target.h"

namespace bitpool {

// A request as a route sees it.
struct RouteCall {
  const HttpRequest& request;
  const RequestTarget& target;
  std::vector<std::string>
      captured;   // the parts of the path that the pattern leaves open, in order
  Access access;  // of the caller
};

// What is done about requests of one kind.
struct Route {
  std::string method;   // GET, which also answers HEAD, POST or DELETE
  std::string pattern;  // as in openapi.json: "/v1/libraries/{library}/pictures"
  Access access;        // that the caller needs
  std::function<HttpResponse(const RouteCall& call)> answer;
  Lane lane = Lane::kQuick;
  bool quick_as_json = false;                 // a body of JSON takes the quick lane
  uint64_t body_limit = 0;                    // 0: the body is not read
  std::vector<std::string> media_types = {};  // of the body; "image/*" stands for all of them
};

// Finds the route of a request.
class RouteTable {
 public:
  void Add(Route route);

  struct Match {
    size_t route;  // its place
    std::vector<std::string> captured;
  };
  // Throws ProblemError: 404, 405 with the methods there are, 501 for methods that no route has.
  Match Find(std::string_view method, const RequestTarget& target) const;

  const std::vector<Route>& routes() const { return routes_; }

 private:
  struct Pattern {
    std::vector<std::string> segments;  // empty: left open
  };
  std::vector<Route> routes_;
  std::vector<Pattern> patterns_;
};

// Throws ProblemError (415) unless the body's type is among those of the route.
void RequireMediaType(const Route& route, const HttpRequest& request);

}  // namespace bitpool
