#include "bitpool/metrics/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/code_blocks.h"
#include "bitpool/codes/hamming_scan.h"

namespace bitpool {
namespace {

constexpr size_t kQueriesAtOnce = 2 * kScanGroup;
constexpr size_t kTileBlocks = 64;  // scanned for a group of queries before going on

// Sums over the queries of a chunk that have a relevant item.
struct Sums {
  Index counted = 0;
  std::vector<double> precision_at;
  std::vector<double> recall_at;
  std::vector<RadiusPoint> curve;

  void Clear(size_t levels, size_t radii) {
    counted = 0;
    precision_at.assign(levels, 0);
    recall_at.assign(levels, 0);
    curve.assign(radii, {});
  }

  void Add(const Ranking& ranking, const std::vector<Index>& at) {
    ++counted;
    for (size_t i = 0; i < at.size(); ++i) {
      precision_at[i] += PrecisionAt(ranking, at[i]);
      recall_at[i] += RecallAt(ranking, at[i]);
    }
  }

  void AddCurve(const Ranking& by_radius) {
    const std::vector<CurvePoint> points = PrecisionRecallCurve(by_radius);
    for (size_t i = 0; i < curve.size(); ++i) {
      curve[i].precision += points[i].precision;
      curve[i].recall += points[i].recall;
      curve[i].answered += points[i].items > 0 ? 1 : 0;
    }
  }

  void Merge(const Sums& other) {
    counted += other.counted;
    for (size_t i = 0; i < precision_at.size(); ++i) {
      precision_at[i] += other.precision_at[i];
      recall_at[i] += other.recall_at[i];
    }
    for (size_t i = 0; i < curve.size(); ++i) {
      curve[i].precision += other.curve[i].precision;
      curve[i].recall += other.curve[i].recall;
      curve[i].answered += other.curve[i].answered;
    }
  }
};

// Takes the rankings of queries from many threads and ends in an Evaluation.
class Evaluator {
 public:
  Evaluator(const GroundTruth& truth, const Protocol& protocol, size_t radii,
            const RunContext& context)
      : truth_(truth), protocol_(protocol), radii_(radii), context_(context) {
    protocol.Validate();
    evaluation_.ap.resize(static_cast<size_t>(truth.query_count()));
  }

  // run(begin, end, sums) calls Add for each query in [begin, end).
  template <class Run>
  Evaluation ForEachChunk(const Run& run) {
    Progress progress = context_.StartProgress("evaluating", "queries", evaluation_.ap.size());
    Sums all;
    all.Clear(protocol_.at.size(), radii_);
    context_.pool().OrderedReduce(
        evaluation_.ap.size(), kQueriesAtOnce, Sums(),
        [&](Sums& part, size_t begin, size_t end) {
          context_.ThrowIfStopped();
          part.Clear(protocol_.at.size(), radii_);
          run(begin, end, part);
          progress.Advance(end - begin);
        },
        [&](const Sums& part) { all.Merge(part); });
    return Means(all);
  }

  // `by_radius` has the groups as they are where a curve is wanted; `ranking` has ties broken.
  void Add(size_t query, const Ranking& ranking, const Ranking* by_radius, Sums& sums) {
    evaluation_.ap[query] = AveragePrecision(ranking, protocol_.ap);
    if (ranking.relevant == 0) return;
    sums.Add(ranking, protocol_.at);
    if (by_radius != nullptr) sums.AddCurve(*by_radius);
  }

 private:
  Evaluation Means(const Sums& sums) {
    const auto counted = static_cast<double>(sums.counted);
    double total = 0;
    for (const double ap : evaluation_.ap) total += std::isnan(ap) ? 0 : ap;
    evaluation_.mean_ap = total / counted;
    evaluation_.queries_without_relevant = truth_.query_count() - sums.counted;
    for (const double sum : sums.precision_at) evaluation_.precision_at.push_back(sum / counted);
    for (const double sum : sums.recall_at) evaluation_.recall_at.push_back(sum / counted);
    for (const RadiusPoint& sum : sums.curve) {
      evaluation_.curve.push_back({.precision = sum.precision / counted,
                                   .recall = sum.recall / counted,
                                   .answered = sum.answered / counted});
    }
    return std::move(evaluation_);
  }

