#pragma once

#include <string>
#include <vector>

#include "bitpool/metrics/ranking.h"

namespace bitpool {

// All that must be agreed on before two results can be compared. Queries without a relevant item
// are left out of every mean, always.
struct Protocol {
  ApDefinition ap = {};
  TiePolicy ties = TiePolicy::kExpected;  // the order inside a tie
  std::vector<Index> at = {};             // the k of precision and recall among the first k results

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;

  // One line with everything that makes a difference, for example "rectangular AP of all results,
  // divided by the relevant items that exist, expected over ties".
  std::string Describe() const;
};

// What hashing papers mean by mAP: rectangular, all results, divided by the relevant items that
// exist.
Protocol HashingProtocol();

// What hashing papers mean by mAP@R: rectangular, the first R results, divided by the relevant
// items found among them, as the published programs do (CalcTopMap of DeepHash-pytorch and its
// kin). A query with nothing relevant among its first R results counts as 0; a few programs leave
// it out.
Protocol HashingAt(Index results);

// Holidays and Oxford: trapezoidal, all results, divided by the relevant items that exist. The
// ground truth marks the query itself and the junk as ignored.
Protocol HolidaysProtocol();

}  // namespace bitpool
