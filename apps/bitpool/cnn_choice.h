#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bitpool/experiments/cnn_features.h"
#include "bitpool/pictures/network_file.h"
#include "session.h"

namespace bitpool::app {

// The options by which a user names a network and what is to be taken from it.
struct CnnChoice {
  std::vector<std::string> files;  // empty: the default network of the data folder
  CnnOptions options;
  Index limit = 0;

  // Adds --cnn, --layer, --size, --mean, --scale, --rgb and --limit.
  void AddTo(CLI::App* app);

  // The network's files, or those of the default network in the folder of the data.
  CnnPaths Paths(const std::filesystem::path& folder) const;

  CnnFeaturesRequest Request(const std::string& set, const std::filesystem::path& folder) const;
};

}  // namespace bitpool::app
