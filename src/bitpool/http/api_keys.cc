#include "bitpool/http/api_keys.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr size_t kHashDigits = 2 * SHA256_DIGEST_LENGTH;

template <class Bytes>
std::string ToHex(const Bytes& bytes) {
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

std::string HashOf(std::string_view key) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return ToHex(digest);
}

std::string RandomText() {
  std::array<unsigned char, 32> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw Error(ErrorCode::kResources, "the system gives no random numbers");
  return ToHex(bytes);
}

bool IsHash(const std::string& text) {
  return text.size() == kHashDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string_view NameOf(Access access) {
  switch (access) {
    case Access::kNone:
      return "none";
    case Access::kRead:
      return "read";
    case Access::kWrite:
      return "write";
  }
  return "none";
}

ApiKeys ApiKeys::Parse(std::string_view text) {
  ApiKeys keys;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string access, hash;
    if (!(words >> access) || access.starts_with('#')) continue;
    words >> hash;
    if ((access != "read" && access != "write") || !IsHash(hash)) {
      throw Error(ErrorCode::kInvalidArgument, fmt::format("line {}", number),
                  "expected `read` or `write`, then the 64 digits of a hash, then a name");
    }
    Key& key = keys.keys_.emplace_back();
    key.access = access == "write" ? Access::kWrite : Access::kRead;
    key.hash = hash;
  }
  return keys;
}

Access ApiKeys::AccessOf(std::string_view key) const {
  const std::string hash = HashOf(key);
  Access access = Access::kNone;
  for (const Key& known : keys_) {
    const bool same = CRYPTO_memcmp(known.hash.data(), hash.data(), kHashDigits) == 0;
    if (same) access = std::max(access, known.access);
  }
  return access;
}

NewKey MakeApiKey(Access access, std::string_view name) {
  const std::string key = "bp_" + RandomText();
  std::string shown(name);
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  return {.key = key, .line = fmt::format("{} {} {}\n", NameOf(access), HashOf(key), shown)};
}

std::string KeySessions::Start(Access access, int64_t now) {
  std::string token = RandomText();
  const std::lock_guard lock(mutex_);
  if (sessions_.size() >= kMost) {
    sessions_.erase(std::ranges::min_element(
        sessions_, {}, [](const auto& session) { return session.second.started; }));
  }
  sessions_[HashOf(token)] = {.access = access, .started = now};
  return token;
}

Access KeySessions::AccessOf(std::string_view token, int64_t now) const {
  if (token.empty()) return Access::kNone;
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(HashOf(token));
  if (found == sessions_.end() || now - found->second.started > kSeconds) return Access::kNone;
  return found->second.access;
}

void KeySessions::End(std::string_view token) {
  const std::lock_guard lock(mutex_);
  sessions_.erase(HashOf(token));
}

std::string_view BearerKey(const HttpRequest& request) {
  const std::string_view value = request.headers.Find("Authorization");
  static constexpr std::string_view kScheme = "Bearer ";
  if (value.size() < kScheme.size() || !EqualIgnoringCase(value.substr(0, kScheme.size()), kScheme))
    return {};
  return value.substr(kScheme.size());
}

std::string_view CookieValue(const HttpRequest& request, std::string_view name) {
  for (const auto& [field, value] : request.headers) {
    if (!EqualIgnoringCase(field, "Cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find(';'), rest.size());
      std::string_view pair = rest.substr(0, end);
      pair.remove_prefix(std::min(pair.find_first_not_of(' '), pair.size()));
      if (pair.starts_with(name) && pair.substr(name.size()).starts_with('='))
        return pair.substr(name.size() + 1);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

}  // namespace bitpool
