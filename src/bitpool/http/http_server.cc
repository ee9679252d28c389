#include "bitpool/http/http_server.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/http/connection.h"
#include "bitpool/http/refuse_handshakes.h"

namespace bitpool {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr auto kAfterAcceptFailed = std::chrono::milliseconds(100);
constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
constexpr auto kHandshakes = std::chrono::milliseconds(20);  // until those begun are complete
constexpr auto kStopPolling = std::chrono::milliseconds(5);

void Require(bool fine, const char* field, const char* expected) {
  if (!fine) throw Error(ErrorCode::kInvalidArgument, field, fmt::format("expected {}", expected));
}

// Every connection takes a descriptor; systems allow few unless asked.
void RaiseDescriptorLimit() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// One thread that reads and writes, with its connections.
struct IoThread {
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  ConnectionSet open;
  asio::steady_timer looking{context};
  bool ending = false;  // no more looks
  std::thread thread;

  // Looks for connections that take too long, again and again.
  void Look() {
    looking.expires_after(kBetweenLooks);
    looking.async_wait([this](error_code error) {
      if (error || ending) return;
      const ConnectionSet all = open;  // they leave the set
      const auto now = std::chrono::steady_clock::now();
      for (const auto& connection : all) connection->CheckDeadline(now);
      Look();
    });
  }
  // REQUIRES: no connection is open. Also for one whose thread was never started.
  void End() {
    asio::post(context, [this] {
      ending = true;  // a look that is already due can no longer be cancelled
      looking.cancel();
    });
    work.reset();
    if (thread.joinable()) thread.join();
  }
};

// OpenSSL gives no reason for a file that is not there.
void RequireThere(const std::string& file) {
  std::error_code problem;
  if (std::filesystem::exists(file, problem)) return;
  throw Error(ErrorCode::kNotFound, file, problem ? problem.message() : "no such file");
}

std::unique_ptr<asio::ssl::context> MakeTls(const TlsFiles& files) {
  for (const std::string& file : {files.certificate, files.key}) RequireThere(file);
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1 | asio::ssl::context::single_dh_use);
  error_code error;
  tls->use_certificate_chain_file(files.certificate, error);
  if (error) throw Error(ErrorCode::kInvalidArgument, files.certificate, error.message());
  tls->use_private_key_file(files.key, asio::ssl::context::pem, error);
  if (error) throw Error(ErrorCode::kInvalidArgument, files.key, error.message());
  return tls;
}

}  // namespace

std::string ServerState::NextRequestId() {
  static const auto start = static_cast<uint32_t>(
      std::chrono::system_clock::now().time_since_epoch() / std::chrono::seconds(1));
  return fmt::format("{:08x}-{:06x}", start, ++last_request);
}

void HttpLimits::Validate() const {
  Require(header_bytes >= 256 && header_bytes <= (1U << 20), "header_bytes", "256 to 1048576");
  Require(target_bytes >= 64, "target_bytes", "64 or more");
  Require(body_bytes >= 1, "body_bytes", "1 or more");
  Require(bytes_in_flight >= body_bytes, "bytes_in_flight", "no less than body_bytes");
  Require(connections >= 1, "connections", "1 or more");
  Require(queue >= 1, "queue", "1 or more");
  const bool times = idle_seconds > 0 && header_seconds > 0 && body_seconds > 0 &&
                     write_seconds > 0 && grace_seconds >= 0;
  Require(times, "seconds", "times above 0");
}

class HttpServer::Implementation {
 public:
  Implementation(const HttpServerOptions& options, HttpHandler& handler)
      : state_(options, handler), acceptor_(listening_) {
    if (options.tls) tls_ = MakeTls(*options.tls);
    Listen(options);
    for (int i = 0; i < std::max(1, options.io_threads); ++i) {
      threads_.push_back(std::make_unique<IoThread>());
      threads_.back()->Look();
    }
    Accept();
    StartThreads();
  }

  ~Implementation() { Stop(); }

  uint16_t port() const { return port_; }

  HttpServerStatus status() const {
    return {.connections = static_cast<uint64_t>(state_.connections.load()),
            .accepted = state_.accepted,
            .waiting_quick = state_.quick.waiting(),
            .waiting_slow = state_.slow.waiting(),
            .refused_busy = state_.refused_busy,
            .refused_malformed = state_.refused_malformed,
            .timed_out = state_.timed_out};
  }

