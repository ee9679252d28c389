#pragma once

#include <cstddef>
#include <cstdint>

#include "bitpool/codes/hamming_scan.h"

namespace bitpool {

// A query and codes in rows, one after the other, as tables that are looked up keep them: a code is
// then in one place, whereas blocks have it in as many places as it has bytes.
struct RowScan {
  const uint8_t* query;
  const uint8_t* rows;
  size_t bytes_per_code;
  int32_t threshold;  // report distances up to this
  ScanHit* hits;      // room for every compared code
};

// Find every code within the threshold among the first `count` rows, or among the rows at these
// positions, and return how many there are. The position of a hit is its number among the compared
// codes, and hits come in that order. Both use the best instructions this machine has, chosen at
// run time; every choice gives the same hits.
size_t ScanRows(const RowScan& scan, size_t count);
size_t ScanListedRows(const RowScan& scan, const uint32_t* positions, size_t count);

}  // namespace bitpool
