#include "bitpool/http/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/http/parsed_request.h"
#include "bitpool/http/problem.h"
#include "bitpool/http/request_checks.h"
#include "bitpool/http/response_head.h"

namespace bitpool {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using PlainStream = tcp::socket;
using TlsStream = asio::ssl::stream<tcp::socket>;
using Clock = std::chrono::steady_clock;

constexpr size_t kPiece = size_t{256} << 10;          // of an answer between two deadlines
constexpr size_t kReadAtOnce = size_t{16} << 10;      // while waiting for a request
constexpr size_t kIdleBuffer = size_t{32} << 10;      // what an idle connection may keep
constexpr uint64_t kLingerBytes = uint64_t{1} << 20;  // of an unread body that is thrown away
constexpr double kLingerSeconds = 2;
constexpr double kFirstRequestSeconds = 0.5;           // on a connection taken as the server ends
constexpr auto kHeartbeat = std::chrono::seconds(15);  // shows that a silent feed is alive

std::chrono::nanoseconds Seconds(double seconds) {
  return std::chrono::nanoseconds(static_cast<int64_t>(seconds * 1e9));
}

template <class Stream>
class StreamConnection final : public Connection,
                               public std::enable_shared_from_this<StreamConnection<Stream>> {
 public:
  StreamConnection(Stream stream, ServerState& state, ConnectionSet& open)
      : stream_(std::move(stream)), state_(state), open_(open), heartbeat_(stream_.get_executor()) {
    ++state_.connections;
    error_code ignored;
    peer_ = socket().remote_endpoint(ignored).address().to_string(ignored);
  }
  ~StreamConnection() override {
    ReleaseBody();
    --state_.connections;
  }
  StreamConnection(const StreamConnection&) = delete;
  StreamConnection& operator=(const StreamConnection&) = delete;

  void Start() override {
    open_.insert(this->shared_from_this());
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      SetDeadline(state_.limits.header_seconds);
      stream_.async_handshake(asio::ssl::stream_base::server, Then([this](error_code error) {
                                if (error) return Leave();
                                WaitForRequest();
                              }));
    } else {
      WaitForRequest();
    }
  }

  void FinishUp() override {
    if (feed_) return Close();
    if (!waiting_) return;
    if (is_new_) return SetDeadline(kFirstRequestSeconds);
    error_code ignored;
    if (socket().available(ignored) == 0) Close();  // otherwise a request has already come
  }

  void CheckDeadline(Clock::time_point now) override {
    if (now < deadline_) return;
    // While bytes keep coming, no read waits for any, and there is nothing to cancel.
    if (std::exchange(expired_, false)) return Close();
    if (!waiting_) ++state_.timed_out;
    // A slow sender is told so. An encrypted read that has begun cannot be left in the middle.
    if (!reading_ || std::is_same_v<Stream, TlsStream>) return Close();
    expired_ = true;  // and the deadline stays for the next look
    error_code ignored;
    socket().cancel(ignored);
  }

  void Close() override {
    error_code ignored;
    feed_ = nullptr;
    heartbeat_.cancel(ignored);
    socket().shutdown(tcp::socket::shutdown_both, ignored);
    socket().close(ignored);
    ClearDeadline();
    Leave();
  }

 private:
  using Parser = http::request_parser<http::string_body>;

  tcp::socket& socket() { return beast::get_lowest_layer(stream_); }

  // Until when the next step must be done. A look at all connections costs less than their timers.
  void SetDeadline(double seconds) { deadline_ = Clock::now() + Seconds(seconds); }
  void ClearDeadline() { deadline_ = Clock::time_point::max(); }

  // A completion handler that keeps this alive.
  template <class Next>
  auto Then(Next next) {
    return [self = this->shared_from_this(), next](error_code error, auto... more) {
      Call(next, error, more...);
    };
  }

  // Passes on everything that came, or only the error if `next` takes nothing else.
  template <class Next, class... More>
  static void Call(const Next& next, error_code error, More... more) {
    if constexpr (std::is_invocable_v<const Next&, error_code, More...>) {
      next(error, more...);
    } else {
      next(error);
    }
  }

  void Leave() { open_.erase(this->shared_from_this()); }

  void ReleaseBody() {
    state_.budget.GiveBack(reserved_);
    reserved_ = 0;
  }

  // Waits for the first byte, which may take long, apart from the rest, which may not.
  void WaitForRequest() {
    if (state_.stopping && !is_new_) return Linger();
    if (buffer_.size() > 0) return ReadHead();
    if (buffer_.capacity() > kIdleBuffer) buffer_ = beast::flat_buffer();
    waiting_ = true;
    SetDeadline(state_.stopping ? kFirstRequestSeconds : state_.limits.idle_seconds);
    stream_.async_read_some(buffer_.prepare(kReadAtOnce),
                            Then([this](error_code error, size_t count) {
                              waiting_ = is_new_ = false;
                              if (error) return Close();
                              buffer_.commit(count);
                              ReadHead();
                            }));
  }

