#include "http_load.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <ctime>
#include <optional>
#include <thread>
#include <vector>

namespace bitpool::bench {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;

tcp::endpoint Loopback(uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

// What one thread has seen.
struct Seen {
  std::vector<float> milliseconds;
  uint64_t failures = 0;
};

// A connection that asks again as soon as it is answered.
class Asker : public std::enable_shared_from_this<Asker> {
 public:
  Asker(asio::io_context& context, const std::function<std::string()>& request, Seen& seen,
        Clock::time_point end)
      : socket_(context), request_(request), seen_(seen), end_(end) {}

  void Start(uint16_t port) {
    socket_.connect(Loopback(port));
    socket_.set_option(tcp::no_delay(true));
    Ask();
  }

 private:
  void Ask() {
    started_ = Clock::now();
    if (started_ >= end_) return;
    text_ = request_();
    asio::async_write(socket_, asio::buffer(text_),
                      [self = shared_from_this()](error_code error, size_t) {
                        if (error) return self->Fail();
                        self->Listen();
                      });
  }

  void Listen() {
    answer_ = {};
    http::async_read(socket_, buffer_, answer_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (error) return self->Fail();
                       self->Note();
                     });
  }

  void Note() {
    const std::chrono::duration<float, std::milli> took = Clock::now() - started_;
    seen_.milliseconds.push_back(took.count());
    if (answer_.result_int() != 200) ++seen_.failures;
    Ask();
  }

  void Fail() { ++seen_.failures; }

  tcp::socket socket_;
  const std::function<std::string()>& request_;
  Seen& seen_;
  Clock::time_point end_, started_;
  std::string text_;
  boost::beast::flat_buffer buffer_;
  http::response<http::string_body> answer_;
};

// A connection on which every request is answered with "hello".
class Greeted : public std::enable_shared_from_this<Greeted> {
 public:
  explicit Greeted(tcp::socket socket) : socket_(std::move(socket)) {}

  void Read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](error_code error, size_t) {
                       if (!error) self->Greet();
                     });
  }

 private:
  void Greet() {
    answer_ = {http::status::ok, 11};
    answer_.set(http::field::content_type, "text/plain");
    answer_.keep_alive(true);
    answer_.body() = "hello";
    answer_.prepare_payload();
    http::async_write(socket_, answer_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) self->Read();
    });
  }

  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> answer_;
};

// The processor time of all threads of the process.
double ProcessorSeconds() {
  timespec time = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

LoadResult Summarise(std::vector<Seen>& all, double seconds) {
  LoadResult result;
  std::vector<float> times;
  for (const Seen& seen : all) {
    times.insert(times.end(), seen.milliseconds.begin(), seen.milliseconds.end());
    result.failures += seen.failures;
  }
  result.answers = times.size();
  if (times.empty()) return result;
  const auto at = [&](double share) {
    const auto place = static_cast<ptrdiff_t>(share * static_cast<double>(times.size() - 1));
    std::nth_element(times.begin(), times.begin() + place, times.end());
    return static_cast<double>(times[static_cast<size_t>(place)]);
  };
  result.median_ms = at(0.5);
  result.p99_ms = at(0.99);
  result.per_second = static_cast<double>(times.size()) / seconds;
  return result;
}

}  // namespace

LoadResult RunLoad(const LoadOptions& options, const std::function<std::string()>& request) {
  const double used = ProcessorSeconds();
  const Clock::time_point started = Clock::now();
  const Clock::time_point end = started + std::chrono::duration_cast<Clock::duration>(
                                              std::chrono::duration<double>(options.seconds));
  std::vector<Seen> seen(static_cast<size_t>(options.threads));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < options.threads; ++thread) {
    threads.emplace_back([&, thread] {
      asio::io_context context(1);
      for (int i = thread; i < options.connections; i += options.threads) {
        std::make_shared<Asker>(context, request, seen[static_cast<size_t>(thread)], end)
            ->Start(options.port);
      }
      context.run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  LoadResult result =
      Summarise(seen, std::chrono::duration<double>(Clock::now() - started).count());
  if (result.answers > 0)
    result.cpu_us = 1e6 * (ProcessorSeconds() - used) / static_cast<double>(result.answers);
  return result;
}

struct IdleConnections::Sockets {
  asio::io_context context;
  std::vector<tcp::socket> sockets;
};

IdleConnections::IdleConnections(uint16_t port, int count) : sockets_(std::make_unique<Sockets>()) {
  for (int i = 0; i < count; ++i) {
    sockets_->sockets.emplace_back(sockets_->context).connect(Loopback(port));
  }
}

IdleConnections::~IdleConnections() = default;

struct HelloServer::State {
  asio::io_context context;
  tcp::acceptor acceptor{context, Loopback(0)};
  std::vector<std::thread> threads;

  void Accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error) return;
      socket.set_option(tcp::no_delay(true));
      std::make_shared<Greeted>(std::move(socket))->Read();
      Accept();
    });
  }
};

HelloServer::HelloServer(int threads) : state_(std::make_unique<State>()) {
  state_->Accept();
  for (int i = 0; i < threads; ++i) {
    state_->threads.emplace_back([this] { state_->context.run(); });
  }
}

HelloServer::~HelloServer() {
  state_->context.stop();
  for (std::thread& thread : state_->threads) thread.join();
}

uint16_t HelloServer::port() const { return state_->acceptor.local_endpoint().port(); }

}  // namespace bitpool::bench
