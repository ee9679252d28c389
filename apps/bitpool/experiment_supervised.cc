#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/label_file.h"
#include "bitpool/experiments/supervised_experiment.h"
#include "choice.h"
#include "experiment.h"
#include "network_choice.h"
#include "number_checks.h"

namespace bitpool::app {
namespace {

struct SupervisedCommand {
  SupervisedOptions options;
  NetworkChoice network;
  std::string dataset, folder, features, labels, html;
  std::vector<std::string> configs;
  Index classes = 0, training_part = 0;
  uint64_t memory_mib = 4096;
  IfExists if_exists = IfExists::kFail;
};

// A public set by its name, or a feature file with labels.
LabelledImages LoadLabelled(const SupervisedCommand& command, const Session& session,
                            const RunContext& context) {
  Env& env = Env::Posix();
  if (command.dataset.empty() == command.features.empty() ||
      command.features.empty() != command.labels.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected either --dataset, or --features with --labels");
  }
  if (!command.dataset.empty()) {
    return Labelled(
        LoadCnnFeatures(env, command.network.Request(command.dataset, DataFolder(command.folder)),
                        context, [&](const std::string& line) { session.Say(line); }));
  }
  const Labels labels = LoadLabels(env, command.labels);
  const auto pictures = OpenPictures(env, command.features);
  if (labels.size() != pictures->size()) {
    throw Error(ErrorCode::kInvalidArgument, command.labels,
                fmt::format("{} labels for {} images", labels.size(), pictures->size()));
  }
  std::vector<std::string> left_out;
  LabelledImages images = WithoutEmptyImages(
      {.name = std::filesystem::path(command.features).stem().string(),
       .features = command.features,
       .images = pictures,
       .labels = command.classes > 0 ? KeepFrequentClasses(labels, command.classes) : labels,
       .training_part = command.training_part},
      left_out);
  for (const std::string& name : left_out) {
    session.Say(fmt::format("{}: no descriptors, left out", name));
  }
  return images;
}

int RunSupervised(const SupervisedCommand& command, const Session& session) {
  Env& env = Env::Posix();
  SupervisedOptions options = command.options;
  options.constants = LoadConstants(command.configs);
  options.memory = command.memory_mib << 20;
  options.scratch = ScratchFile("training");
  options.Validate();
  if (!command.html.empty()) RequireWritable(env, command.html, command.if_exists);
  const RunContext context = session.MakeContext();
  const LabelledImages images = LoadLabelled(command, session, context);
  const Experiment experiment = RunSupervisedExperiment(env, options, images, context);
  std::vector<ShownMetric> shown = {kMapShown, kSecondsShown};
  if (experiment.settings.contains("paper_table")) {
    shown.insert(shown.begin() + 1, {"paper_mAP", "{:.2f}", true, "The paper's mAP, percent"});
    session.Say(SupervisedDifferences());
  }
  Deliver(
      experiment, shown, command.html, [&] { return SupervisedReport(experiment); },
      command.if_exists, session);
  return kExitFine;
}

}  // namespace

void AddSupervisedExperiment(CLI::App* parent, Session& session) {
  const auto command = std::make_shared<SupervisedCommand>();
  SupervisedOptions& options = command->options;
  const std::vector<std::string> sets = PublicSetNames();
  CLI::App* app =
      parent->add_subcommand("supervised", "Hashing with labels: SASH and the supervised methods");
  app->add_option("--dataset", command->dataset,
                  "One of " + fmt::format("{}", fmt::join(sets, ", ")))
      ->check(CLI::IsMember(sets));
  app->add_option("--dir", command->folder, "Where `data get` has put the sets");
  command->network.AddTo(app);
  command->network.AddLocalPcaTo(app);
  command->network.AddSizeTo(app);
  command->network.AddLimitTo(app);
  app->add_option("--features", command->features, "Or images of your own as local features (.bpf)")
      ->excludes("--dataset");
  app->add_option("--labels", command->labels, "And their classes, one or several each");
  app->add_option("--training-part", command->training_part,
                  "Of --features: this many images, the first, are the part of the set that learns "
                  "and is searched, the others ask (unseen); 0: it has no parts")
      ->check(WholeFrom(0))
      ->needs("--features");
  app->add_option("--classes", command->classes,
                  "Keep only this many of the most frequent classes");
  const std::map<std::string, SupervisedSetting> settings = {
      {"traditional", SupervisedSetting::kTraditional}, {"unseen", SupervisedSetting::kUnseen}};
  ChooseBy(
      settings,
      app->add_option("--setting", options.setting,
                      "traditional: queries are of the learned classes; unseen: of other classes"))
      ->required();
  app->add_option("--bits", options.bits, "Lengths of the codes")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--methods", options.methods, "Methods to compare")
      ->delimiter(',')
      ->capture_default_str();
  app->add_option("--seeds", options.seeds, "Runs of each method, each with its own split")
      ->capture_default_str();
  app->add_option("--queries-per-class", options.split.queries_per_class,
                  "Images of each class that search (traditional)")
      ->capture_default_str();
  app->add_option("--training-per-class", options.split.training_per_class,
                  "Images of each class that learn (traditional); 0: the whole database")
      ->capture_default_str();
  app->add_option("--mu", options.mu, "Of generalised max pooling, for methods other than sash")
      ->capture_default_str();
  app->add_flag("!--no-normalise", options.normalise, "Take local features as they are");
  app->add_option("--config", command->configs, "Constants that tune has written, for each method");
  app->add_flag("--tune", options.tune,
                "Choose the constants of sash, and mu of the others that learn from labels, for "
                "each split on its training images");
  app->add_option("--memory", command->memory_mib, "MiB for images; beyond, they go to a file")
      ->capture_default_str();
  app->add_option("--html", command->html, "Also write a report with charts")->check(NotEmpty());
  AddForce(app, command->if_exists);
  app->footer(
      "Example:\n  bitpool experiment supervised --setting traditional --dataset cifar10 --bits "
      "16,32 --html cifar.html");
  app->callback([command, &session] {
    session.action = [command, &session] { return RunSupervised(*command, session); };
  });
}

}  // namespace bitpool::app
