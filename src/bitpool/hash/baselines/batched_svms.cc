#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "bitpool/hash/baselines/bit_svms.h"

namespace bitpool {
namespace {

constexpr size_t kSvmSamples = 1024;
constexpr int kNewtonSteps = 100;
constexpr int kGradientSteps = 50;
constexpr int kLineSteps = 30;
constexpr double kSystemTolerance = 0.1;  // of the conjugate gradients: liblinear's
constexpr double kLineTolerance = 1e-3;   // of the slope along a direction
constexpr double kFloatTolerance = 2e-6;  // of a gradient from products in single precision

// Column j of every matrix belongs to bits[j] of the call.
class NewtonSolver {
 public:
  NewtonSolver(const BitSvmOptions& options, const MatrixF& samples, const VectorD& squares,
               MatrixF targets, MatrixD weights, const RunContext& context)
      : samples_(samples),
        squares_(squares),
        context_(context),
        penalty_(2 * options.cost),
        targets_(std::move(targets)),
        weights_(std::move(weights)),
        margins_(Apply(weights_)),
        limits_(Limits(options.tolerance)) {
    for (Index j = 0; j < weights_.cols(); ++j) open_.push_back(j);
  }

  MatrixD Run() {
    for (int step = 0; step < kNewtonSteps; ++step) {
      MatrixD gradient = Gradient();
      CloseSolved(gradient);
      if (open_.empty()) break;
      Move(Directions(gradient));
    }
    return weights_;
  }

 private:
  // The products of columns of weights with all samples, samples × columns.
  MatrixF Apply(const MatrixD& weights) const {
    const MatrixF single = weights.cast<float>();
    MatrixF products(samples_.cols(), weights.cols());
    context_.ParallelFor(static_cast<size_t>(samples_.cols()), kSvmSamples,
                         [&](size_t begin, size_t end) {
                           const auto first = static_cast<Index>(begin);
                           const auto count = static_cast<Index>(end - begin);
                           products.middleRows(first, count) = ApplyTo(first, count, single);
                         });
    return products;
  }

  MatrixF ApplyTo(Index first, Index count, const MatrixF& weights) const {
    MatrixF products =
        samples_.middleCols(first, count).transpose() * weights.topRows(samples_.rows());
    products.rowwise() += weights.row(samples_.rows());
    return products;
  }

  // Σ over samples of (x, 1) times a row of factors; factors(first, count) gives a chunk of rows.
  template <class Factors>
  MatrixD SumSamples(Index columns, const Factors& factors) const {
    MatrixD total = MatrixD::Zero(samples_.rows() + 1, columns);
    context_.pool().OrderedReduce(
        static_cast<size_t>(samples_.cols()), kSvmSamples, MatrixF(),
        [&](MatrixF& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          const auto first = static_cast<Index>(begin);
          const auto count = static_cast<Index>(end - begin);
          const MatrixF rows = factors(first, count);
          part.resize(samples_.rows() + 1, columns);
          part.topRows(samples_.rows()).noalias() = samples_.middleCols(first, count) * rows;
          part.row(samples_.rows()) = rows.colwise().sum();
        },
        [&](const MatrixF& part) { total += part.cast<double>(); });
    return total;
  }

  // liblinear's criterion for the norm of each gradient.
  VectorD Limits(double tolerance) const {
    const VectorD at_zero =
        penalty_ * SumSamples(targets_.cols(),
                              [&](Index first, Index count) {
                                return MatrixF(targets_.middleRows(first, count));
                              })
                       .colwise()
                       .norm();
    const VectorD positive = (targets_.array() > 0).cast<double>().colwise().mean();
    const VectorD rarer = positive.cwiseMin((1 - positive.array()).matrix());
    return at_zero.cwiseProduct((tolerance * rarer).cwiseMax(kFloatTolerance));
  }

