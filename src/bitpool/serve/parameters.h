#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "bitpool/http/message.h"
#include "bitpool/http/target.h"

namespace bitpool {

// Parameters of requests by their types. All throw ProblemError (400), naming the parameter and
// what was expected.

struct NumberRange {
  int64_t least;
  int64_t most;
};
std::optional<int64_t> NumberParameter(const RequestTarget& target, std::string_view name,
                                       const NumberRange& range);
bool FlagParameter(const RequestTarget& target, std::string_view name);  // false when not sent
// One of the choices, the first of which is taken when none was sent.
std::string ChoiceParameter(const RequestTarget& target, std::string_view name,
                            std::initializer_list<std::string_view> choices);
std::string TextParameter(const RequestTarget& target, std::string_view name);  // or empty

// Ids in paths.
uint64_t NumberSegment(const std::string& segment, std::string_view what);

// The body as a JSON object.
nlohmann::json JsonBody(const HttpRequest& request);

HttpResponse JsonResponse(const nlohmann::json& json, int status = 200);

// Nanoseconds since 1970 as "2026-11-16T09:00:00Z".
std::string TimeText(int64_t nanoseconds);
std::string TimeNow();

}  // namespace bitpool
