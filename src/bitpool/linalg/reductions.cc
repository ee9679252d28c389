#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

// Running sums side by side, which let the compiler use vector instructions.
constexpr Index kLanes = 8;

// Σ term(i)
template <class Term>
double SumOf(Index size, const Term& term) {
  double lanes[kLanes] = {};
  const Index whole = size - size % kLanes;
  for (Index i = 0; i < whole; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) lanes[lane] += term(i + lane);
  }
  double rest = 0;
  for (Index i = whole; i < size; ++i) rest += term(i);
  return rest + (((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
                 ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7])));
}

}  // namespace

double Dot(const float* a, const float* b, Index size) {
  return SumOf(size,
               [=](Index i) { return static_cast<double>(a[i]) * static_cast<double>(b[i]); });
}

double SquaredDistance(const float* a, const float* b, Index size) {
  return SumOf(size, [=](Index i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    return difference * difference;
  });
}

}  // namespace bitpool
