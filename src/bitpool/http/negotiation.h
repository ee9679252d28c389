#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "bitpool/http/message.h"

namespace bitpool {

// Whether a list such as `"a", W/"b"` or `*` (If-None-Match) has the tag, which comes with its
// quotation marks. Weak and strong ones are the same here.
bool MatchesEntityTag(std::string_view list, std::string_view tag);

// Whether a list such as `gzip;q=0.5, br` accepts a coding or a media type. An empty list accepts
// no coding.
bool Accepts(std::string_view list, std::string_view name);

// The media type without parameters, in lower case: "Image/JPEG; q=1" → "image/jpeg".
std::string MediaType(std::string_view content_type);

struct ByteRange {
  uint64_t first = 0;
  uint64_t length = 0;
};

// The one range that a request asks for of `size` bytes; nothing when it asks for all, for several,
// or in an invalid way: these are answered with the whole. Throws ProblemError (416) for a range
// outside. `tag` is what If-Range is compared with.
std::optional<ByteRange> RequestedRange(const HttpHeaders& headers, uint64_t size,
                                        std::string_view tag);

// Compresses the body if it is text that is worth it and the request accepts gzip, and adds what
// caches need to know.
void CompressIfAccepted(const HttpRequest& request, HttpResponse& response);

// The bytes as a gzip file.
std::string Gzip(std::string_view bytes, int level);

}  // namespace bitpool
