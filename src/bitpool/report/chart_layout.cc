#include "bitpool/report/chart_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "bitpool/report/report_text.h"

namespace bitpool {
namespace {

constexpr double kLargest = 1e300;
constexpr double kIntervals = 5;     // about as many as a reader needs to judge a value
constexpr double kPadding = 0.04;    // of the width, where an axis does not end at ticks
constexpr double kNarrowest = 1e-9;  // relative; values nearer than this are shown as equal
constexpr double kRounding = 1e-9;   // relative; a tick this far outside is still on the axis
constexpr int kMostDecades = 8;
// A logarithmic axis of a smaller ratio has linear ticks: 1-2-5 would be too few. At this ratio a
// linear step is still no larger than the low end, so that the axis stays above zero.
constexpr double kNarrowRatio = 3;
constexpr size_t kLongLabel = 6;  // characters; from here on powers of ten may be shorter

constexpr std::array<double, 4> kNiceFactors = {1, 2, 5, 10};

int ExponentOf(double value) { return static_cast<int>(std::floor(std::log10(value) + kRounding)); }

double PowerOfTenBelow(double value) { return std::pow(10, ExponentOf(value)); }

double NiceAtLeast(double value) {
  const double power = PowerOfTenBelow(value);
  for (const double factor : kNiceFactors) {
    if (factor * power >= value * (1 - kRounding)) return factor * power;
  }
  return 10 * power;
}

double NiceAtMost(double value) {
  const double power = PowerOfTenBelow(value);
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= value * (1 + kRounding)) return factor * power;
  }
  return power;
}

int Decades(double low, double high) { return ExponentOf(high) - ExponentOf(low); }

std::vector<double> LinearTicks(double low, double high, double step) {
  const double first = std::ceil(low / step - 1e-6);
  const double last = std::floor(high / step + 1e-6);
  std::vector<double> ticks(static_cast<size_t>(last - first + 1));
  for (size_t i = 0; i < ticks.size(); ++i) {
    ticks[i] = (first + static_cast<double>(i)) * step + 0.0;  // + 0.0: no negative zero
  }
  return ticks;
}

// Powers of ten, with twice and five times them when the powers alone would be few.
std::vector<double> LogTicks(double low, double high) {
  const int decades = Decades(low, high);
  const int stride = 1 + decades / kMostDecades;
  std::vector<double> ticks;
  for (int decade = 0; decade <= decades; decade += stride) {
    const double power = std::pow(10, ExponentOf(low) + decade);
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && decades >= 3) continue;
      const double tick = factor * power;
      if (tick >= low * (1 - kRounding) && tick <= high * (1 + kRounding)) ticks.push_back(tick);
    }
  }
  return ticks;
}

void WidenIfFlat(Axis& axis) {
  const double size = std::max(std::abs(axis.low), std::abs(axis.high));
  if (axis.high - axis.low > size * kNarrowest) return;
  const double half = size == 0 ? 1 : size / 10;
  axis.low -= half;
  axis.high += half;
}

void WidenForBars(Axis& axis) {
  if (axis.log) {
    const double power = PowerOfTenBelow(axis.low);
    axis.low = axis.low < 2 * power ? power / 10 : power;
    return;
  }
  axis.low = std::min(axis.low, 0.0);
  axis.high = std::max(axis.high, 0.0);
  if (axis.high == axis.low) axis.high = 1;
}

void WidenALittle(Axis& axis) {
  if (axis.log) {
    // At most a power of ten, so that the widest axis stays within floating-point numbers.
    const double factor =
        std::min(10.0, std::exp(kPadding * (std::log(axis.high) - std::log(axis.low))));
    axis.low /= factor;
    axis.high *= factor;
    return;
  }
  const double padding = kPadding * (axis.high - axis.low);
  axis.low -= padding;
  axis.high += padding;
}

void WidenToLogTicks(Axis& axis) {
  Axis wider = axis;
  wider.low = NiceAtMost(axis.low);
  wider.high = NiceAtLeast(axis.high);
  if (Decades(wider.low, wider.high) >= 3) {  // only powers of ten are ticks
    wider.low = PowerOfTenBelow(axis.low);
    const double power = PowerOfTenBelow(axis.high);
    wider.high = axis.high > power * (1 + kRounding) ? 10 * power : power;
  }
  axis = wider;
}

void WidenToLinearTicks(Axis& axis, double step) {
  axis.low = step * std::floor(axis.low / step + 1e-6);
  axis.high = step * std::ceil(axis.high / step - 1e-6);
}

// An exponent in raised digits.
std::string Raised(int exponent) {
  static constexpr std::array<std::string_view, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                               "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string raised = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) raised += kDigits[digit - '0'];
  return raised;
}

