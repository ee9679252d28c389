#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bitpool {

// The numbers one edge of a chart stands for.
struct Axis {
  double low = 0;
  double high = 1;
  bool log = false;
  std::vector<double> ticks = {};  // ascending, from low to high
  std::vector<std::string> labels = {};

  // 0 at low, 1 at high. REQUIRES: CanShow(value, log)
  double Position(double value) const;
};

// How an axis is fitted to values.
struct AxisOptions {
  bool log = false;
  // Ticks the caller chose, such as the code lengths that were tried; otherwise 1-2-5 steps.
  std::vector<double> ticks = {};
  // Widened until both ends are ticks; otherwise a little wider than the values.
  bool ends_at_ticks = false;
  // Bars begin at zero, or on a logarithmic axis at a power of ten below the smallest value.
  bool for_bars = false;
};

// Whether a value has a place on an axis. Beyond 1e±300 the width of an axis has no floating-point
// number.
bool CanShow(double value, bool log);

// The axis that shows all values and ticks which have a place on it; nothing when none has.
std::optional<Axis> FitAxis(std::span<const double> values, const AxisOptions& options);

// The ticks as text, as powers of ten when that is shorter. Linear ticks have the same decimals;
// over several powers of ten that would be noise: 0.01, 1, 100.
std::vector<std::string> TickLabels(std::span<const double> ticks, bool by_powers);

// Positions as near as possible (by squares) to the wanted ones, in the same order, at least `gap`
// apart, and between low and high if there is room; if not, they run past `high`. Equal ones keep
// the order they are given in.
std::vector<double> MoveApart(std::span<const double> wanted, double gap, double low, double high);

}  // namespace bitpool
