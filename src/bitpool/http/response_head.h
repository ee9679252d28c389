#pragma once

#include <string>

#include "bitpool/http/message.h"

namespace bitpool {

struct HeadOptions {
  bool keep_alive = true;
  bool chunked = false;  // a body without a known length, in chunks
  std::string request_id = {};
};

// Whether an answer with this status has a body.
bool HasBody(int status);

// The status line and the fields, with those that every answer has, up to the empty line.
std::string RenderHead(const HttpResponse& response, const HeadOptions& options);

}  // namespace bitpool
