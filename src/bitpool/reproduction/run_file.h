#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "bitpool/base/stopwatch.h"
#include "bitpool/experiments/run_figures.h"
#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"

namespace bitpool {

// The file of one run: its settings, the figures found so far, and at the end the experiment. It is
// rewritten, atomically, after every figure, so that little is lost when the run is interrupted.
class RunFile : public FigureStore {
 public:
  // NAME-<digest of the settings>.json
  static std::string NameFor(const std::string& run, const nlohmann::json& settings);

  // Reads what an earlier call left. A file that is damaged, or of other settings, is reported by
  // `say` and begun again.
  RunFile(Env& env, const std::filesystem::path& folder, std::string run, nlohmann::json settings,
          const std::function<void(const std::string&)>& say);

  const std::filesystem::path& path() const { return path_; }
  // There once the run is complete.
  const std::optional<Experiment>& experiment() const { return experiment_; }
  void Complete(Experiment experiment);
  // How long the run has worked on its figures, over all calls.
  double seconds() const { return seconds_; }

 private:
  void Save() override;
  void Load();

  Env& env_;
  std::filesystem::path path_;
  std::string run_;
  nlohmann::json settings_;
  std::optional<Experiment> experiment_;
  double seconds_ = 0;
  Stopwatch since_saved_;
};

}  // namespace bitpool
