#include "bitpool/http/request_checks.h"

#include <fmt/format.h>

#include <algorithm>

namespace bitpool {
namespace {

Problem BadRequest(std::string detail) {
  return {.status = 400, .code = "invalid_request", .detail = std::move(detail)};
}

// "name:port" without the port; "[::1]:8080" without both.
std::string_view HostName(std::string_view authority) {
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    return end == std::string_view::npos ? std::string_view() : authority.substr(1, end - 1);
  }
  return authority.substr(0, authority.find(':'));
}

bool IsAddress(std::string_view authority) {
  const std::string_view name = HostName(authority);
  const bool in_brackets = authority.starts_with('[');
  return !name.empty() &&
         name.find_first_not_of(in_brackets ? "0123456789abcdefABCDEF:." : "0123456789.") ==
             std::string_view::npos;
}

bool IsKnownHost(std::string_view authority, const std::vector<std::string>& hosts) {
  const std::string_view name = HostName(authority);
  return IsAddress(authority) || EqualIgnoringCase(name, "localhost") ||
         std::ranges::any_of(hosts,
                             [&](const auto& host) { return EqualIgnoringCase(host, name); });
}

// A link from anywhere may open a page; anything else that a browser fetches for a foreign page is
// refused.
bool IsForeignFetch(const HttpRequest& head) {
  const std::string_view site = head.headers.Find("Sec-Fetch-Site");
  if (site.empty() || site == "same-origin" || site == "none") return false;
  return head.headers.Find("Sec-Fetch-Mode") != "navigate" || head.method != "GET";
}

}  // namespace

std::optional<Problem> FindProtocolProblem(const HttpRequest& head, int version) {
  if (version != 10 && version != 11) {
    return Problem{.status = 505, .code = "invalid_request", .detail = "expected HTTP/1.1"};
  }
  const HttpHeaders& headers = head.headers;
  if (headers.Count("Host") > 1) return BadRequest("Host: given more than once");
  if (version == 11 && headers.Find("Host").empty()) return BadRequest("Host: expected one");
  if (headers.Has("Transfer-Encoding")) {
    if (headers.Has("Content-Length"))
      return BadRequest("expected either Content-Length or Transfer-Encoding, not both");
    if (version == 10) return BadRequest("Transfer-Encoding: HTTP/1.0 has none");
    if (headers.Count("Transfer-Encoding") > 1 ||
        !EqualIgnoringCase(headers.Find("Transfer-Encoding"), "chunked")) {
      return Problem{.status = 501,
                     .code = "not_implemented",
                     .detail = "Transfer-Encoding: expected chunked alone"};
    }
  }
  if (headers.Count("Content-Length") > 1)
    return BadRequest("Content-Length: given more than once");
  const std::string_view coding = headers.Find("Content-Encoding");
  if (!coding.empty() && !EqualIgnoringCase(coding, "identity")) {
    return Problem{.status = 415,
                   .code = "unsupported_media_type",
                   .detail = fmt::format("Content-Encoding: expected none, got {}", coding)};
  }
  const std::string_view expected = headers.Find("Expect");
  if (!expected.empty() && !EqualIgnoringCase(expected, "100-continue")) {
    return Problem{
        .status = 417, .code = "invalid_request", .detail = "Expect: expected 100-continue"};
  }
  return std::nullopt;
}

std::optional<Problem> FindOriginProblem(const HttpRequest& head,
                                         const std::vector<std::string>& hosts) {
  const std::string_view host = head.headers.Find("Host");
  if (!host.empty() && !IsKnownHost(host, hosts)) {
    return Problem{.status = 421,
                   .code = "misdirected",
                   .detail = fmt::format("{} is no name of this server; --host adds one", host)};
  }
  const auto foreign = [](std::string_view what) {
    return Problem{.status = 403,
                   .code = "foreign_origin",
                   .detail = fmt::format("{}: only the server's own pages may ask", what)};
  };
  if (head.headers.Has("Origin")) {
    const std::string_view origin = head.headers.Find("Origin");
    const size_t scheme = origin.find("://");
    if (scheme == std::string_view::npos || !EqualIgnoringCase(origin.substr(scheme + 3), host))
      return foreign("Origin");
  }
  if (IsForeignFetch(head)) return foreign("Sec-Fetch-Site");
  return std::nullopt;
}

}  // namespace bitpool
