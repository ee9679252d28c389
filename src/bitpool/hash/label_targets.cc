#include "bitpool/hash/label_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

Index CountOccurringClasses(const Labels& labels) {
  std::vector<bool> occurs(static_cast<size_t>(labels.class_count()));
  for (Index i = 0; i < labels.size(); ++i) {
    for (const int32_t label : labels.of(i)) occurs[static_cast<size_t>(label)] = true;
  }
  return std::ranges::count(occurs, true);
}

}  // namespace

LabelTargets::LabelTargets(const Labels& labels, Index samples)
    : labels_(labels), occurring_classes_(CountOccurringClasses(labels)) {
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
