#include "bitpool/metrics/neighbours.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/linalg/reductions.h"

namespace bitpool {
namespace {

constexpr Index kStripeValues = Index{1} << 23;          // of the database, prepared at once,
constexpr Index kMinStripe = 512, kMaxStripe = 1 << 16;  // if that is this many columns
constexpr size_t kReadColumns = 256;                     // read and centred by one task
constexpr Index kScoredRows = 1024;                      // database columns and
constexpr size_t kScoredQueries = 128;                   // queries of one matrix product
constexpr double kUnitRoundoff = std::numeric_limits<float>::epsilon() / 2.0;
constexpr double kLargestSquare = std::numeric_limits<float>::max() / 16.0;

void Require(bool good, const std::string& message) {
  if (!good) throw Error(ErrorCode::kInvalidArgument, message);
}

void RequireFiniteIn(const std::string& whose, const MatrixFRef& block, Index first) {
  InContext(whose, [&] { RequireFinite(block, first); });
}

[[noreturn]] void ThrowTooLarge(const std::string& whose, Index column) {
  throw Error(ErrorCode::kInvalidArgument, whose,
              fmt::format("vector {}: its values are too large to be squared in single "
                          "precision; divide the data by its largest value first",
                          column));
}

struct Candidate {
  double squared_distance;
  int32_t id;

  friend bool operator<(const Candidate& a, const Candidate& b) {
    return a.squared_distance != b.squared_distance ? a.squared_distance < b.squared_distance
                                                    : a.id < b.id;
  }
};

// Keeps the k nearest of the candidates it is shown, and some more until there are too many:
// sorting out many at once costs a few comparisons for each, whatever k is, where a heap would cost
// log k.
class Nearest {
 public:
  void Start(Index k) { k_ = static_cast<size_t>(k); }

  // Candidates at this squared distance or farther are not among the nearest.
  double limit() const { return limit_; }

  // REQUIRES: candidates come in the order of their ids, so that of two at the same distance the
  // earlier one is better.
  void Add(double squared_distance, int32_t id) {
    if (squared_distance >= limit_) return;
    found_.push_back({.squared_distance = squared_distance, .id = id});
    if (found_.size() >= k_ + k_ / 4 + 16) DropFar();
  }

  // The k nearest, in order.
  std::vector<Candidate> Finish() {
    DropFar();
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  void DropFar() {
    const auto last = found_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(found_.begin(), last, found_.end());
    limit_ = last->squared_distance;
    found_.erase(last + 1, found_.end());
  }

  size_t k_ = 0;
  double limit_ = std::numeric_limits<double>::infinity();
  std::vector<Candidate> found_;
};

// Candidates come from matrix products in single precision, and get a distance in double precision
// where rounding leaves a chance that they are among the nearest.
//
// With x and q relative to the same centre, ‖x − q‖² = ‖x‖² − 2xᵀq + ‖q‖². Computed in single
// precision (the centring included) this is wrong by at most κ(‖x‖ + ‖q‖)² ≤ 2κ(‖x‖² + ‖q‖²),
// κ = (D + 8) units of rounding, plus what is lost in products too small for a float. So x is
// certainly farther than a limit where
//   (1 − 2κ)‖x‖² − 2xᵀq > limit − (1 − 2κ)‖q‖².
// The error of a far x is in its own term and does not blur the others.
class NeighbourSearch {
 public:
  NeighbourSearch(const ColumnSource& database, const ColumnSource& queries, Index k,
                  const RunContext& context)
      : database_(database),
        context_(context),
        k_(k),
        certain_(1 - 2 * static_cast<double>(queries.dimension() + 8) * kUnitRoundoff),
        queries_(queries.dimension(), queries.size()),
        nearest_(static_cast<size_t>(queries.size())) {
    MatrixF buffer;
    queries_ = queries.Read(0, queries.size(), buffer);
    for (Nearest& nearest : nearest_) nearest.Start(k);
    CentreQueries();
  }

  Neighbours Run() {
    const auto size = static_cast<uint64_t>(database_.size());
    Progress progress = context_.StartProgress("neighbours", "columns", size);
    const Index dimension = std::max<Index>(1, database_.dimension());
    const Index stripe = std::clamp(kStripeValues / dimension, kMinStripe, kMaxStripe);
    for (Index first = 0; first < database_.size(); first += stripe) {
      const Index count = std::min(stripe, database_.size() - first);
      ReadStripe(first, count);
      context_.ParallelFor(nearest_.size(), kScoredQueries, [&](size_t begin, size_t end) {
        SearchStripe(first, static_cast<Index>(begin), static_cast<Index>(end));
      });
      progress.Advance(static_cast<uint64_t>(count));
    }
    return Collect();
  }

 private:
  void CentreQueries() {
    RequireFiniteIn("queries", queries_, 0);
    centre_ = queries_.cast<double>().rowwise().mean().cast<float>();
    minus_twice_ = queries_.colwise() - centre_;
    query_terms_.resize(queries_.cols());
    for (Index i = 0; i < queries_.cols(); ++i) {
      const float* column = minus_twice_.col(i).data();
      query_terms_[i] = certain_ * Dot(column, column, minus_twice_.rows());
    }
    // A large query moves the centre away from the others, so the largest one is to blame.
    Index largest = 0;
    if (!(query_terms_.maxCoeff(&largest) <= kLargestSquare)) ThrowTooLarge("queries", largest);
    minus_twice_ *= -2.0F;
  }

