#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/system/error_code.hpp>
#include <optional>

#include "bitpool/http/message.h"
#include "bitpool/http/problem.h"

// What Beast's parser has read, in the words of this room.
namespace bitpool {

// Method, target and headers; the rest is not in the head.
HttpRequest RequestOf(const boost::beast::http::request_header<>& head);

// The problem to report after a parser gave up; nothing when nobody would listen.
std::optional<Problem> ParsingProblemOf(const boost::system::error_code& error);

}  // namespace bitpool
