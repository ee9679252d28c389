#include <string>
#include <string_view>

#include "bitpool/http/message.h"
#include "bitpool/http/negotiation.h"
#include "bitpool/http/problem.h"
#include "bitpool/http/request_checks.h"
#include "bitpool/http/target.h"
#include "fuzz.h"

namespace bitpool {
namespace {

std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

void Require(bool good) {
  if (!good) __builtin_trap();
}

template <class Action>
void TryRequest(const Action& action) {
  try {
    fuzz::Try(action);
  } catch (const ProblemError& problem) {
    Require(problem.problem().status >= 400 && problem.problem().status < 500);
  }
}

void CheckRange(const HttpRequest& request, uint64_t size) {
  const std::optional<ByteRange> range = RequestedRange(request.headers, size, "\"tag\"");
  if (range)
    Require(range->length > 0 && range->first < size && range->length <= size - range->first);
}

}  // namespace
}  // namespace bitpool

// A target and lines of header fields: whatever our own code looks at in a head, after the parser
// of Boost.Beast.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  HttpRequest request{.method = std::string(TakeLine(rest)), .target = std::string(TakeLine(rest))};
  while (!rest.empty()) {
    std::string_view value = TakeLine(rest);
    const size_t colon = std::min(value.find(':'), value.size());
    request.headers.Add(value.substr(0, colon), value.substr(std::min(colon + 1, value.size())));
  }
  TryRequest([&] {
    const RequestTarget target = ParseTarget(request.target);
    for (const std::string& segment : target.segments) {
      Require(PercentDecode(PercentEncode(segment), false) == segment);
    }
    for (const auto& [name, value] : target.query) (void)target.Parameter(name);
  });
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, ~uint64_t{0}}) {
    TryRequest([&] { CheckRange(request, bytes); });
  }
  for (const int version : {9, 10, 11}) (void)FindProtocolProblem(request, version);
  (void)FindOriginProblem(request, {"photos.example"});
  (void)MatchesEntityTag(request.headers.Find("If-None-Match"), "\"tag\"");
  (void)Accepts(request.headers.Find("Accept-Encoding"), "gzip");
  (void)MediaType(request.headers.Find("Content-Type"));
  return 0;
}
