#include "bitpool/http/negotiation.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "bitpool/base/error.h"
#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

// Smaller texts fit into one packet anyway.
constexpr size_t kWorthCompressing = 1200;

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// Takes the part before the next separator off the text.
std::string_view TakePart(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return Trim(part);
}

bool IsZeroQuality(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = TakePart(parameters, ';');
    if (parameter.starts_with("q=") || parameter.starts_with("Q=")) {
      return parameter.find_first_not_of("0.", 2) == std::string_view::npos;
    }
  }
  return false;
}

bool IsText(std::string_view content_type) {
  const std::string type = MediaType(content_type);
  return type.starts_with("text/") || type == "application/json" ||
         type == "application/problem+json" || type == "image/svg+xml";
}

std::optional<uint64_t> ReadNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool MatchesEntityTag(std::string_view list, std::string_view tag) {
  while (!list.empty()) {
    std::string_view one = TakePart(list, ',');
    if (one == "*") return true;
    if (one.starts_with("W/")) one.remove_prefix(2);
    if (one == tag) return true;
  }
  return false;
}

bool Accepts(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    std::string_view parameters = TakePart(list, ',');
    const std::string_view one = TakePart(parameters, ';');
    if (EqualIgnoringCase(one, name)) return !IsZeroQuality(parameters);
  }
  return false;
}

std::string MediaType(std::string_view content_type) {
  std::string type(TakePart(content_type, ';'));
  std::ranges::transform(type, type.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return type;
}

std::optional<ByteRange> RequestedRange(const HttpHeaders& headers, uint64_t size,
                                        std::string_view tag) {
  std::string_view text = headers.Find("Range");
  if (!text.starts_with("bytes=") || text.find(',') != std::string_view::npos) return std::nullopt;
  if (headers.Has("If-Range") && headers.Find("If-Range") != tag) return std::nullopt;
  text.remove_prefix(6);
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<uint64_t> first = ReadNumber(Trim(text.substr(0, dash)));
  const std::optional<uint64_t> last = ReadNumber(Trim(text.substr(dash + 1)));
  const bool open_ended = Trim(text.substr(dash + 1)).empty();
  const bool suffix = Trim(text.substr(0, dash)).empty();
  if ((!first && !suffix) || (!last && !open_ended) || (suffix && open_ended)) return std::nullopt;
  const auto outside = [&] {
    return ProblemError(416, "range_not_satisfiable",
                        fmt::format("Range: expected bytes of 0 to {}", size));
  };
  if (suffix) {
    if (*last == 0 || size == 0) throw outside();
    return ByteRange{.first = size - std::min(size, *last), .length = std::min(size, *last)};
  }
  if (last && *last < *first) return std::nullopt;
  if (*first >= size) throw outside();
  const uint64_t end = last ? std::min(*last, size - 1) : size - 1;
  return ByteRange{.first = *first, .length = end - *first + 1};
}

std::string Gzip(std::string_view bytes, int level) {
  z_stream stream = {};
  constexpr int kGzipWindow = 15 + 16;
  if (deflateInit2(&stream, level, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorCode::kResources, "no memory to compress an answer");
  std::string compressed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = static_cast<uInt>(compressed.size());
  const int result = deflate(&stream, Z_FINISH);
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Error(ErrorCode::kInternal, "an answer was not compressed");
  return compressed;
}

void CompressIfAccepted(const HttpRequest& request, HttpResponse& response) {
  auto* text = std::get_if<std::string>(&response.body);
  if (text == nullptr || text->size() < kWorthCompressing || text->size() > (uint64_t{1} << 30))
    return;
  if (!IsText(response.headers.Find("Content-Type")) || response.headers.Has("Content-Encoding"))
    return;
  response.headers.Add("Vary", "Accept-Encoding");
  if (!Accepts(request.headers.Find("Accept-Encoding"), "gzip")) return;
  *text = Gzip(*text, Z_BEST_SPEED);
  response.headers.Add("Content-Encoding", "gzip");
}

}  // namespace bitpool