  // A vector that is far from the centre is too large itself, or the queries are, whose mean the
  // centre is.
  [[noreturn]] void BlameForDistance(const VectorFRef& vector, Index number) const {
    Index largest = 0;
    const float of_queries = queries_.cwiseAbs().colwise().maxCoeff().maxCoeff(&largest);
    if (vector.cwiseAbs().maxCoeff() < of_queries) ThrowTooLarge("queries", largest);
    ThrowTooLarge("database", number);
  }

  void ReadStripe(Index first, Index count) {
    buffers_.resize(static_cast<size_t>(count) / kReadColumns + 1);
    columns_.resize(static_cast<size_t>(count));
    centred_.resize(database_.dimension(), count);
    terms_.resize(count);
    context_.ParallelFor(static_cast<size_t>(count), kReadColumns, [&](size_t begin, size_t end) {
      const auto offset = static_cast<Index>(begin);
      const ColumnsView block = database_.Read(first + offset, static_cast<Index>(end - begin),
                                               buffers_[begin / kReadColumns]);
      for (Index i = 0; i < block.cols(); ++i) {
        columns_[begin + static_cast<size_t>(i)] = block.col(i).data();
        auto centred = centred_.col(offset + i);
        centred = block.col(i) - centre_;
        const double norm = Dot(centred.data(), centred.data(), centred.size());
        if (!(norm <= kLargestSquare)) {
          RequireFiniteIn("database", block.col(i), first + offset + i);
          BlameForDistance(block.col(i), first + offset + i);
        }
        terms_[offset + i] = static_cast<float>(certain_ * norm);
      }
    });
  }

  void SearchStripe(Index first, Index begin, Index end) {
    MatrixF products;
    for (Index row = 0; row < centred_.cols(); row += kScoredRows) {
      const Index rows = std::min(kScoredRows, centred_.cols() - row);
      products.noalias() =
          centred_.middleCols(row, rows).transpose() * minus_twice_.middleCols(begin, end - begin);
      for (Index query = begin; query < end; ++query) {
        AddNear(query, first, row, products.col(query - begin));
      }
    }
  }

  void AddNear(Index query, Index first, Index row, const VectorFRef& products) {
    Nearest& nearest = nearest_[static_cast<size_t>(query)];
    const float* values = queries_.col(query).data();
    float bound = BoundOf(query, nearest.limit());
    for (Index i = 0; i < products.size(); ++i) {
      if (terms_[row + i] + products[i] > bound) continue;
      const double distance =
          SquaredDistance(columns_[static_cast<size_t>(row + i)], values, queries_.rows());
      const double limit = nearest.limit();
      nearest.Add(distance, static_cast<int32_t>(first + row + i));
      if (nearest.limit() != limit) bound = BoundOf(query, nearest.limit());
    }
  }

  // limit − (1 − 2κ)‖q‖², and what products too small for a float may have lost; rounded up.
  float BoundOf(Index query, double limit) const {
    const double lost = static_cast<double>(queries_.rows() + 8) *
                        static_cast<double>(std::numeric_limits<float>::min());
    const double bound = limit - query_terms_[query] + lost;
    return std::nextafter(static_cast<float>(bound), std::numeric_limits<float>::infinity());
  }

  Neighbours Collect() {
    const size_t k = static_cast<size_t>(k_), count = nearest_.size() * k;
    Neighbours result{.k = k_,
                      .ids = std::vector<int32_t>(count),
                      .squared_distances = std::vector<float>(count)};
    context_.ParallelFor(nearest_.size(), 1, [&](size_t query, size_t /*end*/) {
      size_t at = query * k;
      for (const Candidate& candidate : nearest_[query].Finish()) {
        result.ids[at] = candidate.id;
        result.squared_distances[at++] = static_cast<float>(candidate.squared_distance);
      }
    });
    return result;
  }

  const ColumnSource& database_;
  const RunContext& context_;
  Index k_;
  double certain_;  // 1 − 2κ
  MatrixF queries_;
  VectorF centre_;
  MatrixF minus_twice_;           // −2 (queries − centre)
  VectorD query_terms_;           // (1 − 2κ)‖q‖²
  std::vector<Nearest> nearest_;  // of each query

  // The stripe of the database that is being searched.
  std::vector<MatrixF> buffers_;
  std::vector<const float*> columns_;  // as they were read
  MatrixF centred_;
  VectorF terms_;  // (1 − 2κ)‖x‖²
};

}  // namespace

ListedTruth Neighbours::Truth(Index database_size, Index nearest) const {
  Require(nearest >= 1 && nearest <= k,
          fmt::format("nearest: expected 1 to {}, got {}", k, nearest));
  ListedTruth truth(database_size);
  for (auto row = ids.begin(); row != ids.end(); row += k) {
    truth.AddQuery(std::vector<Index>(row, row + nearest));
  }
  return truth;
}

Neighbours FindNeighbours(const ColumnSource& database, const ColumnSource& queries, Index k,
                          const RunContext& context) {
  Require(database.dimension() == queries.dimension(),
          fmt::format("the database has {} dimensions, the queries have {}", database.dimension(),
                      queries.dimension()));
  Require(k >= 1 && k <= database.size(),
          fmt::format("k: expected 1 to {}, the size of the database, got {}", database.size(), k));
  Require(database.size() <= std::numeric_limits<int32_t>::max(),
          fmt::format("the database has {} columns, more than can be numbered with 32 bits",
                      database.size()));
  if (queries.size() == 0) return {.k = k, .ids = {}, .squared_distances = {}};
  return NeighbourSearch(database, queries, k, context).Run();
}

}  // namespace bitpool
