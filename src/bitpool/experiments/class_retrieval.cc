#include "bitpool/experiments/class_retrieval.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "bitpool/base/error.h"
#include "bitpool/experiments/remembered_tuning.h"
#include "bitpool/samples/retrieval_splits.h"
#include "bitpool/samples/splits.h"
#include "bitpool/training/record_file.h"

namespace bitpool {
namespace {

RetrievalSplit MakeSplit(const ClassRetrievalOptions& options, const LabelledImages& images,
                         const RunContext& context) {
  if (!options.own_parts) {
    return SplitTraditional(
        images.labels, {.queries_per_class = options.queries_per_class, .training_per_class = 0},
        context.seed());
  }
  const Index test = images.labels.size() - images.training_part;
  if (images.training_part < 2 || test < 1) {
    throw Error(ErrorCode::kInvalidArgument, images.name,
                "expected a set with a training and a test part");
  }
  RetrievalSplit split;
  split.database.resize(static_cast<size_t>(images.training_part));
  std::iota(split.database.begin(), split.database.end(), Index{0});
  split.training = split.database;
  split.queries = ChooseItems(test, std::min(options.queries, test), context.seed()).chosen;
  for (Index& query : split.queries) query += images.training_part;
  return split;
}

JointOptions WithConstants(const ClassRetrievalOptions& options, const FeatureSet& training,
                           const FeatureSet* views, const RunContext& context) {
  JointOptions joint = options.joint;
  if (views != nullptr) joint.AddOurs();
  TuneOptions tuning;
  tuning.settings.bits = options.tune_bits;
  tuning.settings.options["normalise"] = options.normalise ? 1 : 0;
  tuning.seeds = 1;
  tuning.rounds = 1;
  tuning.look_for_classes = true;
  if (options.tune) ChooseConstants(tuning, training, views, joint, context);
  return joint;
}

}  // namespace

void ClassRetrievalOptions::Validate() const {
  joint.Validate();
  RequireBits(tune_bits);
  if (queries < 1 || queries_per_class < 1 || top < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                "expected at least one query, and a number of results of 0 or more");
  }
}

Experiment RunClassRetrieval(Env& env, const ClassRetrievalOptions& options,
                             const LabelledImages& images, const RunContext& context) {
  options.Validate();
  const RetrievalSplit split = MakeSplit(options, images, context);
  const FeatureSubset training(*images.images, split.training);
  const FeatureSubset asking(*images.images, split.queries);
  // Views are of the training part, which is learned from as a whole only with the set's own parts.
  const FeatureSet* views = options.own_parts ? images.views.get() : nullptr;
  const JointOptions joint = WithConstants(options, training, views, context);
  const auto reduce = [&](const FeatureSubset& part, const char* name) {
    auto records = MakeRecordStore(env, part, PrecisionFor(options.normalise), options.memory,
                                   fmt::format("{}-{}.records", options.scratch.string(), name));
    ReduceImages(part, options.normalise, *records, context);
    return records;
  };
  const auto training_records = reduce(training, "training");
  const auto query_records = reduce(asking, "queries");
  const LabelTruth truth(images.labels.Select(split.queries), images.labels.Select(split.database));
  Experiment experiment =
      RunJointExperiment(joint,
                         {.training = *training_records,
                          .database = *training_records,
                          .queries = query_records.get(),
                          .truth = truth,
                          .protocol = options.top > 0 ? HashingAt(options.top) : HashingProtocol(),
                          .normalise = options.normalise,
                          .views = views,
                          .database_images = &training,
                          .query_set = &asking},
                         context);
  experiment.title += ": " + images.name;
  experiment.data["set"] = images.name;
  experiment.data["features"] = images.features;
  return experiment;
}

}  // namespace bitpool