  void ReadHead() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(state_.limits.header_bytes));
    // Decided when the head is known. (Boost 1.74 takes "no limit" as a limit of zero.)
    parser_->body_limit(std::numeric_limits<uint64_t>::max());
    SetDeadline(state_.limits.header_seconds);
    reading_ = true;
    http::async_read_header(stream_, buffer_, *parser_, Then([this](error_code error, size_t) {
                              reading_ = false;
                              if (error || expired_) return FailReading(error);
                              TakeHead();
                            }));
  }

  void FailReading(const error_code& error) {
    std::optional<Problem> problem = ParsingProblemOf(error);
    if (std::exchange(expired_, false)) {
      problem = {.status = 408, .code = "timeout", .detail = "the request did not arrive in time"};
    } else if (problem) {
      ++state_.refused_malformed;
    }
    if (!problem) return Close();
    keep_alive_ = false;
    if (request_.id.empty()) request_.id = state_.NextRequestId();
    Respond(ProblemResponse(*problem, request_.id));
  }

  void TakeHead() {
    const auto& head = parser_->get();
    request_ = RequestOf(head);
    request_.id = state_.NextRequestId();
    request_.peer = peer_;
    request_.received = std::chrono::steady_clock::now();
    keep_alive_ = head.keep_alive();
    version_ = static_cast<int>(head.version());
    std::optional<Problem> problem = FindProtocolProblem(request_, version_);
    if (!problem && request_.target.size() > state_.limits.target_bytes) {
      problem = {.status = 414, .code = "uri_too_long", .detail = "the target is beyond the limit"};
    }
    if (problem) {
      ++state_.refused_malformed;
      keep_alive_ = false;
      return Respond(ProblemResponse(*problem, request_.id));
    }
    auto admitted = state_.handler.Admit(request_);
    if (auto* refusal = std::get_if<HttpResponse>(&admitted)) {
      if (!parser_->is_done()) keep_alive_ = false;  // its body is not read
      return Respond(std::move(*refusal));
    }
    ReadBody(std::get<Admission>(admitted));
  }

  void Refuse(const Problem& problem) {
    keep_alive_ = false;
    Respond(ProblemResponse(problem, request_.id));
  }

  void ReadBody(const Admission& admission) {
    if (parser_->is_done()) return Dispatch(admission.lane);
    const uint64_t limit = std::min(admission.body_limit, state_.limits.body_bytes);
    const auto length = parser_->content_length();
    if (length && *length > limit) {
      return Refuse(
          {.status = 413,
           .code = "too_large",
           .detail = fmt::format("the body has {} bytes: expected at most {}", *length, limit)});
    }
    const uint64_t wanted = length ? *length : limit;
    if (!state_.budget.TryTake(wanted)) {
      ++state_.refused_busy;
      return Refuse(
          {.status = 503, .code = "busy", .detail = "too many bodies are being received"});
    }
    reserved_ = wanted;
    parser_->body_limit(limit);
    SetDeadline(state_.limits.body_seconds);
    if (!request_.headers.Has("Expect")) return ReadRest(admission.lane);
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(kContinue),
                      Then([this, lane = admission.lane](error_code error, size_t) {
                        if (error) return Close();
                        ReadRest(lane);
                      }));
  }

  void ReadRest(Lane lane) {
    reading_ = true;
    http::async_read(stream_, buffer_, *parser_, Then([this, lane](error_code error, size_t) {
                       reading_ = false;
                       if (error || expired_) return FailReading(error);
                       request_.body = std::move(parser_->get().body());
                       Dispatch(lane);
                     }));
  }

  void Dispatch(Lane lane) {
    ClearDeadline();
    const bool taken = state_.queue(lane).TryPost([this, self = this->shared_from_this()] {
      auto response = std::make_shared<HttpResponse>(state_.handler.Handle(request_));
      asio::post(stream_.get_executor(), [this, self, response] { Respond(std::move(*response)); });
    });
    if (taken) return;
    ++state_.refused_busy;
    Respond(ProblemResponse(
        {.status = 503, .code = "busy", .detail = "too many requests are waiting"}, request_.id));
  }

  void Respond(HttpResponse response) {
    ReleaseBody();
    request_.body = {};
    response_ = std::move(response);
    if (state_.stopping) keep_alive_ = false;
    sent_ = 0;
    if (auto* feed = std::get_if<std::shared_ptr<EventFeed>>(&response_.body)) {
      return StartFeed(std::move(*feed));
    }
    head_ = RenderHead(response_, {.keep_alive = keep_alive_, .request_id = request_.id});
    const bool without_body = request_.method == "HEAD" || !HasBody(response_.status);
    length_ = without_body ? 0 : response_.length().value_or(0);
    WriteNext();
  }

  // Writes the next piece of the answer, the first one together with the head.
  void WriteNext() {
    if (const auto* range = std::get_if<SourceRange>(&response_.body); range && length_ > 0) {
      return ReadPiece(*range);
    }
    const std::string_view text = BodyText();
    WritePiece(text.substr(sent_, std::min<uint64_t>(kPiece, length_ - sent_)));
  }

  std::string_view BodyText() const {
    if (const auto* shared = std::get_if<HttpResponse::SharedText>(&response_.body))
      return **shared;
    if (const auto* text = std::get_if<std::string>(&response_.body)) return *text;
    return {};
  }

  // Files are read on the other threads: a disk may take its time.
  void ReadPiece(const SourceRange& range) {
    piece_.resize(std::min<uint64_t>(kPiece, length_ - sent_));
    const bool taken = state_.quick.Post([this, self = this->shared_from_this(), range] {
      bool fine = true;
      try {
        range.source->ReadAt(range.offset + sent_, piece_);
      } catch (const Error&) {
        fine = false;  // the head has promised more: only a cut connection tells the client
      }
      asio::post(stream_.get_executor(), [this, self, fine] {
        if (fine) {
          WritePiece(piece_);
        } else {
          Close();
        }
      });
    });
    if (!taken) Close();
  }

  void WritePiece(std::string_view piece) {
    SetDeadline(state_.limits.write_seconds);
    const std::array<asio::const_buffer, 2> buffers = {asio::buffer(head_), asio::buffer(piece)};
    asio::async_write(stream_, buffers,
                      Then([this, count = piece.size()](error_code error, size_t) {
                        head_.clear();
                        sent_ += count;
                        if (error) return Close();
                        if (sent_ < length_) return WriteNext();
                        Finish();
                      }));
  }

  void Finish() {
    response_ = {};
    piece_ = {};
    request_ = {};
    if (keep_alive_) return WaitForRequest();
    Linger();
  }

  // Closing with bytes unread would take the answer away from a client that is still sending.
  void Linger() {
    error_code ignored;
    socket().shutdown(tcp::socket::shutdown_send, ignored);
    SetDeadline(kLingerSeconds);
    buffer_.clear();
    ThrowAwayRest(0);
  }

  void ThrowAwayRest(uint64_t seen) {
    socket().async_read_some(buffer_.prepare(kReadAtOnce),
                             Then([this, seen](error_code error, size_t count) {
                               if (error || seen + count > kLingerBytes) return Close();
                               ThrowAwayRest(seen + count);
                             }));
  }

  void StartFeed(std::shared_ptr<EventFeed> feed) {
    const bool chunked = version_ == 11;
    keep_alive_ = keep_alive_ && chunked;
    head_ = RenderHead(response_,
                       {.keep_alive = keep_alive_, .chunked = chunked, .request_id = request_.id});
    length_ = 0;
    if (request_.method == "HEAD") return WritePiece({});
    feed_ = std::move(feed);
    ContinueFeed();
  }

  void ContinueFeed() {
    if (!feed_) return;  // closed meanwhile
    std::optional<std::string> text = feed_->Take();
    if (!text) return EndFeed();
    if (!text->empty() || !head_.empty()) return WriteFeed(*text);
    feed_->WakeWhenMore([this, self = this->shared_from_this()] {
      asio::post(stream_.get_executor(), [this, self] { heartbeat_.cancel(); });
    });
    heartbeat_.expires_after(kHeartbeat);
    heartbeat_.async_wait(Then([this](error_code error) {
      if (!feed_) return;
      if (error) return ContinueFeed();  // woken
      WriteFeed(":\n\n");
    }));
  }

  void WriteFeed(const std::string& text) {
    piece_ = head_;
    head_.clear();
    if (version_ == 11 && !text.empty()) {
      piece_ += fmt::format("{:x}\r\n{}\r\n", text.size(), text);
    } else {
      piece_ += text;
    }
    SetDeadline(state_.limits.write_seconds);
    asio::async_write(stream_, asio::buffer(piece_), Then([this](error_code error, size_t) {
                        if (error) return Close();
                        ClearDeadline();
                        ContinueFeed();
                      }));
  }

  void EndFeed() {
    feed_ = nullptr;
    if (version_ == 11) head_ += "0\r\n\r\n";
    WritePiece({});
  }

  Stream stream_;
  ServerState& state_;
  ConnectionSet& open_;
  std::string peer_;
  beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  uint64_t reserved_ = 0;  // of the budget, for the body
  int version_ = 11;
  bool keep_alive_ = true;
  bool is_new_ = true;    // nothing was read yet
  bool waiting_ = false;  // for the first byte of a request
  bool reading_ = false;  // the rest of one
  bool expired_ = false;  // reading it was given up
  Clock::time_point deadline_ = Clock::time_point::max();
  HttpResponse response_;
  std::string head_;     // what is still to be sent of it
  uint64_t length_ = 0;  // of the body as it is sent
  uint64_t sent_ = 0;
  std::string piece_;
  std::shared_ptr<EventFeed> feed_;
  asio::steady_timer heartbeat_;
};

}  // namespace

std::shared_ptr<Connection> MakeConnection(asio::ip::tcp::socket socket, asio::ssl::context* tls,
                                           ServerState& state, ConnectionSet& open) {
  if (tls == nullptr) {
    return std::make_shared<StreamConnection<PlainStream>>(PlainStream(std::move(socket)), state,
                                                           open);
  }
  return std::make_shared<StreamConnection<TlsStream>>(TlsStream(std::move(socket), *tls), state,
                                                       open);
}

}  // namespace bitpool
