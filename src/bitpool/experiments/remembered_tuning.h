#pragma once

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/joint_experiment.h"
#include "bitpool/experiments/run_figures.h"
#include "bitpool/samples/feature_set.h"
#include "bitpool/samples/labels.h"
#include "bitpool/training/tune.h"

namespace bitpool {

// The settings with the constants that Tune chooses, which are kept in the store (if there is one)
// as the figures of "tuned METHOD": an experiment that was interrupted need not choose again.
MethodSettings RememberedTuning(const TuneOptions& options, const FeatureSet& features,
                                const Labels* labels, FigureStore* store,
                                const RunContext& context);

// Gives the methods that are compared, have something to tune and have no constants of their own
// the constants that are chosen on the training images without labels; the methods that only hash
// take μ from those of RBA. Where there are `views` of training pictures (null: there are none),
// all methods are judged by them, whether they learn from views or not. The method of
// options.settings is not looked at.
void ChooseConstants(const TuneOptions& options, const FeatureSet& training,
                     const FeatureSet* views, JointOptions& joint, const RunContext& context);

}  // namespace bitpool
