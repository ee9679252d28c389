#include "bitpool/hash/label_targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

std::vector<Index> CountClasses(const Labels& labels) {
  std::vector<Index> sizes(static_cast<size_t>(labels.class_count()));
  for (Index i = 0; i < labels.size(); ++i) {
    for (const int32_t label : labels.of(i)) ++sizes[static_cast<size_t>(label)];
  }
  return sizes;
}

}  // namespace

LabelTargets::LabelTargets(const Labels& labels, Index samples)
    : labels_(labels),
      class_sizes_(CountClasses(labels)),
      occurring_classes_(
          std::ranges::count_if(class_sizes_, [](Index class_size) { return class_size > 0; })) {
  if (labels.size() != samples) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("labels of {} samples for {} training samples: expected as many",
                            labels.size(), samples));
  }
  if (occurring_classes_ < 2) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("expected at least two classes in the labels of the {} training samples, "
                    "got {}",
                    samples, occurring_classes_));
  }
}

ColumnsView LabelTargets::ReadColumns(Index first, Index count, MatrixF& buffer) const {
  buffer.setZero(dimension(), count);
  for (Index i = 0; i < count; ++i) {
    for (const int32_t label : labels_.of(first + i)) buffer(label, i) = 1;
  }
  return ViewOf(buffer);
}

}  // namespace bitpool