  const GroundTruth& truth_;
  const Protocol& protocol_;
  size_t radii_;
  const RunContext& context_;
  Evaluation evaluation_;
};

// Codes in the layout of the scanning kernels, from which all distances are read.
class ScannedCodes {
 public:
  explicit ScannedCodes(const BinaryCodes& codes)
      : bits_(codes.bits()),
        count_(static_cast<size_t>(codes.size())),
        bytes_per_code_(codes.bytes_per_code()),
        block_count_((count_ + kBlockCodes - 1) / kBlockCodes),
        blocks_(block_count_ * BlockBytes(bytes_per_code_)) {
    for (size_t block = 0; block < block_count_; ++block) {
      const size_t first = block * kBlockCodes;
      const size_t lanes = std::min(kBlockCodes, count_ - first);
      PackBlock(codes.rows().subspan(first * bytes_per_code_, lanes * bytes_per_code_),
                bytes_per_code_, Block(block));
    }
  }

  // Fills distances[i] with those of all codes to query i.
  // REQUIRES: at most kScanGroup queries, as many distances as queries.
  void Distances(std::span<const uint8_t> query_rows,
                 std::span<std::vector<uint16_t>> distances) const {
    const ScanQueries queries(query_rows, bytes_per_code_);
    std::array<std::vector<ScanHit>, kScanGroup> hits;
    for (size_t i = 0; i < queries.size(); ++i) {
      hits[i].resize(kTileBlocks * kBlockCodes);
      distances[i].resize(count_);
    }
    for (size_t block = 0; block < block_count_; block += kTileBlocks) {
      ScanTile(block, queries, hits, distances);
    }
  }

 private:
  const uint8_t* Block(size_t block) const {
    return blocks_.data() + block * BlockBytes(bytes_per_code_);
  }
  uint8_t* Block(size_t block) { return blocks_.data() + block * BlockBytes(bytes_per_code_); }

  void ScanTile(size_t block, const ScanQueries& queries,
                std::array<std::vector<ScanHit>, kScanGroup>& hits,
                std::span<std::vector<uint16_t>> distances) const {
    std::array<ScanRequest, kScanGroup> requests = {};
    for (size_t i = 0; i < queries.size(); ++i) {
      requests[i] = {.query = i, .threshold = bits_, .hits = hits[i].data(), .hit_count = 0};
    }
    ScanBlocks(Block(block), std::min(kTileBlocks, block_count_ - block), queries,
               std::span(requests).first(queries.size()));
    // Every code is within the threshold, so the hits are all codes in order, and after the last
    // one the unused lanes.
    const size_t first = block * kBlockCodes;
    for (size_t i = 0; i < queries.size(); ++i) {
      const size_t codes = std::min(requests[i].hit_count, count_ - first);
      uint16_t* out = distances[i].data() + first;
      for (size_t j = 0; j < codes; ++j) out[j] = static_cast<uint16_t>(hits[i][j].distance);
    }
  }

  int bits_;
  size_t count_;
  size_t bytes_per_code_;
  size_t block_count_;
  AlignedBytes blocks_;
};

// −h·b of any code, looked up byte by byte: the same sum in the same order for equal codes, so that
// they tie.
class WeighedBits {
 public:
  explicit WeighedBits(const VectorF& weights)
      : sums_(BytesPerCode(static_cast<int>(weights.size()))) {
    for (Index bit = 0; bit < weights.size(); ++bit) {
      std::array<double, 256>& sums = sums_[static_cast<size_t>(bit / 8)];
      for (size_t byte = 0; byte < sums.size(); ++byte) {
        const bool set = (byte >> (bit % 8) & 1) != 0;
        sums[byte] -= set ? weights[bit] : -weights[bit];
      }
    }
  }

