#pragma once

#include <deque>
#include <utility>

#include "bitpool/base/matrix.h"

namespace bitpool {

struct QuasiNewtonOptions {
  int max_iterations = 50;           // steps, at most
  double gradient_tolerance = 1e-6;  // stop when the norm of the gradient is at most this
  double first_step = 1;             // the first step, as a multiple of the negative gradient
};

// Minimises a smooth function by limited-memory BFGS (Nocedal 1980) with a bisecting line search
// for the weak Wolfe conditions (Lewis and Overton 2013). function(x, gradient) returns the value
// at x and writes the gradient, which has the right size already.
template <class Function>
class QuasiNewton {
 public:
  QuasiNewton(const QuasiNewtonOptions& options, const Function& function, const VectorD& start)
      : options_(options), function_(function) {
    here_.x = start;
    Evaluate(here_);
  }

  void Run() {
    for (int i = 0; i < options_.max_iterations; ++i) {
      if (!(here_.gradient.norm() > options_.gradient_tolerance)) return;
      Point next;
      if (Search(Direction(), next)) {
        Learn(next);
        here_ = std::move(next);
      } else if (pairs_.empty()) {
        return;  // not even along the gradient: as low as rounding allows
      } else {
        pairs_.clear();
      }
    }
  }

  const VectorD& x() const { return here_.x; }
  double value() const { return here_.value; }  // never above that of the start

 private:
  static constexpr size_t kMemory = 8;        // steps the curvature is learned from
  static constexpr double kLeastFall = 1e-4;  // share of the fall that the slope promises
  static constexpr double kSlopeLeft = 0.9;   // share of the slope at which to go on
  static constexpr int kTrials = 40;          // of lengths along a direction

  struct Point {
    VectorD x;
    VectorD gradient;
    double value = 0;
  };
  struct Pair {
    VectorD step, change;  // of x and of the gradient
    double product = 0;    // stepᵀ change, positive
  };

  void Evaluate(Point& point) const {
    point.gradient.resize(point.x.size());
    point.value = function_(static_cast<const VectorD&>(point.x), point.gradient);
  }

  // −H·gradient, H the approximation of the inverse Hessian that the pairs describe.
  VectorD Direction() const {
    VectorD along = -here_.gradient;
    double weights[kMemory] = {};
    for (size_t i = pairs_.size(); i-- > 0;) {
      weights[i] = pairs_[i].step.dot(along) / pairs_[i].product;
      along -= weights[i] * pairs_[i].change;
    }
    along *= pairs_.empty() ? options_.first_step
                            : pairs_.back().product / pairs_.back().change.squaredNorm();
    for (size_t i = 0; i < pairs_.size(); ++i) {
      const double weight = pairs_[i].change.dot(along) / pairs_[i].product;
      along += (weights[i] - weight) * pairs_[i].step;
    }
    return along;
  }

  // Finds a lower point along a direction; false when there seems to be none. The length is doubled
  // while the function goes on falling, and halved between one that is too short and one too long.
  bool Search(const VectorD& along, Point& found) const {
    const double slope = here_.gradient.dot(along);
    if (!(slope < 0)) return false;
    double length = 1, too_short = 0, too_long = 0;  // 0: none yet
    Point trial;
    for (int i = 0; i < kTrials; ++i) {
      trial.x = here_.x + length * along;
      Evaluate(trial);
      if (trial.value < here_.value && trial.value <= here_.value + kLeastFall * length * slope) {
        std::swap(found, trial);
        if (found.gradient.dot(along) >= kSlopeLeft * slope) return true;
        too_short = length;
      } else {
        too_long = length;
      }
      length = too_long > 0 ? (too_short + too_long) / 2 : 2 * length;
    }
    return too_short > 0;
  }

  void Learn(const Point& next) {
    Pair pair{next.x - here_.x, next.gradient - here_.gradient};
    pair.product = pair.step.dot(pair.change);
    // Only a positive curvature keeps H positive definite.
    if (!(pair.product > 1e-12 * pair.step.norm() * pair.change.norm())) return;
    if (pairs_.size() == kMemory) pairs_.pop_front();
    pairs_.push_back(std::move(pair));
  }

  const QuasiNewtonOptions& options_;
  const Function& function_;
  Point here_;
  std::deque<Pair> pairs_;
};

// Moves x to a minimum near it. Returns the value there, which is never above that of the start.
template <class Function>
double MinimiseQuasiNewton(const QuasiNewtonOptions& options, const Function& function,
                           VectorD& x) {
  QuasiNewton search(options, function, x);
  search.Run();
  x = search.x();
  return search.value();
}

}  // namespace bitpool
