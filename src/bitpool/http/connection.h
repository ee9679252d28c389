#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <unordered_set>

#include "bitpool/http/server_state.h"

namespace bitpool {

// A client's connection. All functions are called on the thread of its I/O context.
class Connection {
 public:
  virtual ~Connection() = default;
  virtual void Start() = 0;
  // The server is ending: a connection that waits for another request is closed, and a request that
  // was made is answered. The first request of a new connection, which may be on its way, is waited
  // for a moment.
  virtual void FinishUp() = 0;
  // Closes at once.
  virtual void Close() = 0;
  // Called several times a second: gives up what takes too long.
  virtual void CheckDeadline(std::chrono::steady_clock::time_point now) = 0;
};

// The connections of one I/O thread, which alone touches them.
using ConnectionSet = std::unordered_set<std::shared_ptr<Connection>>;

// `tls` may be null. The connection adds itself to the set and leaves it at its end. All that is
// named here outlives it.
std::shared_ptr<Connection> MakeConnection(boost::asio::ip::tcp::socket socket,
                                           boost::asio::ssl::context* tls, ServerState& state,
                                           ConnectionSet& open);

}  // namespace bitpool
