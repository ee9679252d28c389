#include "bitpool/samples/labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

Labels Labels::Single(const std::vector<int32_t>& classes) {
  Labels labels;
  for (const int32_t c : classes) labels.Add({c});
  return labels;
}

Labels Labels::Multi(const std::vector<std::vector<int32_t>>& classes) {
  Labels labels;
  for (const std::vector<int32_t>& item : classes) labels.Add(item);
  return labels;
}

void Labels::Add(std::vector<int32_t> classes) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  if (!classes.empty() && (classes.front() < 0 || classes.back() >= kMaxClasses)) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("labels: item {} has class {}, expected a number from 0 to {}", size(),
                    classes.front() < 0 ? classes.front() : classes.back(), kMaxClasses - 1));
  }
  if (!classes.empty()) class_count_ = std::max<Index>(class_count_, Index{classes.back()} + 1);
  single_ = single_ && classes.size() == 1;
  classes_.insert(classes_.end(), classes.begin(), classes.end());
  ends_.push_back(classes_.size());
}

std::span<const int32_t> Labels::of(Index item) const {
  const auto i = static_cast<size_t>(item);
  const uint64_t begin = i == 0 ? 0 : ends_[i - 1];
  return std::span(classes_).subspan(begin, ends_[i] - begin);
}

Labels Labels::Select(const std::vector<Index>& items) const {
  Labels selected;
  for (const Index item : items) {
    const std::span<const int32_t> classes = of(item);
    selected.Add({classes.begin(), classes.end()});
  }
  return selected;
}

bool ShareClass(std::span<const int32_t> a, std::span<const int32_t> b) {
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) return true;
    if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return false;
}

}  // namespace bitpool
