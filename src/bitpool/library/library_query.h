#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/library.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {

// What decides which pictures are the nearest.
enum class QueryOrder {
  kScore,    // the score, so that bits the query is sure of count more
  kHamming,  // the distance, then the score
};

struct QueryMatch {
  CataloguedPicture picture;
  int distance = 0;  // bits that differ
  double score = 0;  // Σ hᵢbᵢ of the query's projection h and the picture's code b in {−1, 1}
};

// The k pictures nearest to the query, by (falling score, id) or (distance, falling score, id).
// Pictures that were removed since the library was opened are left out. Throws kInvalidArgument
// when k is below 1 or the query's code or projection is not of the library's length.
std::vector<QueryMatch> QueryLibrary(const Library& library, const PictureCode& query, int64_t k,
                                     QueryOrder order, const RunContext& context);

}  // namespace bitpool
