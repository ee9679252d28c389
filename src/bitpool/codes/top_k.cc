#include "bitpool/codes/top_k.h"

#include <algorithm>

namespace bitpool {

void TopK::Reset(int64_t k, int bits, bool ascending) {
  k_ = k;
  ascending_ = ascending;
  kth_ = bits;
  threshold_ = k > 0 ? bits : -1;
  within_ = 0;
  room_ = 2 * static_cast<size_t>(k) + 64;
  counts_.assign(static_cast<size_t>(bits) + 1, 0);
  found_.clear();
  found_.reserve(std::min<size_t>(room_, 1 << 16));
}

void TopK::Lower() {
  // The largest distances can go as long as k candidates stay.
  while (kth_ > 0 && within_ - counts_[static_cast<size_t>(kth_)] >= k_) {
    within_ -= counts_[static_cast<size_t>(kth_)];
    --kth_;
  }
  threshold_ = ascending_ ? kth_ - 1 : kth_;
}

void TopK::Sweep() {
  // There are at least k candidates: the room is larger than that.
  const auto kth = found_.begin() + k_;
  std::nth_element(found_.begin(), kth, found_.end());
  std::for_each(kth, found_.end(),
                [this](const Neighbour& out) { --counts_[static_cast<size_t>(out.distance)]; });
  found_.erase(kth, found_.end());
  within_ = k_;
}

void TopK::Finish(std::vector<Neighbour>& best) {
  // Most of what was found early is behind the k-th best by now, and need not be sorted.
  std::erase_if(found_, [this](const Neighbour& one) { return one.distance > kth_; });
  const auto kept = static_cast<size_t>(std::min<int64_t>(k_, static_cast<int64_t>(found_.size())));
  std::partial_sort(found_.begin(), found_.begin() + static_cast<ptrdiff_t>(kept), found_.end());
  best.assign(found_.begin(), found_.begin() + static_cast<ptrdiff_t>(kept));
}

}  // namespace bitpool
