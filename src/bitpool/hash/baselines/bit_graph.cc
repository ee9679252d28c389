#include "bitpool/hash/baselines/bit_graph.h"

namespace bitpool {
namespace {

// How far a value moves towards a new reward; rewards differ from batch to batch.
constexpr double kLearning = 0.5;

}  // namespace

std::vector<Index> BitGraph::PartsOf(Index bit) const {
  std::vector<Index> parts = {NumberOf(bit, bit)};
  for (Index from = 0; from < bits_; ++from) {
    if (from != bit && Has(from, bit)) parts.push_back(NumberOf(from, bit));
  }
  return parts;
}

std::vector<Index> BitGraph::Parts() const {
  std::vector<Index> all;
  for (Index bit = 0; bit < bits_; ++bit) {
    const std::vector<Index> parts = PartsOf(bit);
    all.insert(all.end(), parts.begin(), parts.end());
  }
  return all;
}

BitMeans::BitMeans(const BitGraph& graph) {
  Index end = 0;
  for (Index bit = 0; bit < graph.bits(); ++bit) {
    end += static_cast<Index>(graph.PartsOf(bit).size());
    ends_.push_back(end);
  }
}

template <class Work>
void BitMeans::ForEachBit(const Work& work) const {
  Index first = 0;
  for (Index bit = 0; bit < bits(); ++bit) {
    const Index end = ends_[static_cast<size_t>(bit)];
    work(bit, first, end - first);
    first = end;
  }
}

MatrixF BitMeans::Means(const MatrixF& outputs) const {
  MatrixF p(bits(), outputs.cols());
  ForEachBit([&](Index bit, Index first, Index count) {
    p.row(bit) = outputs.middleRows(first, count).colwise().mean();
  });
  return p;
}

MatrixF BitMeans::Unlinked(const MatrixF& outputs) const {
  MatrixF unlinked(bits(), outputs.cols());
  ForEachBit([&](Index bit, Index first, Index) { unlinked.row(bit) = outputs.row(first); });
  return unlinked;
}

MatrixF BitMeans::Back(const MatrixF& of_means, const MatrixF& of_unlinked) const {
  MatrixF gradient(ends_.back(), of_means.cols());
  ForEachBit([&](Index bit, Index first, Index count) {
    gradient.middleRows(first, count) =
        of_means.row(bit).replicate(count, 1) / static_cast<float>(count);
    gradient.row(first) += of_unlinked.row(bit);
  });
  return gradient;
}

EdgeAgent::EdgeAgent(Index bits, const EdgeAgentOptions& options, Random random)
    : bits_(bits),
      exploration_(options.exploration),
      random_(random),
      values_(static_cast<size_t>(bits * bits)) {}

void EdgeAgent::Settle(BitGraph& graph) const {
  for (Index from = 0; from < bits_; ++from) {
    for (Index to = 0; to < bits_; ++to) {
      const bool wanted = values_[static_cast<size_t>(graph.NumberOf(from, to))] > 0;
      if (from != to && wanted != graph.Has(from, to)) graph.Toggle(from, to);
    }
  }
}

std::array<Index, 2> EdgeAgent::DrawEdge() {
  const auto bits = static_cast<uint64_t>(bits_);
  const auto from = static_cast<Index>(random_.Below(bits));
  const auto other = static_cast<Index>(random_.Below(bits - 1));
  return {from, other + (other >= from ? 1 : 0)};
}

bool EdgeAgent::Wants(double value) {
  if (random_.Uniform() < exploration_) return random_.Below(2) == 1;
  return value >= 0;
}

void EdgeAgent::Learn(double seen, double& value) {
  value = value == 0 ? seen : value + kLearning * (seen - value);
}

}  // namespace bitpool
