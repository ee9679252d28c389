#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/training/method.h"
#include "session.h"

namespace bitpool::app {

// A metric as it is shown.
struct ShownMetric {
  std::string_view metric;
  const char* format;
  bool higher_is_better;
  const char* caption;
};

constexpr ShownMetric kMapShown = {kMap, "{:.2f}", true, "mAP, percent"};
constexpr ShownMetric kSecondsShown = {"training_seconds", "{:.2f}", false, "Training, seconds"};

// Writes the page if one is wanted, and prints the tables or JSON.
void Deliver(const Experiment& experiment, const std::vector<ShownMetric>& metrics,
             const std::string& html, const std::function<std::string()>& page, IfExists if_exists,
             const Session& session);

// Constants that `tune` has written; each file says which method it is for.
std::map<std::string, MethodSettings> LoadConstants(const std::vector<std::string>& files);

// Where records that do not fit into memory go.
std::filesystem::path ScratchFile(const std::string& part);

// What the experiments that compare SAH have in common.
struct JointChoice {
  JointOptions options;
  CLI::Option* methods = nullptr;
  bool tune = false;
  std::vector<std::string> configs;
  uint64_t memory_mib = 4096;
  std::string html;
  IfExists if_exists = IfExists::kFail;

  // Adds --bits, --methods, --tune, --seeds, --mu, --config, --memory, --html and --force.
  void AddTo(CLI::App* app);
  // The options with the constants of the files. All methods that only pool take μ from those of
  // RBA.
  JointOptions WithConstants() const;
  void Deliver(const Experiment& experiment, const Session& session) const;
};

// The public sets, as an option's text and check.
std::vector<std::string> PublicSetNames();

// The folder of the public sets: the one that was named, or the default.
std::filesystem::path DataFolder(const std::string& named);

// One function per experiment, each in its own file.
void AddUnsupervisedExperiment(CLI::App* parent, Session& session);
void AddJointExperiment(CLI::App* parent, Session& session);
void AddSupervisedExperiment(CLI::App* parent, Session& session);
void AddRetrievalExperiment(CLI::App* parent, Session& session);
void AddShowcaseExperiment(CLI::App* parent, Session& session);

}  // namespace bitpool::app
