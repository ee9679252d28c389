#include "bitpool/experiments/remembered_tuning.h"

#include <algorithm>

namespace bitpool {

HashSettings RememberedTuning(const TuneOptions& options, const FeatureSet& features,
                              const Labels* labels, FigureStore* store, const RunContext& context) {
  const HashSettings& given = options.settings;
  const RunKey key{.method = "tuned " + given.method, .bits = given.bits, .seed = context.seed()};
  const RunFigures found = FindOrMake(store, key, [&] {
    const TuneResult result = Tune(options, features, labels, context);
    const TuneTrial& best = result.best;
    return RunFigures{.metrics = {{"lambda", best.lambda},
                                  {"beta", best.beta},
                                  {"gamma", best.gamma},
                                  {"mu", best.mu},
                                  {"alpha", best.alpha},
                                  {"score", best.score},
                                  {"candidates", static_cast<double>(result.trials.size())}}};
  });
  const TuneResult result{.criterion = {},
                          .trials = {},
                          .best = {.lambda = found.metrics.at("lambda"),
                                   .beta = found.metrics.at("beta"),
                                   .gamma = found.metrics.at("gamma"),
                                   .mu = found.metrics.at("mu"),
                                   .alpha = found.metrics.at("alpha"),
                                   .score = found.metrics.at("score")}};
  return result.Chosen(given);
}

void ChooseConstants(TuneOptions options, const FeatureSet& training, JointOptions& joint,
                     const RunContext& context) {
  for (const char* method : {"rba", "sah"}) {
    if (std::ranges::find(joint.methods, method) == joint.methods.end()) continue;
    if (joint.constants.contains(method)) continue;
    options.settings.method = method;
    joint.constants[method] = RememberedTuning(options, training, nullptr, joint.figures, context);
  }
  const auto rba = joint.constants.find("rba");
  if (rba != joint.constants.end() && rba->second.mu) joint.mu = *rba->second.mu;
}

}  // namespace bitpool
