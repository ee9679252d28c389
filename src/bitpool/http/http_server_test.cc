#include "bitpool/http/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "bitpool/http/problem.h"
#include "bitpool/http/raw_client.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawClient;
using ::testing::StartsWith;

// A source whose bytes only tell their own offsets.
class CountingSource : public ByteSource {
 public:
  void ReadAt(uint64_t offset, std::span<char> buffer) override {
    for (char& c : buffer) c = static_cast<char>('a' + offset++ % 26);
  }
};

// Says three things, then ends.
class ShortFeed : public EventFeed {
 public:
  std::optional<std::string> Take() override {
    if (count_ == 3) return std::nullopt;
    return fmt::format("data: {}\n\n", ++count_);
  }
  void WakeWhenMore(std::function<void()> wake) override { wake(); }

 private:
  int count_ = 0;
};

constexpr uint64_t kLargeBody = uint64_t{64} << 20;

class TestHandler : public HttpHandler {
 public:
  std::variant<Admission, HttpResponse> Admit(const HttpRequest& head) override {
    if (head.target == "/hold") {  // the thread that reads and writes
      waiting.set_value();
      go_on.get_future().wait();
    }
    if (head.target == "/refused")
      return ProblemResponse({.status = 403, .code = "forbidden", .detail = "no"}, head.id);
    return Admission{.body_limit = head.target == "/large" ? kLargeBody : 1000};
  }
  HttpResponse Handle(const HttpRequest& request) override {
    ++handled;
    if (request.target == "/wait") {
      waiting.set_value();
      go_on.get_future().wait();
    }
    if (request.target == "/source")
      return {.body = SourceRange{std::make_shared<CountingSource>(), 5, 1'000'000}};
    if (request.target == "/feed") return {.body = std::make_shared<ShortFeed>()};
    if (request.target == "/empty") return {.status = 204};
    if (request.target == "/inject") return {.headers = {{"X-Name", "a\r\nSet-Cookie: b"}}};
    return {.headers = {{"Content-Type", "text/plain"}},
            .body = fmt::format("{} {} [{}]", request.method, request.target, request.body)};
  }

  std::atomic<int> handled = 0;
  std::promise<void> waiting, go_on;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Begin(HttpLimits limits = {}) {
    server = std::make_unique<HttpServer>(
        HttpServerOptions{.quick_threads = 2, .slow_threads = 1, .limits = limits}, handler);
  }
  // What comes back until the server closes.
  std::string Ask(const std::string& bytes, bool close_sending = true) {
    RawClient client(server->port());
    client.Send(bytes);
    if (close_sending) client.CloseSending();
    return client.ReadUntil();
  }
  static std::string Get(const std::string& target, const std::string& more = "") {
    return fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", target, more);
  }

  TestHandler handler;
  std::unique_ptr<HttpServer> server;
};

TEST_F(HttpServerTest, AnswersAndKeepsTheConnection) {
  Begin();
  RawClient client(server->port());
  for (int i = 0; i < 3; ++i) {
    client.Send(Get("/a"));
    const std::string answer = client.ReadUntil("[]");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Connection: keep-alive"));
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nGET /a []"));
  }
}

TEST_F(HttpServerTest, AnswersRequestsThatCameTogetherInOrder) {
  Begin();
  const std::string answer = Ask(Get("/first") + Get("/second") + Get("/third"));
  EXPECT_LT(answer.find("/first"), answer.find("/second"));
  EXPECT_LT(answer.find("/second"), answer.find("/third"));
  EXPECT_NE(answer.find("/third"), std::string::npos);
}

TEST_F(HttpServerTest, BodiesByLengthAndInChunks) {
  Begin();
  EXPECT_THAT(Ask("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"),
              HasSubstr("POST /p [body]"));
  EXPECT_THAT(Ask("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n"),
              HasSubstr("POST /p [body]"));
}

