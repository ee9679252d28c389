#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/public_sets.h"
#include "cnn_choice.h"
#include "subcommands.h"
#include "table.h"
#include "view_choice.h"

namespace bitpool::app {
namespace {

struct DataOptions {
  std::vector<std::string> names;
  std::string folder = DefaultDataFolder().string();
  CnnChoice cnn;
  ViewChoice views;
};

int GetSets(const DataOptions& options, const Session& session) {
  std::vector<const PublicSet*> sets;
  for (const std::string& name : options.names) sets.push_back(&FindPublicSet(name));
  nlohmann::json results = nlohmann::json::array();
  for (const PublicSet* set : sets) {
    GetPublicSet(Env::Posix(), *set, options.folder, session.MakeContext(),
                 [&](const std::string& line) { session.Say(line); });
    const PublicPictures pictures = LoadPublicSet(Env::Posix(), *set, options.folder);
    session.Say(fmt::format("{}: {} training and {} test pictures, {} classes", set->name,
                            pictures.train.labels.size(), pictures.test.labels.size(),
                            pictures.train.labels.class_count()));
    results.push_back({{"name", set->name},
                       {"folder", (std::filesystem::path(options.folder) / set->name).string()},
                       {"train", pictures.train.labels.size()},
                       {"test", pictures.test.labels.size()},
                       {"classes", pictures.train.labels.class_count()}});
  }
  if (session.json()) Session::Print(results);
  return kExitFine;
}

int ListSets(const DataOptions& options, const Session& session) {
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows = {{"name", "here", "what", "from"}};
  for (const PublicSet& set : PublicSets()) {
    const bool here = IsComplete(Env::Posix(), set, options.folder);
    list.push_back({{"name", set.name},
                    {"here", here},
                    {"description", set.description},
                    {"source", set.source}});
    rows.push_back({std::string(set.name), here ? "yes" : "no", std::string(set.description),
                    std::string(set.source)});
  }
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
    CnnFeaturesRequest request = options.cnn.Request(name, options.folder);
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
  CLI::App* command = app.add_subcommand("data", "Bring public data sets to this machine");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool data get mnist cifar10 --dir data");

  CLI::App* get =
      command->add_subcommand("get", "Fetch sets, verify their content, and say what was done");
  get->add_option("NAME", options->names, "mnist, fashion-mnist or cifar10")->required();
  get->footer(
      "Example:\n  bitpool data get mnist\n\nRunning it twice is fine: what is complete is only "
      "verified.");
  CLI::App* list = command->add_subcommand("list", "The known sets, and whether they are here");
  list->footer("Example:\n  bitpool data list");
  CLI::App* extract = command->add_subcommand(
      "extract", "Local features of sets by a convolutional network, kept beside their pictures");
  extract->add_option("NAME", options->names, "mnist, fashion-mnist or cifar10")->required();
  options->cnn.AddTo(extract);
  options->views.AddTo(extract);
  options->views.AddLimitTo(extract);
  extract->footer(
      "Example:\n  bitpool data extract cifar10 --cnn net.prototxt net.caffemodel\n\n"
      "Running it again goes on where it was interrupted.");
  for (CLI::App* sub : {get, list, extract}) {
    sub->add_option("--dir", options->folder, "Folder that holds the sets (or $BITPOOL_DATA)")
        ->capture_default_str();
  }
  get->callback([options, &session] {
    session.action = [options, &session] { return GetSets(*options, session); };
  });
  extract->callback([options, &session] {
    session.action = [options, &session] { return ExtractFeatures(*options, session); };
  });
  list->callback([options, &session] {
    session.action = [options, &session] { return ListSets(*options, session); };
  });
}

}  // namespace bitpool::app
