#include "bitpool/http/parsed_request.h"

#include <boost/beast/http/error.hpp>
#include <string>

namespace bitpool {

namespace http = boost::beast::http;

HttpRequest RequestOf(const http::request_header<>& head) {
  HttpRequest request = {.method = std::string(head.method_string()),
                         .target = std::string(head.target())};
  for (const auto& field : head) {
    request.headers.Add({field.name_string().data(), field.name_string().size()},
                        {field.value().data(), field.value().size()});
  }
  return request;
}

std::optional<Problem> ParsingProblemOf(const boost::system::error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return Problem{
        .status = 431, .code = "headers_too_large", .detail = "the head is beyond the limit"};
  }
  if (error == http::error::body_limit) {
    return Problem{.status = 413, .code = "too_large", .detail = "the body is beyond the limit"};
  }
  const boost::system::error_code of_parser = http::make_error_code(http::error::bad_method);
  if (error.category() == of_parser.category() && error != http::error::end_of_stream &&
      error != http::error::partial_message) {
    return Problem{.status = 400, .code = "invalid_request", .detail = error.message()};
  }
  return std::nullopt;
}

}  // namespace bitpool