  void Stop() {
    if (state_.stopping.exchange(true)) return;
    asio::post(listening_, [this] { EndAccepting(); });
    listener_.join();
    ForEachConnection([](Connection& connection) { connection.FinishUp(); });
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::duration<double>(state_.limits.grace_seconds);
    while (state_.connections > 0 && std::chrono::steady_clock::now() < deadline) {
      std::this_thread::sleep_for(kStopPolling);
    }
    if (state_.connections > 0) state_.handler.Hurry();
    ForEachConnection([](Connection& connection) { connection.Close(); });
    // What is being answered still holds its connection and posts to its thread.
    state_.quick.Finish();
    state_.slow.Finish();
    for (const auto& thread : threads_) thread->End();
  }

 private:
  void StartThreads() try {
    for (const auto& thread : threads_) {
      thread->thread = std::thread([&io = thread->context] { io.run(); });
    }
    listener_ = std::thread([this] { listening_.run(); });
  } catch (const std::system_error& error) {
    acceptor_.close();
    for (const auto& thread : threads_) thread->End();
    throw Error(ErrorCode::kResources,
                fmt::format("the threads of the server could not be started: {}", error.what()));
  }

  void Listen(const HttpServerOptions& options) {
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options.address, error);
    if (error) {
      throw Error(ErrorCode::kInvalidArgument, options.address,
                  "expected an address in numbers, such as 127.0.0.1, 0.0.0.0 or ::");
    }
    const tcp::endpoint endpoint(address, options.port);
    const auto check = [&] {
      if (!error) return;
      throw Error(ErrorCode::kIo, fmt::format("{}:{}", options.address, options.port),
                  "cannot listen: " + error.message());
    };
    acceptor_.open(endpoint.protocol(), error);
    check();
    acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor_.bind(endpoint, error);
    check();
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    check();
    port_ = acceptor_.local_endpoint().port();
  }

  void Accept() {
    IoThread& next = *threads_[turn_++ % threads_.size()];
    acceptor_.async_accept(next.context, [this, &next](error_code error, tcp::socket socket) {
      if (!error) {
        Take(next, std::move(socket));
      } else if (acceptor_.is_open()) {
        return AcceptLater();  // no descriptors left, for example
      }
      if (acceptor_.is_open()) Accept();
    });
  }

  void Take(IoThread& thread, tcp::socket socket) {
    ++state_.accepted;
    if (state_.connections < state_.limits.connections) return Begin(thread, std::move(socket));
    ++state_.refused_busy;
    TurnAway(socket);
  }

  // The system resets connections that no one has accepted when their listener is closed, with the
  // requests that were sent on them. So no new ones begin, and those that have are accepted first.
  void EndAccepting() {
    RefuseHandshakes(acceptor_.native_handle());
    retry_.expires_after(kHandshakes);
    retry_.async_wait([this](error_code) {
      error_code none_left;
      acceptor_.cancel(none_left);
      acceptor_.non_blocking(true, none_left);
      while (true) {
        IoThread& next = *threads_[turn_++ % threads_.size()];
        tcp::socket socket = acceptor_.accept(next.context, none_left);
        if (none_left) break;
        Take(next, std::move(socket));
      }
      acceptor_.close(none_left);
    });
  }

  void AcceptLater() {
    retry_.expires_after(kAfterAcceptFailed);
    retry_.async_wait([this](error_code) {
      if (acceptor_.is_open()) Accept();
    });
  }

  void Begin(IoThread& thread, tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    auto connection = MakeConnection(std::move(socket), tls_.get(), state_, thread.open);
    asio::post(thread.context, [connection] { connection->Start(); });
  }

  void TurnAway(tcp::socket& socket) const {
    if (tls_) return;
    static constexpr std::string_view kBusy =
        "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n"
        "Connection: close\r\n\r\n";
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(kBusy), ignored);
  }

  template <class Action>
  void ForEachConnection(const Action& action) {
    for (const auto& thread : threads_) {
      asio::post(thread->context, [&open = thread->open, action] {
        const ConnectionSet all = open;  // they leave the set
        for (const auto& connection : all) action(*connection);
      });
    }
  }

  asio::io_context listening_{1};
  std::unique_ptr<asio::ssl::context> tls_;
  ServerState state_;
  std::vector<std::unique_ptr<IoThread>> threads_;
  tcp::acceptor acceptor_;
  asio::steady_timer retry_{listening_};
  uint16_t port_ = 0;
  size_t turn_ = 0;
  std::thread listener_;
};

HttpServer::HttpServer(const HttpServerOptions& options, HttpHandler& handler) {
  options.limits.Validate();
  RaiseDescriptorLimit();
  implementation_ = std::make_unique<Implementation>(options, handler);
}

HttpServer::~HttpServer() = default;

uint16_t HttpServer::port() const { return implementation_->port(); }

HttpServerStatus HttpServer::status() const { return implementation_->status(); }

void HttpServer::Stop() { implementation_->Stop(); }

}  // namespace bitpool
