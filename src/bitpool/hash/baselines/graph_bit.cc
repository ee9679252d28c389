#include "bitpool/hash/baselines/graph_bit.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/hash/baselines/head_training.h"
#include "bitpool/hash/scaled_vectors.h"

namespace bitpool {
namespace {

constexpr const char* kGraphBit = "GraphBit";
constexpr uint64_t kGraphBitWeights = 1, kGraphBitBatches = 2, kAgentStream = 3;
constexpr size_t kWeightRows = 256;    // rows of the weights, by one task
constexpr size_t kWeightColumns = 64;  // columns of the weights, by one task
constexpr float kSquareDecay = 0.9F;
constexpr float kSmall = 1e-8F;

// One output of the L² for each row.
struct Outputs {
  MatrixF weights;
  VectorF bias;

  MatrixF Apply(const MatrixF& batch, const RunContext& context) const {
    MatrixF result(weights.rows(), batch.cols());
    context.ParallelFor(
        static_cast<size_t>(weights.rows()), kWeightRows, [&](size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin);
          const auto count = static_cast<Index>(end - begin);
          result.middleRows(first, count).noalias() = weights.middleRows(first, count) * batch;
        });
    result.colwise() += bias;
    return result;
  }

  Outputs Select(const std::vector<Index>& rows) const {
    return {.weights = weights(rows, Eigen::all), .bias = bias(rows)};
  }
  void Replace(const std::vector<Index>& rows, const Outputs& part) {
    weights(rows, Eigen::all) = part.weights;
    bias(rows) = part.bias;
  }
};

// RMSprop: every number has a rate of its own, by the mean of its squared gradients.
class RmsDescent {
 public:
  RmsDescent(const Outputs& outputs, double rate)
      : squares_{.weights = MatrixF::Zero(outputs.weights.rows(), outputs.weights.cols()),
                 .bias = VectorF::Zero(outputs.bias.size())},
        rate_(static_cast<float>(rate)) {}

  // `gradient` is with respect to the outputs of the batch.
  void Step(const MatrixF& batch, const MatrixF& gradient, const RunContext& context,
            Outputs& outputs) {
    context.ParallelFor(
        static_cast<size_t>(batch.rows()), kWeightColumns, [&](size_t begin, size_t end) {
          const auto first = static_cast<Index>(begin);
          const auto count = static_cast<Index>(end - begin);
          const MatrixF part = gradient * batch.middleRows(first, count).transpose();
          Descend(part, squares_.weights.middleCols(first, count),
                  outputs.weights.middleCols(first, count));
        });
    const VectorF bias = gradient.rowwise().sum();
    Descend(bias, squares_.bias, outputs.bias);
  }

 private:
  void Descend(const MatrixF& gradient, Eigen::Ref<MatrixF> square,
               Eigen::Ref<MatrixF> values) const {
    square = kSquareDecay * square + (1 - kSquareDecay) * gradient.cwiseAbs2();
    values.array() -= rate_ * gradient.array() / (square.array().sqrt() + kSmall);
  }

  Outputs squares_;
  float rate_;
};

class GraphBitTraining {
 public:
  GraphBitTraining(const GraphBitOptions& options, const ColumnSource& vectors,
                   const ViewScale& scale, const RunContext& context)
      : options_(options),
        context_(context),
        vectors_(vectors, scale, options.memory),
        order_(vectors.size(), options.batch, context.MakeRandom(kGraphBitBatches)),
        graph_(options.bits) {
    Random random = context.MakeRandom(kGraphBitWeights);
    const Index outputs = Index{options.bits} * options.bits;
    const double deviation = kFirstBitDeviation / std::sqrt(kHeadSquaredLength);
    outputs_ = {.weights = static_cast<float>(deviation) *
                           random.NormalMatrix(outputs, vectors.dimension()),
                .bias = VectorF::Constant(outputs, kBitMiddle)};
  }

  // Only outputs that are part of a bit have a gradient.
  void LearnOutputs(const char* task, TrainingSummary& summary) {
    const std::vector<Index> parts = graph_.Parts();
    const BitMeans means(graph_);
    Outputs used = outputs_.Select(parts);
    RmsDescent descent(used, options_.learning_rate);
    RunHeadSteps(task, StepsOf(options_.epochs), context_, summary, [&](Index) {
      const MatrixF batch = vectors_.Read(order_.Next(), context_);
      const MatrixF outputs = used.Apply(batch, context_);
      const GraphBitLoss loss =
          ComputeGraphBitLoss(options_.weights, means.Means(outputs), means.Unlinked(outputs));
      descent.Step(batch, means.Back(loss.gradient, loss.unlinked_gradient), context_, used);
      return loss.loss;
    });
    outputs_.Replace(parts, used);
  }

