#include "bitpool/index/id_filter.h"

#include <algorithm>
#include <utility>

namespace bitpool {

IdFilter IdFilter::FromIds(std::vector<int64_t> ids) {
  IdFilter filter;
  filter.ids_ = std::move(ids);
  std::sort(filter.ids_.begin(), filter.ids_.end());
  filter.ids_.erase(std::unique(filter.ids_.begin(), filter.ids_.end()), filter.ids_.end());
  return filter;
}

IdFilter IdFilter::FromBitmap(std::vector<uint64_t> words) {
  IdFilter filter;
  filter.words_ = std::move(words);
  filter.is_list_ = false;
  return filter;
}

bool IdFilter::Allows(int64_t id) const {
  if (is_list_) return std::binary_search(ids_.begin(), ids_.end(), id);
  const auto word = static_cast<uint64_t>(id) / 64;
  return word < words_.size() && (words_[word] >> (static_cast<uint64_t>(id) % 64) & 1) != 0;
}

std::optional<std::span<const int64_t>> IdFilter::ids() const {
  if (!is_list_) return std::nullopt;
  return ids_;
}

}  // namespace bitpool