std::string PowerLabel(double tick) {
  if (tick == 0) return "0";
  const int exponent = ExponentOf(std::abs(tick));
  const std::string mantissa = FormatNumber("{:.9g}", tick / std::pow(10, exponent));
  std::string power = "10" + Raised(exponent);
  if (mantissa == "1") return power;
  if (mantissa == "−1") return "−" + power;
  return mantissa + "·" + power;
}

// Decimals that write a tick in full: 1 for 0.5, 4 for 0.0025. Twelve digits leave out the
// rounding.
int DecimalsOf(double tick) {
  const std::string text = fmt::format("{:.11e}", tick);
  const size_t e = text.find('e');
  const size_t last_digit = text.find_last_not_of('0', e - 1);
  const int digits = static_cast<int>(last_digit - text.find('.'));
  return tick == 0 ? 0 : std::max(0, digits - std::stoi(text.substr(e + 1)));
}

size_t TotalCharacters(const std::vector<std::string>& labels) {
  return std::accumulate(
      labels.begin(), labels.end(), size_t{0},
      [](size_t sum, const std::string& label) { return sum + CharacterCount(label); });
}

// The part of an axis the values need, without a margin.
std::optional<Axis> Span(std::span<const double> values, const AxisOptions& options) {
  std::vector<double> shown;
  for (const auto& part : {values, std::span<const double>(options.ticks)}) {
    for (const double value : part) {
      if (CanShow(value, options.log)) {
        shown.push_back(std::abs(value) < 1 / kLargest ? 0 : value);
      }
    }
  }
  if (shown.empty()) return std::nullopt;
  const auto [low, high] = std::minmax_element(shown.begin(), shown.end());
  return Axis{.low = *low, .high = *high, .log = options.log};
}

std::vector<double> ChosenTicks(const AxisOptions& options) {
  std::vector<double> ticks;
  for (const double tick : options.ticks) {
    if (CanShow(tick, options.log)) ticks.push_back(tick);
  }
  std::sort(ticks.begin(), ticks.end());
  ticks.erase(std::unique(ticks.begin(), ticks.end()), ticks.end());
  return ticks;
}

}  // namespace

double Axis::Position(double value) const {
  if (log) return (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
  return (value - low) / (high - low);
}

bool CanShow(double value, bool log) {
  return std::abs(value) <= kLargest && (!log || value >= 1 / kLargest);
}

std::optional<Axis> FitAxis(std::span<const double> values, const AxisOptions& options) {
  std::optional<Axis> axis = Span(values, options);
  if (!axis) return std::nullopt;
  if (options.for_bars) WidenForBars(*axis);
  WidenIfFlat(*axis);
  const double step = NiceAtLeast((axis->high - axis->low) / kIntervals);
  const bool by_powers = axis->log && axis->high > kNarrowRatio * axis->low;
  if (!options.ends_at_ticks) {
    WidenALittle(*axis);
  } else if (by_powers) {
    WidenToLogTicks(*axis);
  } else {
    WidenToLinearTicks(*axis, step);
  }
  axis->ticks = ChosenTicks(options);
  if (axis->ticks.empty()) {
    axis->ticks =
        by_powers ? LogTicks(axis->low, axis->high) : LinearTicks(axis->low, axis->high, step);
  }
  axis->labels = TickLabels(axis->ticks, by_powers);
  return axis;
}

std::vector<std::string> TickLabels(std::span<const double> ticks, bool by_powers) {
  int decimals = 0;
  for (const double tick : ticks) decimals = std::max(decimals, DecimalsOf(tick));
  std::vector<std::string> plain, powers;
  bool long_label = false;
  for (const double tick : ticks) {
    plain.push_back(
        FormatNumber(fmt::format("{{:.{}f}}", by_powers ? DecimalsOf(tick) : decimals), tick));
    powers.push_back(PowerLabel(tick));
    long_label |= CharacterCount(plain.back()) > kLongLabel;
  }
  return long_label && TotalCharacters(powers) < TotalCharacters(plain) ? powers : plain;
}

// With i·gap taken off the i-th of the sorted positions, "apart" becomes "not descending": an
// isotonic regression, solved by pooling neighbours that are out of order (Ayer et al. 1955).
std::vector<double> MoveApart(std::span<const double> wanted, double gap, double low, double high) {
  std::vector<size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return wanted[a] < wanted[b]; });
  struct Pool {
    double sum;
    size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  for (size_t i = 0; i < order.size(); ++i) {
    pools.push_back({wanted[order[i]] - static_cast<double>(i) * gap, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum;
      pools.back().count += last.count;
    }
  }
  std::vector<double> moved(wanted.size());
  const double last_start =
      std::max(low, high - gap * static_cast<double>(std::max<size_t>(order.size(), 1) - 1));
  size_t i = 0;
  for (const Pool& pool : pools) {
    for (const size_t end = i + pool.count; i < end; ++i) {
      moved[order[i]] = std::clamp(pool.mean(), low, last_start) + static_cast<double>(i) * gap;
    }
  }
  return moved;
}

}  // namespace bitpool
