#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bitpool/http/api_keys.h"
#include "bitpool/http/http_server.h"
#include "bitpool/io/env.h"

namespace bitpool {

// How a server is to be reached.
struct AccessSettings {
  std::string address = HttpServerOptions().address;  // in numbers
  std::string key_file = {};                          // hashes of keys; empty: no keys
  std::optional<TlsFiles> tls = {};
};

// Whether only this machine reaches the address.
bool IsLoopback(std::string_view address);

// The keys that callers need; none where everybody who reaches the server may do everything. Throws
// kInvalidArgument for an address that others reach without keys, a key file without a key or that
// others can change (they could put in hashes of their own), and a key of TLS that others can read;
// also as Env::Read and ApiKeys::Parse, naming the file.
ApiKeys LoadKeys(Env& env, const AccessSettings& settings);

// Whether keys and pictures are sent over a network as they are.
bool SendsUnencrypted(const AccessSettings& settings);

// Makes a key, adds its hash to the file, which only its owner can read from then on, and returns
// the key. One process at a time does so, by the lock FILE.lock, which stays: throws kResources
// when another has it, and as Env::Read, ApiKeys::Parse (naming the file, which stays as it is) and
// WriteFile.
std::string AddKey(Env& env, const std::string& key_file, Access access, std::string_view name);

}  // namespace bitpool
