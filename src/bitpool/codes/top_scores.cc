#include "bitpool/codes/top_scores.h"

#include <algorithm>

namespace bitpool {

void TopScores::Reset(int64_t k) {
  k_ = static_cast<size_t>(k);
  threshold_ =
      k > 0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  found_.clear();
}

void TopScores::Add(const ScoredNeighbour& candidate) {
  if (full()) {
    if (k_ == 0 || !(candidate < found_.front())) return;
    std::pop_heap(found_.begin(), found_.end());
    found_.back() = candidate;
  } else {
    found_.push_back(candidate);
  }
  std::push_heap(found_.begin(), found_.end());
  if (full()) threshold_ = found_.front().score;
}

void TopScores::Finish(std::vector<ScoredNeighbour>& best) {
  std::sort(found_.begin(), found_.end());
  best.assign(found_.begin(), found_.end());
}

}  // namespace bitpool
