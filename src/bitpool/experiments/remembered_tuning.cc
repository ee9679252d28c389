#include "bitpool/experiments/remembered_tuning.h"

namespace bitpool {

MethodSettings RememberedTuning(const TuneOptions& options, const FeatureSet& features,
                                const Labels* labels, FigureStore* store,
                                const RunContext& context) {
  const MethodSettings& given = options.settings;
  const RunKey key{.method = "tuned " + NameIn(given), .bits = given.bits, .seed = context.seed()};
  const RunFigures found = FindOrMake(store, key, [&] {
    const TuneResult result = Tune(options, features, labels, context);
    RunFigures figures{.metrics = {{"score", result.best.score},
                                   {"candidates", static_cast<double>(result.trials.size())}}};
    for (const std::string& constant : TunedConstants()) {
      figures.metrics[constant] = result.best.ValueOf(constant);
    }
    return figures;
  });
  const TuneResult result{.criterion = {},
                          .trials = {},
                          .best = {.constants = {found.metrics.begin(), found.metrics.end()},
                                   .score = found.metrics.at("score")}};
  return result.Chosen(given);
}

void ChooseConstants(const TuneOptions& options, const FeatureSet& training,
                     const FeatureSet* views, JointOptions& joint, const RunContext& context) {
  for (const std::string& name : joint.methods) {
    TuneOptions own = options;
    own.settings.method = SettingsNamed(name).method;
    for (const auto& [option, value] : SettingsNamed(name).options) {
      own.settings.options[option] = value;
    }
    if (joint.constants.contains(name) || TuningOf(own.settings).stages.empty()) continue;
    const FeatureSet& images = views != nullptr ? *views : training;
    joint.constants[name] = RememberedTuning(own, images, nullptr, joint.figures, context);
  }
  joint.TakeMuOfRba();
}

}  // namespace bitpool
