#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/samples/ground_truth.h"

// The quality of one query's results. docs/metrics.md has the definitions with an example.

namespace bitpool {

// Results at the same distance.
struct TieGroup {
  Index items = 0;
  Index relevant = 0;  // of the items

  friend bool operator==(const TieGroup&, const TieGroup&) = default;
};

// The results of one query in the order of their distances, as far as the distances tell. Ignored
// items are left out, as if they were not in the database. Short codes tie heavily, so this is much
// shorter than a list of results, and every measure below is a function of it.
struct Ranking {
  std::vector<TieGroup> groups;  // nearest first; some may be empty
  Index relevant = 0;            // in the database, whether in a group or not
};

// Group d has the items at distance d, from 0 to `bits`.
// REQUIRES: distances.size() == judgements.size(), no distance beyond `bits`.
Ranking RankByHamming(std::span<const uint16_t> distances, std::span<const Judgement> judgements,
                      int bits);

// A group for each different distance. Throws kInvalidArgument, naming the item, for a distance
// that is not a number. REQUIRES: distances.size() == judgements.size().
Ranking RankByDistance(std::span<const float> distances, std::span<const Judgement> judgements);

// What to do about the order inside a tie.
enum class TiePolicy : uint8_t {
  kExpected,     // the expected value over all its orders, each as likely as the others
  kOptimistic,   // its relevant items first
  kPessimistic,  // its relevant items last
  kInputOrder,   // the item that comes first in the database first, as a stable sort does; the
                 // result then depends on how the database happens to be ordered. For comparisons
                 // with programs that do so.
};

// Splits mixed groups in two for kOptimistic and kPessimistic; leaves them for kExpected. Throws
// kInvalidArgument for kInputOrder, since groups do not know the order of the input.
Ranking BreakTies(Ranking ranking, TiePolicy policy);

// For kInputOrder: groups that are relevant as a whole or not at all, so that nothing is left to
// chance. Otherwise like the functions above.
Ranking RankByHammingInOrder(std::span<const uint16_t> distances,
                             std::span<const Judgement> judgements, int bits);
Ranking RankByDistanceInOrder(std::span<const float> distances,
                              std::span<const Judgement> judgements);

// How much a relevant result adds to the average precision.
enum class ApKind : uint8_t {
  kRectangular,  // the precision at the result: hits / rank
  kTrapezoidal,  // the mean of the precisions before and at the result, 1 before the first result:
                 // compute_ap of Oxford (Philbin et al., 2007) and Holidays (Jégou et al., 2008)
};

// What the sum over the relevant results is divided by.
enum class ApDivisor : uint8_t {
  kExisting,   // the relevant items of the database
  kReachable,  // those, but at most as many as the cutoff, so that 1 can be reached
  kFound,      // the relevant results before the cutoff; 0 where there are none
};

// One of the many things that are called average precision.
struct ApDefinition {
  ApKind kind = ApKind::kRectangular;
  ApDivisor divisor = ApDivisor::kExisting;
  Index cutoff = 0;  // only this many results count, the first; 0: all

  // Throws kInvalidArgument when a field is invalid.
  void Validate() const;
};

// All three are expected values over the orders inside the groups, computed exactly (but for
// rounding), even where the cutoff falls inside a group; after McSherry and Najork, "Computing
// information retrieval performance measures efficiently in the presence of tied scores" (2008).
// Average precision and recall are NaN where nothing is relevant.
double AveragePrecision(const Ranking& ranking, const ApDefinition& definition);

// Relevant results among the first k, divided by k even where there are fewer results than k.
// REQUIRES: k > 0.
double PrecisionAt(const Ranking& ranking, Index k);

// Relevant results among the first k, divided by the relevant items of the database.
double RecallAt(const Ranking& ranking, Index k);

// All results up to some distance.
struct CurvePoint {
  Index items = 0;
  double precision = 0;  // 0 where there are no items, as is usual for codes
  double recall = 0;     // NaN where nothing is relevant
};

// A point at the end of each group, where no order inside a tie matters. Point r of a ranking by
// Hamming distance is precision and recall within radius r.
std::vector<CurvePoint> PrecisionRecallCurve(const Ranking& ranking);

}  // namespace bitpool
