#include "bitpool/http/response_head.h"

#include <charconv>

namespace bitpool {
namespace {

// A line break in a value would let someone else begin a field.
void AppendValue(std::string& head, std::string_view value) {
  for (const char c : value) head += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
}

void AppendField(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  AppendValue(head, value);
  head += "\r\n";
}

}  // namespace

bool HasBody(int status) { return status != 204 && status != 304; }

std::string RenderHead(const HttpResponse& response, const HeadOptions& options) {
  std::string head;
  head.reserve(512);
  head += "HTTP/1.1 ";
  head += std::to_string(response.status);
  head += ' ';
  head += StatusPhrase(response.status);
  head += "\r\n";
  for (const auto& [name, value] : response.headers) AppendField(head, name, value);
  if (options.chunked) {
    AppendField(head, "Transfer-Encoding", "chunked");
  } else if (HasBody(response.status) && response.length()) {
    AppendField(head, "Content-Length", std::to_string(*response.length()));
  }
  if (!options.request_id.empty()) AppendField(head, "X-Request-Id", options.request_id);
  // No browser is to guess what a body might be, nor to show it within foreign pages.
  AppendField(head, "X-Content-Type-Options", "nosniff");
  AppendField(head, "Cross-Origin-Resource-Policy", "same-origin");
  AppendField(head, "Connection", options.keep_alive ? "keep-alive" : "close");
  head += "\r\n";
  return head;
}

}  // namespace bitpool
