#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bitpool {

// An answer to a search.
struct Neighbour {
  int64_t id = -1;
  int32_t distance = -1;

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// Answers are ordered by distance, then id, always.
inline bool operator<(const Neighbour& a, const Neighbour& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.id < b.id;
}

// Keeps the k best of the candidates it is shown. Distances are small whole numbers, so counting
// them tells the k-th best at any moment without a heap; candidates that fell behind are swept out
// when the room is full.
class TopK {
 public:
  // Starts over, without allocating when k and bits are not larger than before. `ascending`:
  // candidates come in the order of their ids, so one as far as the k-th best is never better than
  // it.
  void Reset(int64_t k, int bits, bool ascending);

  // Changes `ascending` for the candidates to come.
  void set_ascending(bool ascending) {
    ascending_ = ascending;
    if (within_ >= k_ && k_ > 0) threshold_ = ascending_ ? kth_ - 1 : kth_;
  }

  int64_t k() const { return k_; }

  // Candidates farther than this cannot be among the best; −1 when none can.
  int32_t threshold() const { return threshold_; }

  // REQUIRES: distance <= threshold().
  void Add(int64_t id, int32_t distance) {
    if (found_.size() == room_) Sweep();
    found_.push_back({.id = id, .distance = distance});
    ++counts_[static_cast<size_t>(distance)];
    if (++within_ >= k_) Lower();
  }

  // The best, in order; at most k.
  void Finish(std::vector<Neighbour>& best);

 private:
  void Lower();
  void Sweep();

  int64_t k_ = 0;
  bool ascending_ = false;
  int32_t threshold_ = -1;
  int32_t kth_ =
      0;  // the distance of the k-th best, or the length of the codes while there are fewer
  int64_t within_ = 0;  // candidates whose distance is at most kth_
  size_t room_ = 0;
  std::vector<int64_t> counts_;  // candidates of each distance
  std::vector<Neighbour> found_;
};

}  // namespace bitpool
