#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/experiments/cnn_features.h"
#include "bitpool/pictures/network_file.h"
#include "session.h"

namespace bitpool::app {

// The options by which a user names a network and what is to be taken from it. Settings that are
// not given are the network's own.
struct NetworkChoice {
  std::vector<std::string> names;  // a name or files; empty: the default network
  std::optional<std::string> layer;
  std::optional<int> size;
  std::optional<std::array<double, 3>> mean;
  std::optional<double> scale;
  bool rgb = false;
  std::optional<Index> local_pca;
  Index limit = 0;

  // Adds --network, --layer, --mean, --scale and --rgb.
  void AddTo(CLI::App* app);
  // Add --local-pca, --size and --limit.
  void AddLocalPcaTo(CLI::App* app);
  void AddSizeTo(CLI::App* app);
  void AddLimitTo(CLI::App* app);

  bool named() const { return !names.empty(); }
  // Throws kInvalidArgument, naming the option, when something is asked of a network: for where
  // none is used.
  void RequireNothingAsked() const;
  // The network in the folder of the data, used as it was asked for.
  NamedNetwork Find(const std::filesystem::path& folder) const;

  CnnFeaturesRequest Request(const std::string& set, const std::filesystem::path& folder) const;

 private:
  NetworkUse Changed(NetworkUse use) const;
};

}  // namespace bitpool::app