  void ChooseEdges(TrainingSummary& summary) {
    EdgeAgent agent(options_.bits, options_.agent, context_.MakeRandom(kAgentStream));
    RunHeadSteps("GraphBit, edges", StepsOf(options_.edge_epochs), context_, summary, [&](Index) {
      const MatrixF outputs = outputs_.Apply(vectors_.Read(order_.Next(), context_), context_);
      for (int action = 0; action < options_.bits; ++action) {
        agent.Act(graph_, [&](Index from, Index to) { return RewardOf(outputs, from, to); });
      }
      double loss = 0;
      for (Index bit = 0; bit < options_.bits; ++bit) loss += LossOf(outputs, graph_, bit);
      return loss / options_.bits;
    });
    agent.Settle(graph_);
  }

  // Graph and outputs as one map. Its outputs are above zero where p is above its mean, since the
  // scaled vectors have mean zero.
  LinearMap Encoder() const {
    const Outputs used = outputs_.Select(graph_.Parts());
    return {.weights = BitMeans(graph_).Means(used.weights), .bias = VectorF::Zero(options_.bits)};
  }

 private:
  Index StepsOf(int epochs) const { return epochs * order_.batches_per_epoch(); }

  double LossOf(const MatrixF& outputs, const BitGraph& graph, Index bit) const {
    const std::vector<Index> parts = graph.PartsOf(bit);
    VectorF p = VectorF::Zero(outputs.cols());
    for (const Index part : parts) p += outputs.row(part);
    p /= static_cast<float>(parts.size());
    return GraphBitLossOfBit(options_.weights, p, outputs.row(parts.front()));
  }

  // How far the loss falls when the edge is toggled.
  double RewardOf(const MatrixF& outputs, Index from, Index to) const {
    BitGraph toggled = graph_;
    toggled.Toggle(from, to);
    return (LossOf(outputs, graph_, to) - LossOf(outputs, toggled, to)) / options_.bits;
  }

  const GraphBitOptions& options_;
  const RunContext& context_;
  ScaledVectors vectors_;
  BatchOrder order_;
  BitGraph graph_;
  Outputs outputs_;
};

}  // namespace

void GraphBitOptions::Validate() const {
  RequireBits(bits);
  if (bits > kMostGraphBits) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("bits of GraphBit: expected at most {}, got {}", kMostGraphBits, bits));
  }
  RequireHeadCount(epochs, 1, kGraphBit, "epochs");
  RequireHeadCount(edge_epochs, 0, kGraphBit, "edge_epochs");
  RequireHeadCount(batch, 1, kGraphBit, "batch");
  RequireHeadNumber(learning_rate, false, kGraphBit, "learning_rate");
  RequireHeadNumber(weights.certainty, true, kGraphBit, "certainty");
  RequireHeadNumber(weights.fidelity, true, kGraphBit, "fidelity");
  if (!(agent.exploration >= 0 && agent.exploration <= 1)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("exploration of GraphBit: expected a number from 0 to 1, got {}",
                            agent.exploration));
  }
}

Trained<HashModel> TrainGraphBit(const GraphBitOptions& options, const ColumnSource& vectors,
                                 const RunContext& context) {
  options.Validate();
  const Stopwatch watch;
  const ViewScale scale = MeasureForHead(vectors, context);
  TrainingSummary summary{.samples = vectors.size()};
  GraphBitTraining training(options, vectors, scale, context);
  training.LearnOutputs("GraphBit", summary);
  if (options.bits > 1 && options.edge_epochs > 0) {
    training.ChooseEdges(summary);
    training.LearnOutputs("GraphBit, with edges", summary);
  }
  auto encoder = std::make_shared<LinearEncoder>(Unscaled(scale, training.Encoder()));
  LinearMap decoder = FitDecoder(*encoder, vectors, context);
  summary.seconds = watch.seconds();
  return {
      .model = {.method = "graphbit", .encoder = std::move(encoder), .decoder = std::move(decoder)},
      .summary = std::move(summary)};
}

}  // namespace bitpool