TEST_F(HttpServerTest, ContinuesWhenAskedTo) {
  Begin();
  RawClient client(server->port());
  client.Send("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_THAT(client.ReadUntil("\r\n\r\n"), StartsWith("HTTP/1.1 100 Continue"));
  client.Send("body");
  EXPECT_THAT(client.ReadUntil("[body]"), HasSubstr("POST /p [body]"));
}

TEST_F(HttpServerTest, LargeBodiesAreRefusedUnread) {
  Begin();
  EXPECT_THAT(Ask("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask("POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
                  std::string(1001, 'x') + "\r\n0\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_THAT(Ask("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(handler.handled, 0);
}

TEST_F(HttpServerTest, MalformedRequestsAreRefusedAndClosed) {
  Begin({.header_bytes = 2000, .target_bytes = 500});
  const auto status = [&](const std::string& bytes) {
    const std::string answer = Ask(bytes);
    EXPECT_THAT(answer, HasSubstr("Connection: close")) << bytes;
    EXPECT_THAT(answer, HasSubstr("application/problem+json")) << bytes;
    return answer.substr(9, 3);
  };
  EXPECT_EQ(status("nonsense\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost : x\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\n\r\n"), "400");
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), "400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
                   "chunked\r\n\r\n0\r\n\r\n"),
            "400");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"), "501");
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"), "400");
  EXPECT_EQ(status(Get("/" + std::string(600, 'a'))), "414");
  EXPECT_EQ(status(Get("/", "X: " + std::string(3000, 'a') + "\r\n")), "431");
  EXPECT_EQ(handler.handled, 0);
}

TEST_F(HttpServerTest, RefusalsBeforeTheBodyCloseOnlyWhereOneIsUnread) {
  Begin();
  EXPECT_THAT(Ask("POST /refused HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"),
              HasSubstr("Connection: close"));
  EXPECT_THAT(Ask(Get("/refused") + Get("/b")), HasSubstr("GET /b []"));
}

