#include "bitpool/serve/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "bitpool/http/negotiation.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

constexpr int kBestCompression = 9;

// The page needs nothing from elsewhere, and nobody may show it inside another.
constexpr const char* kPagePolicy =
    "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'";

std::string ContentTypeOf(std::string_view path) {
  static constexpr auto kTypes = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{".html", "text/html; charset=utf-8"},
       {".css", "text/css; charset=utf-8"},
       {".js", "text/javascript; charset=utf-8"},
       {".json", "application/json"},
       {".svg", "image/svg+xml"},
       {".png", "image/png"},
       {".webmanifest", "application/manifest+json"},
       {".txt", "text/plain; charset=utf-8"}});
  const auto* found =
      std::ranges::find_if(kTypes, [&](const auto& type) { return path.ends_with(type.first); });
  return std::string(found == kTypes.end() ? "application/octet-stream" : found->second);
}

}  // namespace

StaticFiles::StaticFiles(const std::vector<EmbeddedFile>& files) {
  for (const EmbeddedFile& embedded : files) {
    File file{.content_type = ContentTypeOf(embedded.path),
              .tag = fmt::format("\"{:016x}\"", Checksum(std::as_bytes(std::span(embedded.bytes)))),
              .plain = std::make_shared<const std::string>(embedded.bytes),
              .compressed = nullptr};
    std::string compressed = Gzip(embedded.bytes, kBestCompression);
    if (compressed.size() < embedded.bytes.size())
      file.compressed = std::make_shared<const std::string>(std::move(compressed));
    files_[fmt::format("/{}", embedded.path)] = std::move(file);
  }
}

const StaticFiles::File* StaticFiles::Find(const std::string& path) const {
  const auto found = files_.find(path == "/" ? "/index.html" : path);
  return found == files_.end() ? nullptr : &found->second;
}

HttpResponse StaticFiles::Answer(const HttpRequest& request, const std::string& path) const {
  const File& file = *Find(path);
  HttpResponse response{.headers = {{"Content-Type", file.content_type},
                                    {"ETag", file.tag},
                                    {"Cache-Control", "no-cache"},
                                    {"Content-Security-Policy", kPagePolicy},
                                    {"Referrer-Policy", "no-referrer"},
                                    {"Vary", "Accept-Encoding"}}};
  if (MatchesEntityTag(request.headers.Find("If-None-Match"), file.tag)) {
    response.status = 304;
    return response;
  }
  const bool compressed =
      file.compressed && Accepts(request.headers.Find("Accept-Encoding"), "gzip");
  if (compressed) response.headers.Add("Content-Encoding", "gzip");
  response.body = compressed ? file.compressed : file.plain;
  return response;
}

}  // namespace bitpool
