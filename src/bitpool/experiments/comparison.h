#pragma once

#include <map>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/run_figures.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/training/methods.h"

namespace bitpool {

// Methods are compared by name, and so are methods after the whitening by views: "itq+views".
// The settings of the method that a name stands for.
MethodSettings SettingsNamed(const std::string& name);
// The name of a method with these settings.
std::string NameIn(const MethodSettings& settings);

// What experiments that compare methods have in common: every method runs with every code length
// and every seed.
struct Comparison {
  std::vector<int> bits;
  std::vector<std::string> methods;  // by their names in comparisons
  int seeds = 3;                     // runs of each method, with consecutive seeds
  // Constants of a method, where they are not its defaults: found by `tune`, on training data.
  std::map<std::string, MethodSettings> constants = {};
  FigureStore* figures = nullptr;  // where the figures of single runs are kept; null: nowhere

  // Throws kInvalidArgument when a field is invalid, or for a method that is not wanted.
  void Validate(MethodFilter wanted) const;

  // The method with its constants, and with codes of the first length.
  MethodSettings SettingsOf(const std::string& method) const;
};

// One experiment that compares methods, as RunComparison runs it.
class ComparedTask {
 public:
  virtual ~ComparedTask() = default;

  // Called before all runs with a seed.
  virtual void BeginSeed(const RunContext& /*seeded*/) {}
  // How a method is to run with this seed; the bits are set afterwards.
  virtual MethodSettings SettingsOf(const std::string& method) = 0;
  virtual RunFigures Run(const MethodSettings& settings, const RunContext& seeded) = 0;
};

// Runs all that is compared and adds the results: for every method and length the metrics in this
// order, each as mean and deviation over the seeds. Without `metrics`: all that the runs give, by
// name. Figures that the store has are not computed again.
void RunComparison(const Comparison& comparison, const std::vector<std::string>& metrics,
                   ComparedTask& task, const RunContext& context, Experiment& experiment);

// The constants of a method that were set; `normalise`, which concerns all methods, is not one.
nlohmann::json DescribeConstants(const MethodSettings& settings);

// What all comparisons say about their settings: methods, bits, seeds and the first seed.
nlohmann::json DescribeComparison(const Comparison& comparison, const RunContext& context);

}  // namespace bitpool
