#include "bitpool/training/view_stage.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "bitpool/base/error.h"
#include "bitpool/hash/view_columns.h"
#include "bitpool/linalg/kept_columns.h"
#include "bitpool/training/methods.h"

namespace bitpool {
namespace {

// Whitened vectors are kept up to this size, since most methods read them many times; larger ones
// are whitened again whenever they are read.
constexpr size_t kKeptBytes = size_t{1} << 30;

// The label of every image, from those of the pictures.
Labels LabelsOfImages(const Labels& labels, Index per_picture) {
  std::vector<Index> pictures;
  for (Index picture = 0; picture < labels.size(); ++picture) {
    pictures.insert(pictures.end(), static_cast<size_t>(per_picture), picture);
  }
  return labels.Select(pictures);
}

// Calls body with those of the images that the settings want.
template <class Body>
auto WithWantedViews(const MethodSettings& settings, const ViewVectors& all, const Body& body) {
  const auto wanted = static_cast<Index>(ValueOf(settings, "views"));
  if (wanted == 0 || wanted + 1 >= all.per_picture) return body(all);
  const FirstImages first(all, wanted + 1);
  return body({.vectors = first, .per_picture = wanted + 1});
}

Trained<HashModel> TrainOnWhitened(const Method& method, const MethodSettings& settings,
                                   const ViewVectors& images, const VectorSamples& samples,
                                   const RunContext& context) {
  const ViewWhitening whitening =
      LearnWhitening({.epsilon = ValueOf(settings, "epsilon")}, images, context);
  const auto vectors =
      KeepIfSmall(std::make_unique<MappedColumns>(images.vectors, whitening.forward), kKeptBytes,
                  context.WithoutProgress());
  std::optional<Labels> labels;
  if (samples.labels != nullptr) labels = LabelsOfImages(*samples.labels, images.per_picture);
  const VectorSamples whitened{.vectors = *vectors,
                               .labels = labels ? &*labels : nullptr,
                               .per_picture = images.per_picture,
                               .run = samples.run};
  Trained<HashModel> trained = method.train_on_vectors(settings, whitened, context);
  trained.model = FoldWhitening(whitening, std::move(trained.model));
  return trained;
}

}  // namespace

void ViewUse::Validate() const {
  WhiteningOptions{.epsilon = epsilon}.Validate();
  if (views < 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("views: expected 0 or more, got {}", views));
  }
}

OptionTable<ViewUse> ViewTable(bool always) {
  OptionTable<ViewUse> table;
  if (!always) {
    table.Add("whiten", &ViewUse::whiten,
              "Learn from vectors that are whitened by the views of the pictures");
  }
  return table.Add("epsilon", &ViewUse::epsilon, "Evens out the whitening", Positive())
      .Add("views", &ViewUse::views,
           "Use only this many views of every picture, the first ones (0: all)", AtLeast(0));
}

ViewWhitening WhiteningFor(const MethodSettings& settings, const ViewVectors& images,
                           const RunContext& context) {
  return WithWantedViews(settings, images, [&](const ViewVectors& wanted) {
    return LearnWhitening({.epsilon = ValueOf(settings, "epsilon")}, wanted, context);
  });
}

Trained<HashModel> TrainBehindViews(const Method& method, const MethodSettings& settings,
                                    const VectorSamples& samples, const RunContext& context) {
  const ViewVectors all = samples.images();
  if (!TakesViews(settings)) {
    if (all.per_picture == 1) return method.train_on_vectors(settings, samples, context);
    const PictureColumns pictures(all);
    return method.train_on_vectors(settings, {.vectors = pictures, .labels = samples.labels},
                                   context);
  }
  return WithWantedViews(settings, all, [&](const ViewVectors& wanted) {
    if (WhitensByViews(settings)) {
      return TrainOnWhitened(method, settings, wanted, samples, context);
    }
    return method.train_on_vectors(
        settings, {.vectors = wanted.vectors, .per_picture = wanted.per_picture}, context);
  });
}

}  // namespace bitpool