TEST_F(HttpServerTest, HeadHasNoBodyButItsLength) {
  Begin();
  const std::string answer = Ask("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 12\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
}

TEST_F(HttpServerTest, SourcesAreSentWhole) {
  Begin();
  const std::string answer = Ask(Get("/source", "Connection: close\r\n"));
  const std::string body = answer.substr(answer.find("\r\n\r\n") + 4);
  ASSERT_EQ(body.size(), 1'000'000U);
  for (size_t i = 0; i < body.size(); ++i) ASSERT_EQ(body[i], 'a' + (i + 5) % 26);
}

TEST_F(HttpServerTest, FeedsComeInChunksAndTheConnectionStays) {
  Begin();
  const std::string answer = Ask(Get("/feed") + Get("/next"));
  EXPECT_THAT(answer, HasSubstr("Transfer-Encoding: chunked"));
  EXPECT_THAT(answer,
              HasSubstr("9\r\ndata: 1\n\n\r\n9\r\ndata: 2\n\n\r\n9\r\ndata: 3\n\n\r\n0\r\n\r\n"));
  EXPECT_THAT(answer, HasSubstr("GET /next []"));
  EXPECT_THAT(Ask("GET /feed HTTP/1.0\r\nHost: x\r\n\r\n"),
              HasSubstr("\r\n\r\ndata: 1\n\ndata: 2"));
}

TEST_F(HttpServerTest, NothingInAValueBeginsAFieldOfItsOwn) {
  Begin();
  EXPECT_THAT(Ask(Get("/inject")), Not(HasSubstr("\r\nSet-Cookie")));
  EXPECT_THAT(Ask(Get("/empty")), Not(HasSubstr("Content-Length")));
}

TEST_F(HttpServerTest, SlowSendersAreCutOff) {
  Begin({.header_seconds = 0.2, .body_seconds = 0.2});
  EXPECT_THAT(Ask("GET / HTTP/1.1\r\nHost:", false), StartsWith("HTTP/1.1 408 "));
  EXPECT_THAT(Ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", false),
              StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(server->status().timed_out, 2U);
}

// A body that comes as fast as it is read has its time, too, and what was set aside for it is free
// again.
TEST_F(HttpServerTest, BodiesWithoutEndAreCutOff) {
  Begin({.body_bytes = kLargeBody, .bytes_in_flight = kLargeBody, .body_seconds = 0.2});
  std::string chunks;
  for (int i = 0; i < 20'000; ++i) chunks += "1\r\nx\r\n";
  RawClient client(server->port());
  client.Send("POST /large HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  uint64_t sent = 0;
  while (sent < kLargeBody && client.Send(chunks)) sent += 20'000;
  EXPECT_LT(sent, kLargeBody);
  EXPECT_EQ(server->status().timed_out, 1U);
  while (server->status().connections > 0) std::this_thread::yield();
  EXPECT_THAT(Ask(fmt::format("POST /large HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n"
                              "Expect: 100-continue\r\n\r\n",
                              kLargeBody)),
              StartsWith("HTTP/1.1 100 "));
}

TEST_F(HttpServerTest, IdleConnectionsAreClosed) {
  Begin({.idle_seconds = 0.2});
  EXPECT_THAT(Ask(Get("/a"), false), HasSubstr("GET /a []"));
}

TEST_F(HttpServerTest, TooMuchAtOnceIsTurnedAway) {
  Begin({.connections = 1});
  RawClient first(server->port());
  first.Send(Get("/a"));
  first.ReadUntil("[]");
  EXPECT_THAT(Ask(Get("/b")), StartsWith("HTTP/1.1 503 "));
  first.Send(Get("/c"));
  EXPECT_THAT(first.ReadUntil("[]"), HasSubstr("GET /c []"));
}

TEST_F(HttpServerTest, BodiesBeyondTheBudgetAreRefused) {
  Begin({.body_bytes = 900, .bytes_in_flight = 1000});
  RawClient holding(server->port());
  holding.Send(
      "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 800\r\nExpect: 100-continue\r\n\r\n");
  holding.ReadUntil("\r\n\r\n");
  const std::string answer = Ask("POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, HasSubstr("Retry-After: 1"));
  holding.Send(std::string(800, 'x'));
  EXPECT_THAT(holding.ReadUntil("x]"), HasSubstr("POST /p [xxx"));
}

TEST_F(HttpServerTest, StopFinishesWhatRuns) {
  Begin();
  RawClient busy(server->port()), idle(server->port());
  busy.Send(Get("/wait"));
  handler.waiting.get_future().wait();
  std::thread stopping([&] { server->Stop(); });
  EXPECT_EQ(idle.ReadUntil(), "");
  handler.go_on.set_value();
  EXPECT_THAT(busy.ReadUntil(), HasSubstr("GET /wait []"));
  stopping.join();
  EXPECT_FALSE(RawClient(server->port()).connected());
}

// What a client was connected for is answered, wherever the connection was when the server ended.
TEST_F(HttpServerTest, StopLosesNoRequestOfANewConnection) {
  for (int round = 0; round < 3; ++round) {
    Begin();
    const uint16_t port = server->port();
    std::atomic<int> answered = 0;
    std::vector<std::thread> clients(3);
    for (std::thread& client : clients) {
      client = std::thread([&] {
        while (true) {
          RawClient one(port);
          if (!one.connected()) return;
          one.Send(Get("/a", "Connection: close\r\n"));
          EXPECT_THAT(one.ReadUntil(), HasSubstr("GET /a []")) << "in round " << round;
          ++answered;
        }
      });
    }
    while (answered < 10 + round) std::this_thread::yield();
    server->Stop();
    for (std::thread& client : clients) client.join();
  }
}

// A look at the connections that is due when the thread is told to end must be the last.
TEST_F(HttpServerTest, StopEndsWhileALookIsDue) {
  Begin({.grace_seconds = 0});
  RawClient client(server->port());
  client.Send(Get("/hold"));
  handler.waiting.get_future().wait();
  std::future<void> stopped = std::async(std::launch::async, [&] { server->Stop(); });
  EXPECT_EQ(stopped.wait_for(std::chrono::milliseconds(300)), std::future_status::timeout);
  handler.go_on.set_value();
  ASSERT_EQ(stopped.wait_for(std::chrono::seconds(20)), std::future_status::ready);
}

TEST(HttpServerOptionsTest, WhatCannotBeIsSaid) {
  TestHandler handler;
  testing::ExpectError(ErrorCode::kInvalidArgument, {"here", "address"},
                       [&] { HttpServer({.address = "here"}, handler); });
  testing::ExpectError(ErrorCode::kInvalidArgument, {"queue"},
                       [&] { HttpServer({.limits = {.queue = 0}}, handler); });
  testing::ExpectError(ErrorCode::kNotFound, {"none.pem", "no such file"}, [&] {
    HttpServer({.tls = TlsFiles{.certificate = "none.pem", .key = "none.pem"}}, handler);
  });
  const HttpServer first({}, handler);
  testing::ExpectError(ErrorCode::kIo, {"cannot listen"},
                       [&] { HttpServer({.port = first.port()}, handler); });
}

}  // namespace
}  // namespace bitpool
