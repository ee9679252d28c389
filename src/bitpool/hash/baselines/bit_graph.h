#pragma once

#include <array>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/base/random.h"

namespace bitpool {

// Which bits say something about which others: a directed graph of bits without loops.
class BitGraph {
 public:
  explicit BitGraph(Index bits) : bits_(bits), edges_(static_cast<size_t>(bits * bits), false) {}

  Index bits() const { return bits_; }
  // Edges and, where `from` and `to` are the same, bits themselves have a number each.
  Index NumberOf(Index from, Index to) const { return to * bits_ + from; }
  bool Has(Index from, Index to) const { return edges_[At(from, to)]; }
  // Adds the edge, or removes it. REQUIRES: from != to
  void Toggle(Index from, Index to) { edges_[At(from, to)] = !edges_[At(from, to)]; }

  // The bit itself and its edges, by their numbers: what it is the mean of.
  std::vector<Index> PartsOf(Index bit) const;
  // Those of all bits, one bit after the other.
  std::vector<Index> Parts() const;

 private:
  size_t At(Index from, Index to) const { return static_cast<size_t>(NumberOf(from, to)); }

  Index bits_;
  std::vector<bool> edges_;
};

// How bits are made of the outputs that are their parts. The rows of these outputs are those of the
// graph's Parts.
class BitMeans {
 public:
  explicit BitMeans(const BitGraph& graph);

  MatrixF Means(const MatrixF& outputs) const;     // p: for every bit the mean of its parts
  MatrixF Unlinked(const MatrixF& outputs) const;  // p₀: the bits themselves, without edges
  // The gradient with respect to the outputs, from those with respect to p and p₀.
  MatrixF Back(const MatrixF& of_means, const MatrixF& of_unlinked) const;

 private:
  Index bits() const { return static_cast<Index>(ends_.size()); }
  // Calls work(bit, first, count) with the place of its parts.
  template <class Work>
  void ForEachBit(const Work& work) const;

  std::vector<Index> ends_;  // of the parts of every bit
};

struct EdgeAgentOptions {
  double exploration = 0.05;  // ε, the share of actions that are random
};

// Learns by trying which edges a graph should have. A reward is how far a loss falls, and the value
// of an edge is the reward that it is expected to bring by being there. What follows an action is
// not discounted, since nothing follows: an edge can be toggled back at any time.
class EdgeAgent {
 public:
  EdgeAgent(Index bits, const EdgeAgentOptions& options, Random random);

  // Takes one action on one random edge: adds or removes it, or leaves it as it is, usually as its
  // value says; an edge that was never tried is added. reward(from, to) says what toggling this
  // edge of the graph would bring. REQUIRES: two bits or more
  template <class Reward>
  void Act(BitGraph& graph, const Reward& reward) {
    const auto [from, to] = DrawEdge();
    double& value = values_[static_cast<size_t>(graph.NumberOf(from, to))];
    const bool there = graph.Has(from, to);
    if (Wants(value) == there) return;
    const double gained = reward(from, to);
    graph.Toggle(from, to);
    Learn(there ? -gained : gained, value);
  }

  // Leaves the graph with exactly the edges whose value is above zero.
  void Settle(BitGraph& graph) const;

 private:
  std::array<Index, 2> DrawEdge();
  bool Wants(double value);
  static void Learn(double seen, double& value);

  Index bits_;
  double exploration_;
  Random random_;
  std::vector<double> values_;  // of every edge; zero before it was tried
};

}  // namespace bitpool
