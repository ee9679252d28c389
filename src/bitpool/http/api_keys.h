#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/http/message.h"

namespace bitpool {

// What a caller may do; each includes the ones before it.
enum class Access { kNone, kRead, kWrite };

std::string_view NameOf(Access access);  // "none", "read", "write"

// The keys of a server. Only their hashes are known. A key is 256 random bits, so that a plain
// SHA-256 of it reveals nothing, and needs neither salt nor many rounds.
class ApiKeys {
 public:
  // The text of a key file: a line per key with `read` or `write`, the hash in hexadecimal, and a
  // name for people; empty lines and lines that begin with # are passed over. Throws
  // kInvalidArgument that names the line.
  static ApiKeys Parse(std::string_view text);

  bool empty() const { return keys_.empty(); }
  // What the key allows; takes as long for a wrong one as for a right one.
  Access AccessOf(std::string_view key) const;

 private:
  struct Key {
    Access access = Access::kNone;
    std::string hash;
  };
  std::vector<Key> keys_;
};

struct NewKey {
  std::string key;   // to be shown once
  std::string line;  // for the key file
};
NewKey MakeApiKey(Access access, std::string_view name);

// Cookies that stand for a key: pictures and event streams of a page cannot send a header. Used
// from many threads. They end with the process.
class KeySessions {
 public:
  static constexpr int64_t kSeconds = 12 * 60 * 60;
  static constexpr size_t kMost = 1000;  // the oldest is forgotten first

  // `now` in seconds of any clock that does not go back.
  std::string Start(Access access, int64_t now);
  Access AccessOf(std::string_view token, int64_t now) const;
  void End(std::string_view token);

 private:
  struct Session {
    Access access;
    int64_t started;
  };
  mutable std::mutex mutex_;
  std::map<std::string, Session, std::less<>> sessions_;  // by the hash of the token
};

// The key of `Authorization: Bearer KEY`; empty when there is none.
std::string_view BearerKey(const HttpRequest& request);
// The value of a cookie; empty when there is none.
std::string_view CookieValue(const HttpRequest& request, std::string_view name);

}  // namespace bitpool
