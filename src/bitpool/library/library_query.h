#pragma once

#include <cstdint>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/library/library_snapshot.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {

// What decides which pictures are the nearest.
enum class QueryOrder {
  kScore,    // the score, so that bits the query is sure of count more
  kHamming,  // the distance, then the score
};

struct QueryOptions {
  int64_t k = 20;  // how many pictures
  QueryOrder order = QueryOrder::kScore;
  bool mirrored = false;  // also search with the picture's mirror image

  // Throws kInvalidArgument, naming the field and what was expected.
  void Validate() const;
};

struct QueryMatch {
  CataloguedPicture picture;
  int distance = 0;       // bits that differ
  bool mirrored = false;  // found by the mirror image of the query
  double score = 0;  // Σ hᵢbᵢ of the query's projection h and the picture's code b in {−1, 1}
};

// The k pictures nearest to the query, by (descending score, id) or (distance, descending score,
// id). Throws kInvalidArgument when the query's code or projection is not of the library's length,
// and kCorrupt when the catalogue has no picture for a code.
std::vector<QueryMatch> QueryLibrary(const LibrarySnapshot& library, const PictureCode& query,
                                     const QueryOptions& options, const RunContext& context);

// The k best of two answers, those for a picture and for its mirror image, each in the order of the
// options.
std::vector<QueryMatch> MergeMatches(std::vector<QueryMatch> straight,
                                     std::vector<QueryMatch> mirrored, const QueryOptions& options);

// The k pictures nearest to one of the library, without itself, by (distance, id): every bit of its
// code counts the same. Throws kNotFound when there is no such picture with a code.
std::vector<QueryMatch> QueryById(const LibrarySnapshot& library, uint64_t id,
                                  const QueryOptions& options, const RunContext& context);

}  // namespace bitpool
