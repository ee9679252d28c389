#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bitpool {

// The fields of a message, in order. Names are compared without regard to capitals.
class HttpHeaders {
 public:
  HttpHeaders() = default;
  HttpHeaders(std::initializer_list<std::pair<std::string, std::string>> fields)
      : fields_(fields) {}

  // The value of the first field of that name; empty when there is none.
  std::string_view Find(std::string_view name) const;
  size_t Count(std::string_view name) const;
  bool Has(std::string_view name) const { return Count(name) > 0; }

  void Add(std::string_view name, std::string_view value);
  // Replaces the fields of that name.
  void Set(std::string_view name, std::string_view value);

  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

// Whether two names of fields are the same.
bool EqualIgnoringCase(std::string_view a, std::string_view b);

struct HttpRequest {
  std::string method;  // as it was sent, such as "GET"
  std::string target;  // path and query, as they were sent
  HttpHeaders headers = {};
  std::string body = {};
  std::string id = {};    // for logs and errors; no other request of the process has it
  std::string peer = {};  // the address it came from
  std::chrono::steady_clock::time_point received = {};  // when its head arrived
};

// Bytes that are read piece by piece while they are sent. One thread at a time.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the buffer with the bytes from `offset` on. Throws Error when that fails or there are not
  // enough bytes.
  virtual void ReadAt(uint64_t offset, std::span<char> buffer) = 0;
};

struct SourceRange {
  std::shared_ptr<ByteSource> source;
  uint64_t offset = 0;
  uint64_t length = 0;
};

// A body that comes as things happen, such as server-sent events. Used from many threads.
class EventFeed {
 public:
  virtual ~EventFeed() = default;
  // What is to be sent now, perhaps nothing yet; no value at the end.
  virtual std::optional<std::string> Take() = 0;
  // Calls `wake` once, from any thread and maybe at once, when Take has something to say.
  virtual void WakeWhenMore(std::function<void()> wake) = 0;
};

struct HttpResponse {
  using SharedText = std::shared_ptr<const std::string>;

  int status = 200;
  HttpHeaders headers = {};
  // SharedText: one text for many answers, never null.
  std::variant<std::string, SharedText, SourceRange, std::shared_ptr<EventFeed>> body = {};

  // The length of the body; nothing for a feed, whose length nobody knows.
  std::optional<uint64_t> length() const;
};

// The words of a status, such as "Not Found".
std::string_view StatusPhrase(int status);

}  // namespace bitpool
