#include "bitpool/hash/baselines/graph_codes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bitpool/hash/baselines/head_training.h"

namespace bitpool {
namespace {

constexpr const char* kGraphCodes = "codes of a graph";
constexpr int kDescentSteps = 5;  // of the codes, in a step of all parts
constexpr size_t kGraphColumns = 4096;
constexpr int kHalvings = 60;

double Inner(const MatrixD& a, const MatrixD& b) { return a.cwiseProduct(b).sum(); }

}  // namespace

void GraphCodeOptions::Validate() const {
  RequireHeadNumber(box, false, kGraphCodes, "box");
  RequireHeadNumber(sphere, false, kGraphCodes, "sphere");
  RequireHeadNumber(balance, true, kGraphCodes, "balance");
  RequireHeadNumber(independence, true, kGraphCodes, "independence");
  RequireHeadNumber(tolerance, true, kGraphCodes, "tolerance");
  RequireHeadCount(steps, 1, kGraphCodes, "steps");
}

GraphCodeSolver::GraphCodeSolver(const GraphCodeOptions& options, const AnchorGraph& graph,
                                 MatrixD start, const RunContext& context)
    : options_(options),
      balance_(options.balance / static_cast<double>(start.cols())),
      independence_(options.independence / static_cast<double>(start.cols())),
      graph_(graph),
      context_(context),
      b_(std::move(start)),
      laplacian_(graph.TimesLaplacian(b_, context)),
      box_(b_),
      sphere_(b_),
      box_y_(MatrixD::Zero(b_.rows(), b_.cols())),
      sphere_y_(box_y_) {}

bool GraphCodeSolver::Step() {
  ImproveBox();
  ImproveSphere();
  ImproveCodes();
  UpdateMultipliers();
  return Violation() > options_.tolerance;
}

// Polak and Ribière's directions, restarted where they would not lead down.
void GraphCodeSolver::ImproveCodes() {
  laplacian_ = graph_.TimesLaplacian(b_, context_);
  MatrixD gradient = Gradient();
  MatrixD direction = -gradient;
  for (int i = 0; i < kDescentSteps; ++i) {
    if (!(Inner(direction, gradient) < 0)) direction = -gradient;
    const MatrixD along = graph_.TimesLaplacian(direction, context_);
    const double step = Along(direction, along).FindMinimum();
    if (step == 0) return;
    b_ += step * direction;
    laplacian_ += step * along;
    MatrixD next = Gradient();
    const double turn = Inner(next, next - gradient) / gradient.squaredNorm();
    direction = std::max(0.0, turn) * direction - next;
    gradient = std::move(next);
  }
}

void GraphCodeSolver::ImproveBox() {
  box_ = (b_ + box_y_ / options_.box).cwiseMax(-1.0).cwiseMin(1.0);
}

void GraphCodeSolver::ImproveSphere() {
  sphere_ = b_ + sphere_y_ / options_.sphere;
  const double length = sphere_.norm();
  if (length > 0) sphere_ *= std::sqrt(static_cast<double>(b_.size())) / length;
}

void GraphCodeSolver::UpdateMultipliers() {
  box_y_ += options_.box * (b_ - box_);
  sphere_y_ += options_.sphere * (b_ - sphere_);
}

double GraphCodeSolver::Objective() const {
  return Inner(b_, laplacian_) + balance_ / 2 * b_.rowwise().sum().squaredNorm() +
         independence_ / 4 * Correlation().squaredNorm();
}

double GraphCodeSolver::Lagrangian() const {
  const MatrixD box = b_ - box_, sphere = b_ - sphere_;
  return Objective() + Inner(box_y_, box) + Inner(sphere_y_, sphere) +
         options_.box / 2 * box.squaredNorm() + options_.sphere / 2 * sphere.squaredNorm();
}

double GraphCodeSolver::Violation() const {
  return std::max((b_ - box_).norm(), (b_ - sphere_).norm()) / std::max(b_.norm(), 1e-300);
}

MatrixD GraphCodeSolver::Gradient() const {
  MatrixD gradient = 2 * laplacian_ + box_y_ + sphere_y_ + options_.box * (b_ - box_) +
                     options_.sphere * (b_ - sphere_);
  gradient.colwise() += balance_ * b_.rowwise().sum();
  const MatrixD correlation = independence_ * Correlation();
  context_.ParallelFor(
      static_cast<size_t>(b_.cols()), kGraphColumns, [&](size_t begin, size_t end) {
        const auto first = static_cast<Index>(begin);
        const auto count = static_cast<Index>(end - begin);
        gradient.middleCols(first, count).noalias() += correlation * b_.middleCols(first, count);
      });
  return gradient;
}

// With E = BBᵀ − nI, F = BDᵀ + DBᵀ and G = DDᵀ, the last term of f is ρ₄/4 ‖E + tF + t²G‖².
GraphCodeSolver::LinePolynomial GraphCodeSolver::Along(const MatrixD& direction,
                                                       const MatrixD& laplacian) const {
  const MatrixD cross = Product(b_, direction);
  const MatrixD e = Correlation(), f = cross + cross.transpose(), g = Product(direction, direction);
  const VectorD sums = b_.rowwise().sum(), moved = direction.rowwise().sum();
  const double squared = direction.squaredNorm(), weight = independence_ / 4;
  LinePolynomial line;
  line.c1 = 2 * Inner(direction, laplacian_) + balance_ * sums.dot(moved) +
            2 * weight * Inner(e, f) + Inner(direction, box_y_) + Inner(direction, sphere_y_) +
            options_.box * Inner(direction, b_ - box_) +
            options_.sphere * Inner(direction, b_ - sphere_);
  line.c2 = Inner(direction, laplacian) + balance_ / 2 * moved.squaredNorm() +
            weight * (f.squaredNorm() + 2 * Inner(e, g)) +
            (options_.box + options_.sphere) / 2 * squared;
  line.c3 = 2 * weight * Inner(f, g);
  line.c4 = weight * g.squaredNorm();
  return line;
}

double GraphCodeSolver::LinePolynomial::FindMinimum() const {
  if (!(c1 < 0)) return 0;
  double low = 0, high = c2 > 0 ? -c1 / (2 * c2) : 1;
  while (Slope(high) < 0 && std::isfinite(high)) high *= 2;
  if (!std::isfinite(high)) return 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (Slope(middle) < 0 ? low : high) = middle;
  }
  // Where the line has two valleys, the one that was found may be the higher.
  while (Value(low) > 0) low /= 2;
  return low;
}

MatrixD GraphCodeSolver::Product(const MatrixD& a, const MatrixD& b) const {
  MatrixD sum = MatrixD::Zero(a.rows(), b.rows());
  context_.pool().OrderedReduce(
      static_cast<size_t>(a.cols()), kGraphColumns, MatrixD(),
      [&](MatrixD& part, size_t begin, size_t end) {
        context_.ThrowIfStopped();
        const auto first = static_cast<Index>(begin);
        const auto count = static_cast<Index>(end - begin);
        part.noalias() = a.middleCols(first, count) * b.middleCols(first, count).transpose();
      },
      [&](const MatrixD& part) { sum += part; });
  return sum;
}

MatrixD GraphCodeSolver::Correlation() const {
  MatrixD correlation = Product(b_, b_);
  correlation.diagonal().array() -= static_cast<double>(b_.cols());
  return correlation;
}

}  // namespace bitpool
