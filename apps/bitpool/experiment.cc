#include "experiment.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "bitpool/dataset/public_sets.h"
#include "config.h"

namespace bitpool::app {
namespace {

std::string Readable(const Experiment& experiment, const std::vector<ShownMetric>& metrics) {
  std::string text = experiment.title + "\n";
  for (const ShownMetric& shown : metrics) {
    ReportTable table = shown.metric == kMap ? MapTableOf(experiment, shown.format)
                                             : TableOf(experiment, shown.metric, shown.format,
                                                       shown.higher_is_better);
    table.caption = shown.caption;
    text += "\n" + TextTable(table);
  }
  return text;
}

}  // namespace

void Deliver(const Experiment& experiment, const std::vector<ShownMetric>& metrics,
             const std::string& html, const std::function<std::string()>& page, IfExists if_exists,
             const Session& session) {
  if (!html.empty()) {
    const std::string text = page();
    WriteFile(Env::Posix(), html, std::as_bytes(std::span(text)), if_exists);
    session.Say(fmt::format("{}: the report", html));
  }
  if (session.json()) {
    Session::Print(ToJson(experiment));
  } else {
    Session::Print(Readable(experiment, metrics));
  }
}

std::map<std::string, MethodSettings> LoadConstants(const std::vector<std::string>& files) {
  std::map<std::string, MethodSettings> constants;
  for (const std::string& file : files) {
    const MethodSettings settings = LoadConfig(file, {.method = MethodOfConfig(file)});
    constants[NameIn(settings)] = settings;
  }
  return constants;
}

std::filesystem::path ScratchFile(const std::string& part) {
  return std::filesystem::temp_directory_path() /
         fmt::format("bitpool-{}-{}.records", getpid(), part);
}

void JointChoice::AddTo(CLI::App* app) {
  app->add_option("--bits", options.bits, "Lengths of the codes")
      ->delimiter(',')
      ->capture_default_str();
  methods = app->add_option("--methods", options.methods,
                            "Methods to compare; METHOD+views is one after a whitening by views. "
                            "Where there are views, itq+views and sav join by default")
                ->delimiter(',')
                ->capture_default_str();
  app->add_flag("--tune", tune, "Choose the constants on the training images first");
  app->add_option("--seeds", options.seeds, "Runs of each method")->capture_default_str();
  app->add_option("--mu", options.mu, "Of generalised max pooling")->capture_default_str();
  app->add_option("--config", configs, "Constants that tune has written, for each method");
  app->add_option("--memory", memory_mib, "MiB for images; beyond, they go to a file")
      ->capture_default_str();
  app->add_option("--html", html, "Also write a report with charts")->check(NotEmpty());
  AddForce(app, if_exists);
}

JointOptions JointChoice::WithConstants() const {
  JointOptions chosen = options;
  chosen.ours = methods->count() == 0;
  chosen.constants = LoadConstants(configs);
  chosen.TakeMuOfRba();
  chosen.Validate();
  return chosen;
}

void JointChoice::Deliver(const Experiment& experiment, const Session& session) const {
  if (experiment.data.contains("views")) session.Say(OursAreApart());
  app::Deliver(
      experiment,
      {kMapShown,
       {"relative_reconstruction_error", "{:.3f}", false,
        "Reconstruction error, share of the vectors' variance"},
       kSecondsShown},
      html, [&] { return JointReport(experiment); }, if_exists, session);
}

std::vector<std::string> PublicSetNames() {
  std::vector<std::string> names;
  for (const PublicSet& set : PublicSets()) names.emplace_back(set.name);
  return names;
}

std::filesystem::path DataFolder(const std::string& named) {
  return named.empty() ? DefaultDataFolder() : std::filesystem::path(named);
}

void AddExperiment(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("experiment", "Repeat an experiment of the paper on real data");
  command->require_subcommand(1);
  command->fallthrough();
  command->footer("Example:\n  bitpool experiment unsupervised --dataset mnist");
  AddUnsupervisedExperiment(command, session);
  AddJointExperiment(command, session);
  AddSupervisedExperiment(command, session);
  AddRetrievalExperiment(command, session);
  AddShowcaseExperiment(command, session);
}

}  // namespace bitpool::app
