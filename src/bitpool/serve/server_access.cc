#include "bitpool/serve/server_access.h"

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/http/private_file.h"
#include "bitpool/io/atomic_file.h"

namespace bitpool {
namespace {

constexpr uint64_t kMostKeyBytes = 1 << 20;

std::string ReadKeyFile(Env& env, const std::string& path) {
  const std::vector<std::byte> bytes = env.Read(path, kMostKeyBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ApiKeys ParseKeys(const std::string& file, const std::string& text) {
  return InContext(file, [&] { return ApiKeys::Parse(text); });
}

}  // namespace

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address == "::1";
}

ApiKeys LoadKeys(Env& env, const AccessSettings& settings) {
  ApiKeys keys;
  if (!settings.key_file.empty()) {
    RequirePrivate(settings.key_file, std::filesystem::perms::others_write, "change");
    keys = ParseKeys(settings.key_file, ReadKeyFile(env, settings.key_file));
    if (keys.empty())
      throw Error(ErrorCode::kInvalidArgument, settings.key_file, "there is no key in it");
  }
  if (settings.tls) RequirePrivate(settings.tls->key, std::filesystem::perms::others_all, "read");
  if (!IsLoopback(settings.address) && keys.empty()) {
    throw Error(ErrorCode::kInvalidArgument, settings.address,
                "others can reach this address, so keys are needed: `bitpool serve --key-file keys "
                "--new-key write` makes one, then add --key-file keys");
  }
  return keys;
}

bool SendsUnencrypted(const AccessSettings& settings) {
  return !settings.tls && !IsLoopback(settings.address);
}

std::string AddKey(Env& env, const std::string& key_file, Access access, std::string_view name) {
  const OnlyForOwner from_the_start;
  const std::optional<FileLock> lock = env.TryLock(key_file + ".lock");
  if (!lock) {
    throw Error(ErrorCode::kResources, key_file,
                "another process is adding a key to it: try again when it is done");
  }
  std::string text = env.Exists(key_file) ? ReadKeyFile(env, key_file) : std::string();
  ParseKeys(key_file, text);  // refuses a file that is something else
  const NewKey made = MakeApiKey(access, name);
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
  text += made.line;
  WriteFile(env, key_file, std::as_bytes(std::span(text)), IfExists::kReplace);
  return made.key;
}

}  // namespace bitpool
