#include "bitpool/training/tune.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/samples/labels.h"
#include "config.h"
#include "number_checks.h"
#include "subcommands.h"
#include "table.h"

namespace bitpool::app {
namespace {

struct TuneCommand {
  TuneOptions options;
  std::string features, labels, out;
  Index parts = 0;  // that stand in for views; 0: none
  IfExists if_exists = IfExists::kFail;
};

std::string Readable(const TuneResult& result) {
  const std::vector<std::string> constants = TunedConstants();
  std::vector<std::vector<std::string>> rows = {constants};
  rows.front().emplace_back("score");
  for (const TuneTrial& trial : result.trials) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const std::string& constant : constants) {
      const auto found = trial.constants.find(constant);
      row.push_back(found == trial.constants.end() ? "" : fmt::format("{:.4g}", found->second));
    }
    const bool best = trial.score == result.best.score;
    row.push_back(fmt::format("{:.2f}{}", trial.score, best ? " *" : ""));
  }
  return result.criterion + ", percent\n" + FormatTable(rows);
}

nlohmann::json ToJson(const TuneResult& result, const nlohmann::json& config) {
  nlohmann::json trials = nlohmann::json::array();
  for (const TuneTrial& trial : result.trials) {
    nlohmann::json& one = trials.emplace_back();
    for (const std::string& constant : TunedConstants()) one[constant] = trial.ValueOf(constant);
    one["score"] = trial.score;
  }
  return {{"criterion", result.criterion}, {"trials", trials}, {"config", config}};
}

int RunTune(const TuneCommand& command, const Session& session) {
  Env& env = Env::Posix();
  RequireWritable(env, command.out, command.if_exists);
  const FeatureFile features = FeatureFile::Open(env, command.features);
  std::optional<Labels> labels;
  if (!command.labels.empty()) labels = LoadLabels(env, command.labels);
  const RunContext context = session.MakeContext();
  const auto tune = [&](const FeatureSet& images) {
    return Tune(command.options, images, labels ? &*labels : nullptr, context);
  };
  const TuneResult result = NamingTheFile(command.features, [&] {
    if (command.parts == 0) return tune(features);
    return tune(DescriptorParts(features, command.parts, context.seed()));
  });
  const nlohmann::json config = WriteConfig(command.options.settings, result);
  const std::string text = config.dump(2) + "\n";
  WriteFile(env, command.out, std::as_bytes(std::span(text)), command.if_exists);
  if (session.json()) {
    Session::Print(ToJson(result, config));
  } else {
    Session::Print(Readable(result));
  }
  session.Say(fmt::format("{}: for `train --config`", command.out));
  return kExitFine;
}

}  // namespace

void AddTune(CLI::App& app, Session& session) {
  const auto command = std::make_shared<TuneCommand>();
  TuneOptions& options = command->options;
  options.settings.method = "sah";
  CLI::App* tune = app.add_subcommand("tune", "Choose constants by cross-validation");
  tune->add_option("--method", options.settings.method,
                   "What to tune: " + ListMethods(MethodNames(HasTuning)) +
                       "; with --whiten any method of vectors")
      ->check(CLI::IsMember(MethodNames()))
      ->capture_default_str();
  tune->add_option("--bits", options.settings.bits, "Length of the codes")->capture_default_str();
  tune->add_option("--features", command->features, "Training images as local features (.bpf)")
      ->required();
  tune->add_option(
      "--labels", command->labels,
      "Their labels: what is found is judged by them, and some methods learn from them");
  tune->add_flag("--unseen", options.unseen_classes,
                 "Hold out whole classes: constants for classes that were never seen");
  tune->add_flag("--classes", options.look_for_classes,
                 "Other pictures of such a thing are looked for: views of kind classes must also "
                 "find the pictures most like their own");
  tune->add_option("--parts", command->parts,
                   "Of --features without views: this many disjoint random parts of an image's "
                   "descriptors stand in for views")
      ->check(WholeFrom(2));
  tune->add_option("-o,--out", command->out, "Where to write the constants (.json)")->required();
  AddFixedOptions(tune, options.settings);
  tune->add_option("--training", options.training, "Images to learn from, at most")
      ->capture_default_str();
  tune->add_option("--validation", options.validation, "Images held out to search with, at most")
      ->capture_default_str();
  tune->add_option("--seeds", options.seeds, "Runs of every candidate")->capture_default_str();
  AddForce(tune, command->if_exists);
  tune->footer(
      "Example:\n  bitpool tune --method sah --bits 32 --features images.bpf -o sah.json\n"
      "  bitpool train --method sah --bits 32 --features images.bpf --config sah.json -o sah.bpm");
  tune->callback([command, &session] {
    session.action = [command, &session] { return RunTune(*command, session); };
  });
}

}  // namespace bitpool::app
