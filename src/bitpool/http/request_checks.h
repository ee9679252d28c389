#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bitpool/http/message.h"
#include "bitpool/http/problem.h"

namespace bitpool {

// What is wrong with the head of a request as a message: anything that two programs on the way
// might understand differently is refused. `version` is 10 or 11.
std::optional<Problem> FindProtocolProblem(const HttpRequest& head, int version);

// Whether the request is meant for this server and comes from its own pages. Names of hosts are
// accepted only when they are known: a page elsewhere whose name was pointed at this machine sends
// that name. `hosts` are names besides localhost; numeric addresses are always fine.
std::optional<Problem> FindOriginProblem(const HttpRequest& head,
                                         const std::vector<std::string>& hosts);

}  // namespace bitpool
