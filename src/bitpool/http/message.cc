#include "bitpool/http/message.h"

#include <algorithm>
#include <array>

namespace bitpool {
namespace {

char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, LowerCase, LowerCase);
}

std::string_view HttpHeaders::Find(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (EqualIgnoringCase(field, name)) return value;
  }
  return {};
}

size_t HttpHeaders::Count(std::string_view name) const {
  return static_cast<size_t>(std::ranges::count_if(
      fields_, [&](const auto& field) { return EqualIgnoringCase(field.first, name); }));
}

void HttpHeaders::Add(std::string_view name, std::string_view value) {
  fields_.emplace_back(name, value);
}

void HttpHeaders::Set(std::string_view name, std::string_view value) {
  std::erase_if(fields_, [&](const auto& field) { return EqualIgnoringCase(field.first, name); });
  Add(name, value);
}

std::optional<uint64_t> HttpResponse::length() const {
  if (const auto* text = std::get_if<std::string>(&body)) return text->size();
  if (const auto* shared = std::get_if<SharedText>(&body)) return (*shared)->size();
  if (const auto* range = std::get_if<SourceRange>(&body)) return range->length;
  return std::nullopt;
}

std::string_view StatusPhrase(int status) {
  static constexpr auto kPhrases = std::to_array<std::pair<int, std::string_view>>({
      {200, "OK"},
      {202, "Accepted"},
      {204, "No Content"},
      {206, "Partial Content"},
      {304, "Not Modified"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {414, "URI Too Long"},
      {415, "Unsupported Media Type"},
      {416, "Range Not Satisfiable"},
      {417, "Expectation Failed"},
      {421, "Misdirected Request"},
      {422, "Unprocessable Content"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {503, "Service Unavailable"},
      {505, "HTTP Version Not Supported"},
  });
  const auto* found = std::ranges::find(kPhrases, status, &std::pair<int, std::string_view>::first);
  return found == kPhrases.end() ? "Unknown" : found->second;
}

}  // namespace bitpool
