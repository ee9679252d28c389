#include "bitpool/serve/parameters.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "bitpool/http/problem.h"
#include "bitpool/io/json_text.h"

namespace bitpool {
namespace {

[[noreturn]] void Refuse(std::string_view name, const std::string& expected) {
  throw ProblemError(400, "invalid_argument", fmt::format("{}: expected {}", name, expected));
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int64_t> NumberParameter(const RequestTarget& target, std::string_view name,
                                       const NumberRange& range) {
  const std::optional<std::string> text = target.Parameter(name);
  if (!text) return std::nullopt;
  const std::optional<int64_t> number = ParseNumber(*text);
  if (!number || *number < range.least || *number > range.most) {
    Refuse(name,
           fmt::format("a whole number from {} to {}, got \"{}\"", range.least, range.most, *text));
  }
  return number;
}

bool FlagParameter(const RequestTarget& target, std::string_view name) {
  const std::optional<std::string> text = target.Parameter(name);
  if (!text || *text == "false") return false;
  if (*text != "true") Refuse(name, "true or false");
  return true;
}

std::string ChoiceParameter(const RequestTarget& target, std::string_view name,
                            std::initializer_list<std::string_view> choices) {
  const std::optional<std::string> text = target.Parameter(name);
  if (!text) return std::string(*choices.begin());
  if (std::ranges::find(choices, *text) == choices.end())
    Refuse(name, fmt::format("one of {}", fmt::join(choices, ", ")));
  return *text;
}

std::string TextParameter(const RequestTarget& target, std::string_view name) {
  return target.Parameter(name).value_or("");
}

uint64_t NumberSegment(const std::string& segment, std::string_view what) {
  const std::optional<int64_t> number = ParseNumber(segment);
  if (number && *number >= 0) return static_cast<uint64_t>(*number);
  throw ProblemError(404, "not_found", fmt::format("there is no {} \"{}\"", what, segment));
}

nlohmann::json JsonBody(const HttpRequest& request) {
  nlohmann::json json = ParseJson(request.body);
  if (!json.is_object())
    throw ProblemError(400, "invalid_request", "the body: expected an object of JSON");
  return json;
}

HttpResponse JsonResponse(const nlohmann::json& json, int status) {
  // Names of files may be any bytes.
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
          .body = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"};
}

std::string TimeText(int64_t nanoseconds) {
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(nanoseconds)};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(seconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(seconds - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

std::string TimeNow() {
  return TimeText(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count());
}

}  // namespace bitpool
