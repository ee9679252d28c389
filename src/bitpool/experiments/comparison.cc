#include "bitpool/experiments/comparison.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

constexpr std::string_view kBehindViews = "+views";

}  // namespace

MethodSettings SettingsNamed(const std::string& name) {
  MethodSettings settings{.method = name};
  if (!name.ends_with(kBehindViews)) return settings;
  settings.method.resize(name.size() - kBehindViews.size());
  settings.options["whiten"] = 1;
  return settings;
}

std::string NameIn(const MethodSettings& settings) {
  const auto whiten = settings.options.find("whiten");
  const bool behind = whiten != settings.options.end() && whiten->second != 0;
  return behind ? settings.method + std::string(kBehindViews) : settings.method;
}

void Comparison::Validate(MethodFilter wanted) const {
  for (const int length : bits) RequireBits(length);
  for (const std::string& name : methods) {
    const MethodSettings settings = SettingsNamed(name);
    FindMethod(settings.method, wanted);
    RequireValid(settings);
  }
  if (bits.empty() || methods.empty() || seeds < 1) {
    throw Error(ErrorCode::kInvalidArgument, "expected at least one code length, method and seed");
  }
}

MethodSettings Comparison::SettingsOf(const std::string& method) const {
  const MethodSettings named = SettingsNamed(method);
  const auto found = constants.find(method);
  MethodSettings settings = found == constants.end() ? named : found->second;
  settings.method = named.method;
  settings.options.insert(named.options.begin(), named.options.end());
  settings.bits = bits.front();
  return settings;
}

void RunComparison(const Comparison& comparison, const std::vector<std::string>& metrics,
                   ComparedTask& task, const RunContext& context, Experiment& experiment) {
  using Figures = std::map<std::string, std::vector<double>>;
  std::map<std::pair<std::string, int>, Figures> figures;
  Progress progress = context.StartProgress(
      "comparing", "runs",
      comparison.methods.size() * comparison.bits.size() * static_cast<size_t>(comparison.seeds));
  for (int run = 0; run < comparison.seeds; ++run) {
    const RunContext seeded =
        context.WithSeed(context.seed() + static_cast<uint64_t>(run)).WithoutProgress();
    task.BeginSeed(seeded);
    for (const std::string& method : comparison.methods) {
      MethodSettings settings = task.SettingsOf(method);
      for (const int bits : comparison.bits) {
        settings.bits = bits;
        const RunFigures found = FindOrMake(comparison.figures, {method, bits, seeded.seed()},
                                            [&] { return task.Run(settings, seeded); });
        for (const auto& [metric, figure] : found.metrics) {
          figures[{method, bits}][metric].push_back(figure);
        }
        progress.Advance();
      }
    }
  }
  for (const std::string& method : comparison.methods) {
    for (const int bits : comparison.bits) {
      Figures& found = figures[{method, bits}];
      std::vector<std::string> wanted = metrics;
      if (wanted.empty()) {
        for (const auto& [metric, values] : found) wanted.push_back(metric);
      }
      for (const std::string& metric : wanted) {
        experiment.results.push_back(SummariseRuns(method, bits, metric, found[metric]));
      }
    }
  }
}

nlohmann::json DescribeConstants(const MethodSettings& settings) {
  nlohmann::json constants = DescribeOptions(settings);
  constants.erase("normalise");
  return constants;
}

nlohmann::json DescribeComparison(const Comparison& comparison, const RunContext& context) {
  return {{"methods", comparison.methods},
          {"bits", comparison.bits},
          {"seeds", comparison.seeds},
          {"first_seed", context.seed()}};
}

}  // namespace bitpool
