#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "bitpool/http/message.h"

namespace bitpool {

// What one client, and all of them together, may ask of the server.
struct HttpLimits {
  uint64_t header_bytes = 16 << 10;                // of a request's head
  uint64_t target_bytes = 8 << 10;                 // of its path and query
  uint64_t body_bytes = uint64_t{64} << 20;        // of a body
  uint64_t bytes_in_flight = uint64_t{256} << 20;  // of all bodies at one time
  int64_t connections = 4096;
  int64_t queue = 512;         // requests that wait for a thread; further ones get 503
  double idle_seconds = 75;    // between two requests of a connection
  double header_seconds = 10;  // for the head, from its first byte
  double body_seconds = 60;    // for the body
  double write_seconds = 30;   // for every quarter of a megabyte of an answer
  double grace_seconds = 10;   // for what runs when the server is stopped

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct TlsFiles {
  std::string certificate;  // PEM, with the chain
  std::string key;          // PEM
};

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;      // 0: any that is free
  int io_threads = 1;     // read and write
  int quick_threads = 2;  // answer what takes microseconds
  int slow_threads = 2;   // answer what takes longer
  HttpLimits limits = {};
  std::optional<TlsFiles> tls = {};
};

// Where a request is answered, so that short ones do not wait behind long ones.
enum class Lane { kQuick, kSlow };

struct Admission {
  Lane lane = Lane::kQuick;
  uint64_t body_limit = 0;  // at most that of HttpLimits
};

// What answers the requests. Used from many threads; throws nothing.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;
  // Looks at the head of a request, on an I/O thread, before its body is read: takes it, or answers
  // at once, with a refusal.
  virtual std::variant<Admission, HttpResponse> Admit(const HttpRequest& head) = 0;
  // Answers a request that was taken, on a thread of its lane.
  virtual HttpResponse Handle(const HttpRequest& request) = 0;
  // The server is ending, and the grace period is over: what takes long must end early.
  virtual void Hurry() {}
};

struct HttpServerStatus {
  uint64_t connections = 0;    // open now
  uint64_t accepted = 0;       // since the start
  uint64_t waiting_quick = 0;  // requests that wait for a thread
  uint64_t waiting_slow = 0;
  uint64_t refused_busy = 0;       // answered by 503, because too much was waiting
  uint64_t refused_malformed = 0;  // not proper requests
  uint64_t timed_out = 0;          // slow senders and readers that were cut off
};

// An HTTP/1.1 server (Boost.Beast underneath) that knows nothing of what it serves. Reads and
// writes on some threads and answers on others.
class HttpServer {
 public:
  // Listens from now on. `handler` outlives this. Throws kInvalidArgument for invalid options and
  // certificates that cannot be read, and kIo when the address is taken.
  HttpServer(const HttpServerOptions& options, HttpHandler& handler);
  // Stops, if that was not done.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const;
  HttpServerStatus status() const;

  // Takes no more connections, answers what was asked, and closes; what takes longer than the grace
  // period is cut off.
  void Stop();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace bitpool
