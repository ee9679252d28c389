#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/public_sets.h"
#include "bitpool/networks/public_networks.h"
#include "network_choice.h"
#include "subcommands.h"
#include "table.h"
#include "view_choice.h"

namespace bitpool::app {
namespace {

struct DataOptions {
  std::vector<std::string> names;
  std::string folder = DefaultDataFolder().string();
  NetworkChoice network;
  ViewChoice views;
};

nlohmann::json GetSet(const PublicSet& set, const DataOptions& options, const Session& session) {
  GetPublicSet(Env::Posix(), set, options.folder, session.MakeContext(),
               [&](const std::string& line) { session.Say(line); });
  const PublicPictures pictures = LoadPublicSet(Env::Posix(), set, options.folder);
  session.Say(fmt::format("{}: {} training and {} test pictures, {} classes", set.name,
                          pictures.train.labels.size(), pictures.test.labels.size(),
                          pictures.train.labels.class_count()));
  return {{"name", set.name},
          {"folder", (std::filesystem::path(options.folder) / set.name).string()},
          {"train", pictures.train.labels.size()},
          {"test", pictures.test.labels.size()},
          {"classes", pictures.train.labels.class_count()}};
}

nlohmann::json GetNetwork(const PublicNetwork& network, const DataOptions& options,
                          const Session& session) {
  GetPublicNetwork(Env::Posix(), network, options.folder, session.MakeContext(),
                   [&](const std::string& line) { session.Say(line); });
  session.Say(fmt::format("{}: {} (licence {}); use it with --network {}", network.name,
                          network.description, network.licence, network.name));
  return {{"name", network.name},
          {"folder", (std::filesystem::path(options.folder) / network.name).string()}};
}

int Get(const DataOptions& options, const Session& session) {
  for (const std::string& name : options.names) {  // before anything is fetched
    if (FindPublicNetwork(name) == nullptr) FindPublicSet(name);
  }
  nlohmann::json results = nlohmann::json::array();
  for (const std::string& name : options.names) {
    const PublicNetwork* network = FindPublicNetwork(name);
    results.push_back(network != nullptr ? GetNetwork(*network, options, session)
                                         : GetSet(FindPublicSet(name), options, session));
  }
  if (session.json()) Session::Print(results);
  return kExitFine;
}

int List(const DataOptions& options, const Session& session) {
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows = {{"name", "here", "what", "from"}};
  const auto add = [&](const auto& item) {  // a set or a network
    const bool here = IsComplete(Env::Posix(), item, options.folder);
    list.push_back({{"name", item.name},
                    {"here", here},
                    {"description", item.description},
                    {"source", item.source}});
    rows.push_back({std::string(item.name), here ? "yes" : "no", std::string(item.description),
                    std::string(item.source)});
  };
  for (const PublicSet& set : PublicSets()) add(set);
  for (const PublicNetwork& network : PublicNetworks()) add(network);
  if (session.json()) {
    Session::Print(list);
  } else {
    Session::Print(FormatTable(rows));
  }
  return kExitFine;
}

int ExtractFeatures(const DataOptions& options, const Session& session) {
  nlohmann::json results = nlohmann::json::array();
  for (const std::string& name : options.names) {
    CnnFeaturesRequest request = options.network.Request(name, options.folder);
    options.views.Request(session.MakeContext().seed(), request);
    const CnnFeatures features =
        LoadCnnFeatures(Env::Posix(), request, session.MakeContext(),
                        [&](const std::string& line) { session.Say(line); });
    session.Say(fmt::format("{}: {} training and {} test pictures as {}", name,
                            features.train->size(), features.test->size(), features.features));
    results.push_back({{"name", name},
                       {"features", features.features},
                       {"train", features.train->size()},
                       {"test", features.test->size()},
                       {"with_views", features.views ? features.views->pictures() : 0},
                       {"dimension", features.train->dimension()}});
  }
  if (session.json()) Session::Print(results);
  return kExitFine;
}

}  // namespace

void AddData(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DataOptions>();
  CLI::App* command =
      app.add_subcommand("data", "Bring public data sets and networks to this machine");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool data get mnist cifar10 --dir data");

  CLI::App* get =
      command->add_subcommand("get", "Fetch them, verify their content, and say what was done");
  get->add_option("NAME", options->names, "mnist, fashion-mnist, cifar10 or resnet50")->required();
  get->footer(
      "Example:\n  bitpool data get mnist\n\nRunning it twice is fine: what is complete is only "
      "verified.");
  CLI::App* list = command->add_subcommand("list", "What is known, and whether it is here");
  list->footer("Example:\n  bitpool data list");
  CLI::App* extract = command->add_subcommand(
      "extract", "Local features of sets by a convolutional network, kept beside their pictures");
  extract->add_option("NAME", options->names, "mnist, fashion-mnist or cifar10")->required();
  options->network.AddTo(extract);
  options->network.AddLocalPcaTo(extract);
  options->network.AddSizeTo(extract);
  options->network.AddLimitTo(extract);
  options->views.AddTo(extract);
  options->views.AddLimitTo(extract);
  extract->footer(
      "Example:\n  bitpool data extract cifar10 --network resnet50\n\n"
      "Running it again resumes where it was interrupted.");
  for (CLI::App* sub : {get, list, extract}) {
    sub->add_option("--dir", options->folder, "Folder that holds the sets (or $BITPOOL_DATA)")
        ->capture_default_str();
  }
  get->callback([options, &session] {
    session.action = [options, &session] { return Get(*options, session); };
  });
  extract->callback([options, &session] {
    session.action = [options, &session] { return ExtractFeatures(*options, session); };
  });
  list->callback([options, &session] {
    session.action = [options, &session] { return List(*options, session); };
  });
}

}  // namespace bitpool::app
