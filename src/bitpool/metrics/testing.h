#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "bitpool/metrics/ranking.h"

// Shared by the tests of this room.
namespace bitpool {

inline constexpr ApKind kApKinds[] = {ApKind::kRectangular, ApKind::kTrapezoidal};
inline constexpr ApDivisor kApDivisors[] = {ApDivisor::kExisting, ApDivisor::kReachable,
                                            ApDivisor::kFound};

// Average precision by its definition, of results whose order is known. The trapezoidal kind goes
// along the curve of precision over recall as Oxford's compute_ap does.
inline double ReferenceAp(const std::vector<bool>& results, Index existing,
                          const ApDefinition& definition) {
  size_t count = results.size();
  if (definition.cutoff > 0) count = std::min(count, static_cast<size_t>(definition.cutoff));
  const auto found = static_cast<double>(
      std::count(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(count), true));
  auto divisor = static_cast<double>(existing);
  if (definition.divisor == ApDivisor::kFound) divisor = found;
  if (definition.divisor == ApDivisor::kReachable && definition.cutoff > 0) {
    divisor = std::min(divisor, static_cast<double>(definition.cutoff));
  }
  if (divisor == 0) return 0;
  double old_recall = 0, old_precision = 1, ap = 0, hits = 0;
  for (size_t i = 0; i < count; ++i) {
    if (results[i]) ++hits;
    const double recall = hits / divisor;
    const double precision = hits / static_cast<double>(i + 1);
    ap += definition.kind == ApKind::kTrapezoidal
              ? (recall - old_recall) * (old_precision + precision) / 2
              : (recall - old_recall) * precision;
    old_recall = recall;
    old_precision = precision;
  }
  return ap;
}

}  // namespace bitpool