  float Distance(std::span<const uint8_t> code) const {
    double sum = 0;
    for (size_t i = 0; i < code.size(); ++i) sum += sums_[i][code[i]];
    return static_cast<float>(sum);
  }

 private:
  std::vector<std::array<double, 256>> sums_;
};

void RequireEqual(Index got, Index expected, std::string_view what, std::string_view whose) {
  if (got == expected) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("{}: {}, but {} {}", what, got, whose, expected));
}

}  // namespace

Evaluation EvaluateCodes(const BinaryCodes& database, const BinaryCodes& queries,
                         const GroundTruth& truth, const Protocol& protocol,
                         const RunContext& context) {
  RequireEqual(queries.bits(), database.bits(), "bits of the queries' codes",
               "the database's codes have");
  RequireEqual(database.size(), truth.database_size(), "codes of the database",
               "the ground truth judges");
  RequireEqual(queries.size(), truth.query_count(), "codes of the queries",
               "the ground truth has queries:");
  const int bits = database.bits();
  const ScannedCodes codes(database);
  Evaluator evaluator(truth, protocol, static_cast<size_t>(bits) + 1, context);
  return evaluator.ForEachChunk([&](size_t begin, size_t end, Sums& sums) {
    std::vector<Judgement> judgements(static_cast<size_t>(database.size()));
    std::array<std::vector<uint16_t>, kScanGroup> distances;
    for (size_t first = begin; first < end; first += kScanGroup) {
      const size_t count = std::min(kScanGroup, end - first);
      const size_t bytes = queries.bytes_per_code();
      codes.Distances(queries.rows().subspan(first * bytes, count * bytes),
                      std::span(distances).first(count));
      for (size_t i = 0; i < count; ++i) {
        truth.Judge(static_cast<Index>(first + i), judgements);
        const Ranking by_radius = RankByHamming(distances[i], judgements, bits);
        const Ranking ranking = protocol.ties == TiePolicy::kInputOrder
                                    ? RankByHammingInOrder(distances[i], judgements, bits)
                                    : BreakTies(by_radius, protocol.ties);
        evaluator.Add(first + i, ranking, &by_radius, sums);
      }
    }
  });
}

Evaluation EvaluateAsymmetric(const BinaryCodes& database, const MatrixFRef& weights,
                              const GroundTruth& truth, const Protocol& protocol,
                              const RunContext& context) {
  RequireEqual(weights.rows(), database.bits(), "weights of each query",
               "the database's codes have bits:");
  RequireEqual(database.size(), truth.database_size(), "codes of the database",
               "the ground truth judges");
  RequireEqual(weights.cols(), truth.query_count(), "weighed queries",
               "the ground truth has queries:");
  const auto distances = [&](Index query, std::span<float> out) {
    const WeighedBits weighed(weights.col(query));
    for (size_t i = 0; i < out.size(); ++i) {
      out[i] = weighed.Distance(database.code(static_cast<Index>(i)));
    }
  };
  return EvaluateDistances(distances, truth, protocol, context);
}

Evaluation EvaluateDistances(const DistanceFunction& distances, const GroundTruth& truth,
                             const Protocol& protocol, const RunContext& context) {
  const auto size = static_cast<size_t>(truth.database_size());
  Evaluator evaluator(truth, protocol, 0, context);
  return evaluator.ForEachChunk([&](size_t begin, size_t end, Sums& sums) {
    std::vector<Judgement> judgements(size);
    std::vector<float> values(size);
    for (size_t query = begin; query < end; ++query) {
      distances(static_cast<Index>(query), values);
      truth.Judge(static_cast<Index>(query), judgements);
      InContext(fmt::format("query {}", query), [&] {
        const Ranking ranking = protocol.ties == TiePolicy::kInputOrder
                                    ? RankByDistanceInOrder(values, judgements)
                                    : BreakTies(RankByDistance(values, judgements), protocol.ties);
        evaluator.Add(query, ranking, nullptr, sums);
      });
    }
  });
}

}  // namespace bitpool
