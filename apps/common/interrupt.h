#pragma once

#include <stop_token>

namespace bitpool::app {

// Turns Ctrl-C and termination into a stop request, so that jobs end between two steps and leave
// valid files. A second signal ends the process at once. Call before any thread is started; returns
// the token of the request.
std::stop_token CatchInterrupts();

}  // namespace bitpool::app