  // Of the open columns: w − 2C Σ (y − wᵀx) x over the samples inside the margin.
  MatrixD Gradient() const {
    MatrixD gradient = -penalty_ * SumSamples(OpenCount(), [&](Index first, Index count) {
      MatrixF factors(count, OpenCount());
      for (Index j = 0; j < OpenCount(); ++j) {
        const auto target = targets_.col(Open(j)).segment(first, count).array();
        const auto margin = margins_.col(Open(j)).segment(first, count).array();
        factors.col(j) = (target * margin < 1).select(target - margin, 0.0F);
      }
      return factors;
    });
    for (Index j = 0; j < OpenCount(); ++j) gradient.col(j) += weights_.col(Open(j));
    return gradient;
  }

  void CloseSolved(MatrixD& gradient) {
    std::vector<Index> open;
    for (Index j = 0; j < OpenCount(); ++j) {
      if (gradient.col(j).norm() <= limits_[Open(j)]) continue;
      gradient.col(std::ssize(open)) = gradient.col(j).eval();
      open.push_back(Open(j));
    }
    open_ = std::move(open);
    gradient.conservativeResize(Eigen::NoChange, OpenCount());
  }

  // (I + 2C Σ xxᵀ) v over the samples inside the margin.
  MatrixD HessianTimes(const MatrixD& vectors) const {
    const MatrixF single = vectors.cast<float>();
    return vectors + penalty_ * SumSamples(OpenCount(), [&](Index first, Index count) {
                       MatrixF factors = ApplyTo(first, count, single);
                       for (Index j = 0; j < OpenCount(); ++j) {
                         const auto target = targets_.col(Open(j)).segment(first, count).array();
                         const auto margin = margins_.col(Open(j)).segment(first, count).array();
                         factors.col(j) = (target * margin < 1).select(factors.col(j), 0.0F);
                       }
                       return factors;
                     });
  }

  // The inverse of the Hessian's diagonal if the samples inside the margin were like all samples.
  MatrixD Preconditioner() const {
    MatrixD inverse(weights_.rows(), OpenCount());
    for (Index j = 0; j < OpenCount(); ++j) {
      const double inside =
          (targets_.col(Open(j)).array() * margins_.col(Open(j)).array() < 1).cast<double>().mean();
      inverse.col(j) = (1 + penalty_ * inside * squares_.array()).inverse();
    }
    return inverse;
  }

  // Newton directions, −H⁻¹ · gradient, by preconditioned conjugate gradients on all open columns.
  MatrixD Directions(const MatrixD& gradient) const {
    const MatrixD inverse = Preconditioner();
    MatrixD solution = MatrixD::Zero(gradient.rows(), gradient.cols());
    MatrixD residual = -gradient;
    MatrixD scaled = inverse.cwiseProduct(residual);
    MatrixD conjugate = scaled;
    Eigen::RowVectorXd squared = residual.cwiseProduct(scaled).colwise().sum();
    const Eigen::RowVectorXd goal = squared * (kSystemTolerance * kSystemTolerance);
    for (int step = 0; step < kGradientSteps; ++step) {
      const MatrixD product = HessianTimes(conjugate);
      const Eigen::RowVectorXd curvature = conjugate.cwiseProduct(product).colwise().sum();
      // A column that is solved has no more steps; the product with it is wasted.
      const Eigen::RowVectorXd length =
          (squared.array() > goal.array()).select(squared.array() / curvature.array(), 0.0);
      solution += conjugate * length.asDiagonal();
      residual -= product * length.asDiagonal();
      scaled = inverse.cwiseProduct(residual);
      const Eigen::RowVectorXd next = residual.cwiseProduct(scaled).colwise().sum();
      if ((next.array() <= goal.array()).all()) break;
      // A column may be solved exactly, after which this would be 0/0.
      const Eigen::RowVectorXd turn =
          (squared.array() > 0).select(next.array() / squared.array(), 0.0);
      conjugate = scaled + conjugate * turn.asDiagonal();
      squared = next;
    }
    return solution;
  }

