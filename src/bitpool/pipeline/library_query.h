#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/pipeline/library.h"
#include "bitpool/pipeline/picture_coder.h"

namespace bitpool {

struct QueryMatch {
  CataloguedPicture picture;
  int distance = 0;  // bits that differ
  // How far the query was from having those bits the other way: the sum of |h| over them, where h
  // is the query's projection. It tells pictures of one distance apart.
  double finer = 0;
};

// The k pictures nearest to the query, by (distance, finer, id). All pictures as near as the k-th
// are compared before the list is cut, so it does not depend on ids more than that. Pictures that
// were removed since the library was opened are left out. Throws kInvalidArgument when k is below 1
// or the query's code or projection is not of the library's length.
std::vector<QueryMatch> QueryLibrary(const Library& library, const PictureCode& query, int64_t k,
                                     const RunContext& context);

}  // namespace bitpool
