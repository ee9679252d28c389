#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bitpool/training/method.h"
#include "bitpool/training/tune.h"

namespace bitpool {

// The candidates of a TunePlan, out of the best so far. Options that the user has set keep their
// values.
class TuneSearch {
 public:
  TuneSearch(const TunePlan& plan, const OptionValues& set) : plan_(plan), set_(set) {}

  // All combinations of a stage.
  std::vector<OptionValues> Grid(const TunePlan::Stage& stage, const OptionValues& best) const;

  // Every option that is not set, a step down and up.
  std::vector<OptionValues> Around(const OptionValues& best, double step) const;

 private:
  void Extend(const TunePlan::Stage& stage, size_t axis, OptionValues candidate,
              std::vector<OptionValues>& grid) const;

  const TunePlan& plan_;
  const OptionValues& set_;
};

// By how much a candidate is better than the best so far, as far as the same runs of both can tell:
// the mean gain of a run less its standard error. With one run the error is unknown and taken as 0.
// REQUIRES: as many runs of both, at least one.
double SureGain(std::span<const double> candidate, std::span<const double> best);

}  // namespace bitpool
