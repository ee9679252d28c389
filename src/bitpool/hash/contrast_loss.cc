#include "bitpool/hash/contrast_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

// Columns of similarities that are worked on at once: with a thousand rows they stay in a thread's
// second-level cache.
constexpr size_t kBlock = 64;

Index OtherView(Index column) { return column ^ 1; }

// The codes, multiplied so that all have the same length.
struct Directions {
  MatrixF columns;
  double squared_length = 1;
  VectorF code_lengths;  // of the codes themselves
};

Directions SignDirections(const MatrixF& projections) {
  const auto bits = static_cast<double>(projections.rows());
  return {
      .columns = projections.unaryExpr([](float h) { return h >= 0 ? 1.0F : -1.0F; }),
      .squared_length = bits,
      .code_lengths = VectorF::Constant(projections.cols(), static_cast<float>(std::sqrt(bits)))};
}

Directions TanhDirections(const MatrixF& tanh) {
  Directions directions{.columns = tanh, .code_lengths = VectorF(tanh.cols())};
  for (Index column = 0; column < tanh.cols(); ++column) {
    const float* code = tanh.col(column).data();
    const auto length = static_cast<float>(std::sqrt(Dot(code, code, tanh.rows())));
    // A code of zeros has no direction: it is similar to nothing, and has no gradient.
    directions.code_lengths[column] = length > 0 ? length : std::numeric_limits<float>::infinity();
    directions.columns.col(column) /= directions.code_lengths[column];
  }
  return directions;
}

// exp((s − 1)/τ) from the inner product of two codes of L signs, which has one of L + 1 values.
class SignExponential {
 public:
  SignExponential(Index bits, double temperature) : bits_(static_cast<float>(bits)) {
    for (Index equal = 0; equal <= bits; ++equal) {
      const double cosine = static_cast<double>(2 * equal - bits) / static_cast<double>(bits);
      table_.push_back(static_cast<float>(std::exp((cosine - 1) / temperature)));
    }
  }
  float operator()(float inner) const {
    return table_[static_cast<size_t>(static_cast<int>(inner + bits_) / 2)];
  }

 private:
  float bits_;
  std::vector<float> table_;
};

// The same from a cosine.
class TanhExponential {
 public:
  explicit TanhExponential(double temperature) : temperature_(temperature) {}
  float operator()(float cosine) const {
    return static_cast<float>(std::exp((static_cast<double>(cosine) - 1) / temperature_));
  }

 private:
  double temperature_;
};

// With E = exp((s − 1)/τ), which is symmetric, zero on its diagonal, and has the sums r in its
// columns, the gradient with respect to s(j, k) and s(k, j) together is
//   (E(j, k)/r(j) + E(k, j)/r(k) − 2·[k = j′]) / (nτ).
class Similarities {
 public:
  Similarities(const Directions& directions, double temperature, const RunContext& context)
      : directions_(directions),
        size_(directions.columns.cols()),
        temperature_(temperature),
        context_(context),
        exponentials_(size_, size_),
        inverse_sums_(size_) {}

  // E, r and the loss.
  template <class Exponential>
  double Compute(const Exponential& exponential) {
    std::vector<double> losses(static_cast<size_t>(size_));
    ForEachBlock([&](Index first, Index count) {
      auto block = exponentials_.middleCols(first, count);
      block.noalias() =
          directions_.columns.transpose() * directions_.columns.middleCols(first, count);
      for (Index column = first; column < first + count; ++column) {
        losses[static_cast<size_t>(column)] = ComputeColumn(column, exponential);
      }
    });
    double sum = 0;
    for (const double loss : losses) sum += loss;
    return sum / static_cast<double>(size_);
  }

  // The gradient with respect to the codes divided by their lengths. Uses up E.
  MatrixF Gradient() {
    MatrixF gradient(directions_.columns.rows(), size_);
    const auto scale = static_cast<float>(
        1 / (static_cast<double>(size_) * temperature_ * std::sqrt(directions_.squared_length)));
    ForEachBlock([&](Index first, Index count) {
      for (Index column = first; column < first + count; ++column) {
        const float own = inverse_sums_[column];
        float* values = exponentials_.col(column).data();
        for (Index row = 0; row < size_; ++row) values[row] *= inverse_sums_[row] + own;
        values[OtherView(column)] -= 2;
      }
      gradient.middleCols(first, count).noalias() =
          directions_.columns * exponentials_.middleCols(first, count);
      gradient.middleCols(first, count) *= scale;
    });
    return gradient;
  }

 private:
  template <class Work>
  void ForEachBlock(const Work& work) const {
    context_.ParallelFor(static_cast<size_t>(size_), kBlock, [&](size_t begin, size_t end) {
      work(static_cast<Index>(begin), static_cast<Index>(end - begin));
    });
  }

  // Inner products become exponentials.
  template <class Exponential>
  double ComputeColumn(Index column, const Exponential& exponential) {
    float* values = exponentials_.col(column).data();
    const double cosine =
        static_cast<double>(values[OtherView(column)]) / directions_.squared_length;
    double sum = 0;
    for (Index row = 0; row < size_; ++row) {
      values[row] = row == column ? 0.0F : exponential(values[row]);
      sum += static_cast<double>(values[row]);
    }
    inverse_sums_[column] = static_cast<float>(1 / sum);
    return std::log(sum) - (cosine - 1) / temperature_;
  }

  const Directions& directions_;
  Index size_;
  double temperature_;
  const RunContext& context_;
  MatrixF exponentials_;
  VectorF inverse_sums_;
};

// From the gradient with respect to u = c/‖c‖ to that with respect to h, with dc/dh = 1 − tanh²(h):
//   (g − u(uᵀg)) / ‖c‖ · (1 − t²)
void BackThroughCodes(const Directions& directions, const MatrixF& tanh, MatrixF& gradient) {
  const Index bits = gradient.rows();
  for (Index column = 0; column < gradient.cols(); ++column) {
    const float* direction = directions.columns.col(column).data();
    float* values = gradient.col(column).data();
    const auto along = static_cast<float>(Dot(direction, values, bits) / directions.squared_length);
    for (Index bit = 0; bit < bits; ++bit) {
      const float t = tanh(bit, column);
      values[bit] =
          (values[bit] - along * direction[bit]) * (1 - t * t) / directions.code_lengths[column];
    }
  }
}

}  // namespace

ContrastLoss ComputeContrastLoss(const MatrixF& projections, double temperature,
                                 ContrastCodes codes, const RunContext& context) {
  const MatrixF tanh = projections.unaryExpr([](float h) { return std::tanh(h); });
  const bool signs = codes == ContrastCodes::kSigns;
  const Directions directions = signs ? SignDirections(projections) : TanhDirections(tanh);
  Similarities similarities(directions, temperature, context);
  ContrastLoss result;
  result.loss = signs ? similarities.Compute(SignExponential(projections.rows(), temperature))
                      : similarities.Compute(TanhExponential(temperature));
  result.gradient = similarities.Gradient();
  BackThroughCodes(directions, tanh, result.gradient);
  return result;
}

}  // namespace bitpool
