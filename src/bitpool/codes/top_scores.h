#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace bitpool {

// An answer to a search with real queries.
struct ScoredNeighbour {
  int64_t id = -1;
  double score = -std::numeric_limits<double>::infinity();
  int32_t distance = -1;  // of the code to the signs of the query

  friend bool operator==(const ScoredNeighbour&, const ScoredNeighbour&) = default;
};

// Answers are ordered by descending score, then by id, always.
inline bool operator<(const ScoredNeighbour& a, const ScoredNeighbour& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

// Keeps the k best of the candidates it is shown, in any order.
class TopScores {
 public:
  // Starts over. REQUIRES: k >= 0
  void Reset(int64_t k);

  int64_t k() const { return static_cast<int64_t>(k_); }

  // Candidates with a lower score cannot be among the best; −∞ while there are fewer than k.
  double threshold() const { return threshold_; }

  // Whether k candidates are there, so that another must be better than one of them.
  bool full() const { return found_.size() == k_; }

  void Add(const ScoredNeighbour& candidate);

  // The best, in order; at most k. Reset comes next.
  void Finish(std::vector<ScoredNeighbour>& best);

 private:
  size_t k_ = 0;
  double threshold_ = std::numeric_limits<double>::infinity();
  std::vector<ScoredNeighbour> found_;  // a heap with the worst in front
};

}  // namespace bitpool
