#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bitpool {

// What a request is for, taken apart and decoded. A slash that was sent as %2F is part of its
// segment.
struct RequestTarget {
  std::vector<std::string> segments;  // of the path: "/a/b" has two, "/" none
  std::vector<std::pair<std::string, std::string>> query;

  // The value of a parameter; nothing when it was not sent. Throws ProblemError when it was sent
  // twice.
  std::optional<std::string> Parameter(std::string_view name) const;
};

// Throws ProblemError (400) for anything but a path with a query, and for invalid escapes or a zero
// byte.
RequestTarget ParseTarget(std::string_view target);

// "%41b" → "Ab"; nothing for invalid escapes. `plus`: a plus sign is a space.
std::optional<std::string> PercentDecode(std::string_view text, bool plus);
// The text as one segment of a path.
std::string PercentEncode(std::string_view text);

}  // namespace bitpool
