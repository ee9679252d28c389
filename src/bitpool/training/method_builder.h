#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "bitpool/hash/hash_model.h"
#include "bitpool/training/method.h"
#include "bitpool/training/view_stage.h"

namespace bitpool {

// What an option struct adds to the entry of a method.
template <class Options, class Samples>
struct MethodParts {
  OptionTable<Options> options;  // `bits` is the first
  std::function<Trained<HashModel>(const Options&, Samples, const RunContext&)> train;
  std::function<Trained<HashModel>(const Options&, Shards&, const RunContext&)> train_on_shards =
      {};
  std::map<std::string, std::function<Options(int bits)>, std::less<>> presets = {};
  std::function<PoolingLearner(const Options&)> pooling_learner = {};

  Options Choose(const MethodSettings& settings) const {
    const auto preset = presets.find(settings.preset);
    Options chosen = preset == presets.end() ? Options() : preset->second(settings.bits);
    options.Set({{"bits", settings.bits}}, chosen);
    options.Set(settings.options, chosen);
    return chosen;
  }

  Options ChooseValid(const MethodSettings& settings) const {
    const Options chosen = Choose(settings);
    chosen.Validate();
    return chosen;
  }
};

template <class Options>
using VectorMethodParts = MethodParts<Options, const VectorSamples&>;
template <class Options>
using RecordMethodParts = MethodParts<Options, RecordSamples>;

template <class Options, class Samples>
void DescribeOptions(const MethodParts<Options, Samples>& parts, Method& method) {
  method.options = parts.options.Describe();
  for (const auto& [name, preset] : parts.presets) method.presets.push_back(name);
}

template <class Options, class Samples>
void AddSharded(const MethodParts<Options, Samples>& parts, Method& method) {
  if (!parts.train_on_shards) return;
  method.train_on_shards = [parts](const MethodSettings& settings, Shards& shards,
                                   const RunContext& context) {
    return parts.train_on_shards(parts.Choose(settings), shards, context);
  };
}

// The options of the stage of views, and their values.
inline void AddStageOptions(const OptionTable<ViewUse>& table, Method& method) {
  for (const OptionDescription& option : table.Describe()) method.options.push_back(option);
}
inline OptionValues ValidValues(const OptionTable<ViewUse>& table, const MethodSettings& settings) {
  ViewUse use;
  table.Set(settings.options, use);
  use.Validate();
  return table.Get(use);
}

// How local features become the vectors that methods of vectors learn from.
OptionTable<PoolingRecipe> PoolingTable();

// The entry of a method of vectors. Its options are those of its struct, of the stage of views and,
// for images, those of the pooling.
template <class Options>
Method MethodOfVectors(Method facts, VectorMethodParts<Options> parts) {
  facts.learns_from = LearnsFrom::kVectors;
  DescribeOptions(parts, facts);
  for (const OptionDescription& option : PoolingTable().Describe()) {
    facts.options.push_back(option);
  }
  const OptionTable<ViewUse> view_table = ViewTable(facts.needs_views && !facts.plain_views);
  AddStageOptions(view_table, facts);
  facts.values = [parts, view_table](const MethodSettings& settings) {
    OptionValues values = parts.options.Get(parts.ChooseValid(settings));
    PoolingRecipe pooling;
    PoolingTable().Set(settings.options, pooling);
    values.merge(PoolingTable().Get(pooling));
    values.merge(ValidValues(view_table, settings));
    return values;
  };
  facts.train_on_vectors = [parts](const MethodSettings& settings, const VectorSamples& samples,
                                   const RunContext& context) {
    return parts.train(parts.Choose(settings), samples, context);
  };
  if (parts.pooling_learner) {
    facts.pooling_learner = [parts](const MethodSettings& settings) {
      return parts.pooling_learner(parts.Choose(settings));
    };
  }
  AddSharded(parts, facts);
  return facts;
}

// The entry of a method of local features, whose struct has the options of the pooling too. It gets
// a whitening where it is asked for.
template <class Options>
Method MethodOfLocalFeatures(Method facts, RecordMethodParts<Options> parts) {
  facts.learns_from = LearnsFrom::kLocalFeatures;
  DescribeOptions(parts, facts);
  AddStageOptions(ViewTable(false), facts);
  facts.values = [parts](const MethodSettings& settings) {
    OptionValues values = parts.options.Get(parts.ChooseValid(settings));
    values.merge(ValidValues(ViewTable(false), settings));
    return values;
  };
  facts.train_on_records = [parts](const MethodSettings& settings, RecordSamples samples,
                                   const RunContext& context) {
    return parts.train(parts.Choose(settings), std::move(samples), context);
  };
  AddSharded(parts, facts);
  return facts;
}

}  // namespace bitpool