  // Moves to the minimum along each direction.
  void Move(const MatrixD& directions) {
    const MatrixF changes = Apply(directions);
    context_.ParallelFor(open_.size(), 1, [&](size_t begin, size_t /*end*/) {
      const auto j = static_cast<Index>(begin);
      const double length = LineMinimum(Open(j), directions.col(j), changes.col(j));
      weights_.col(Open(j)) += length * directions.col(j);
      margins_.col(Open(j)) += static_cast<float>(length) * changes.col(j);
    });
  }

  // The objective along a line is convex and piecewise quadratic: Newton's method on its slope,
  // kept inside a bracket.
  double LineMinimum(Index column, const VectorD& direction, const VectorF& change) const {
    const double linear = weights_.col(column).dot(direction);
    const double quadratic = direction.squaredNorm();
    double low = 0, high = std::numeric_limits<double>::infinity();
    double length = 0, goal = 0;
    for (int step = 0; step < kLineSteps; ++step) {
      const auto [slope, curvature] = SlopeAt(column, change, length);
      const double total = linear + length * quadratic + slope;
      if (step == 0) goal = kLineTolerance * std::abs(total);
      if (std::abs(total) <= goal && step > 0) break;
      (total < 0 ? low : high) = length;
      length -= total / (quadratic + curvature);
      if (length <= low || length >= high) {
        length = std::isfinite(high) ? (low + high) / 2 : 2 * low + 1;
      }
    }
    return length;
  }

  // First and second derivative of C Σ max(0, 1 − y (m + t c))² at t = length.
  std::pair<double, double> SlopeAt(Index column, const VectorF& change, double length) const {
    const float* target = targets_.col(column).data();
    const float* margin = margins_.col(column).data();
    const auto t = static_cast<float>(length);
    double slope = 0, curvature = 0;
    for (Index i = 0; i < change.size(); ++i) {
      const float rest = target[i] - margin[i] - t * change[i];
      const float inside = target[i] * rest > 0 ? change[i] : 0.0F;
      slope -= static_cast<double>(rest * inside);
      curvature += static_cast<double>(inside * inside);
    }
    return {penalty_ * slope, penalty_ * curvature};
  }

  Index OpenCount() const { return std::ssize(open_); }
  Index Open(Index j) const { return open_[static_cast<size_t>(j)]; }

  const MatrixF& samples_;
  const VectorD& squares_;
  const RunContext& context_;
  double penalty_;  // 2C
  MatrixF targets_;
  MatrixD weights_;
  MatrixF margins_;          // wᵀ(x, 1) of every sample
  VectorD limits_;           // norms of the gradient that end the search
  std::vector<Index> open_;  // the columns that are not yet solved
};

class BatchedSvms : public BitSvms {
 public:
  BatchedSvms(const BitSvmOptions& options, const MatrixF& samples, const RunContext& context)
      : options_(options), samples_(samples), squares_(VectorD::Zero(samples.rows() + 1)) {
    context.pool().OrderedReduce(
        static_cast<size_t>(samples.cols()), kSvmSamples, VectorF(),
        [&](VectorF& part, size_t begin, size_t end) {
          const auto count = static_cast<Index>(end - begin);
          part = samples.middleCols(static_cast<Index>(begin), count).rowwise().squaredNorm();
        },
        [&](const VectorF& part) { squares_.head(part.size()) += part.cast<double>(); });
    squares_[samples.rows()] = static_cast<double>(samples.cols());
  }

 private:
  void Solve(const MatrixF& targets, const std::vector<Index>& bits, MatrixD& weights,
             const RunContext& context) const override {
    weights(Eigen::all, bits) =
        NewtonSolver(options_, samples_, squares_, targets(Eigen::all, bits),
                     weights(Eigen::all, bits), context)
            .Run();
  }

  BitSvmOptions options_;
  const MatrixF& samples_;
  VectorD squares_;  // Σ x² of each dimension and of the constant 1
};

}  // namespace

std::unique_ptr<BitSvms> MakeBatchedSvms(const BitSvmOptions& options, const MatrixF& samples,
                                         const RunContext& context) {
  return std::make_unique<BatchedSvms>(options, samples, context);
}

}  // namespace bitpool
