#include "asymmetric_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/codes/hamming_scan.h"
#include "bitpool/index/code_index.h"
#include "code_memory.h"
#include "faiss_peer.h"
#include "float_loop.h"
#include "timings.h"

namespace bitpool::bench {
namespace {

constexpr int kRounds = 5;
constexpr Index kBatch = 256;  // queries of a batch
constexpr Index kSingle = 24;  // queries asked one at a time
constexpr Index kPeer = 4;     // queries of the plain loop and other slow ways
constexpr Index kFaiss = 16;   // queries of Faiss
constexpr Index kTwoStage = 1024;
constexpr Index kRecall = 200;
constexpr Index kCentres = 20000;
constexpr float kNoise =
    0.19F;  // of a value; its sign flips with probability arctan(0.19)/π = 0.06

// Draws codes and queries by the law the options ask for; both share the centres.
class RealLaw {
 public:
  RealLaw(const AsymmetricBenchOptions& options, Random random)
      : options_(options), random_(random) {
    if (!options.clustered) return;
    centres_ = random_.NormalMatrix(options.bits, kCentres);
    flips_.resize(static_cast<size_t>(centres_.size()));
    for (Index i = 0; i < centres_.size(); ++i) {
      const double flip = std::erfc(std::abs(centres_(i)) / kNoise / std::sqrt(2.0)) / 2;
      flips_[static_cast<size_t>(i)] = static_cast<uint32_t>(flip * 4294967295.0);
    }
  }

  MatrixF DrawQueries(Index count) {
    MatrixF normal = random_.NormalMatrix(options_.bits, count);
    if (!options_.clustered) return normal;
    MatrixF queries(options_.bits, count);
    for (Index q = 0; q < count; ++q)
      queries.col(q) = centres_.col(Centre()) + kNoise * normal.col(q);
    return queries;
  }

  std::vector<uint8_t> DrawCodes(size_t count) {
    if (!options_.clustered) return DrawUniformCodes(options_.bits, count, random_);
    const size_t bytes = BytesPerCode(options_.bits);
    std::vector<uint8_t> rows(count * bytes);
    for (size_t i = 0; i < count; ++i) {
      const Index centre = Centre();
      const uint32_t* flips = flips_.data() + centre * options_.bits;
      for (int bit = 0; bit < options_.bits; ++bit) {
        const bool one = (centres_(bit, centre) >= 0) !=
                         (static_cast<uint32_t>(random_.Next() >> 32) < flips[bit]);
        if (one)
          rows[i * bytes + static_cast<size_t>(bit) / 8] |= static_cast<uint8_t>(1 << bit % 8);
      }
    }
    return rows;
  }

 private:
  Index Centre() { return static_cast<Index>(random_.Below(kCentres)); }

  const AsymmetricBenchOptions& options_;
  Random random_;
  MatrixF centres_;
  std::vector<uint32_t> flips_;  // the probabilities, times 2³²
};

// A bit per byte, −1 or +1.
std::vector<int8_t> Unpack(const BinaryCodes& codes) {
  const auto stride = static_cast<size_t>(codes.bits());
  std::vector<int8_t> unpacked(static_cast<size_t>(codes.size()) * stride);
  for (Index i = 0; i < codes.size(); ++i) {
    const auto code = codes.code(i);
    for (size_t bit = 0; bit < stride; ++bit) {
      const bool one = (code[bit / 8] >> (bit % 8) & 1) != 0;
      unpacked[static_cast<size_t>(i) * stride + bit] = one ? 1 : -1;
    }
  }
  return unpacked;
}

// The share of the k best that two stages find.
double Recall(const CodeIndex& exact, const CodeIndex& tables, const MatrixF& queries, int64_t k,
              const RealSearchOptions& two_stage, const RunContext& context) {
  const RealSearchResult best = exact.SearchReal(queries, k, {}, context);
  const RealSearchResult found = tables.SearchReal(queries, k, two_stage, context);
  Index hits = 0;
  for (Index q = 0; q < queries.cols(); ++q) {
    for (const ScoredNeighbour& one : best.of(q))
      hits += std::ranges::count(found.of(q), one.id, &ScoredNeighbour::id);
  }
  return static_cast<double>(hits) / static_cast<double>(best.neighbours.size());
}

}  // namespace

void AsymmetricBenchOptions::Validate() const {
  RequireBits(bits);
  if (codes < 1 || k < 1 || candidates < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes {}, k {} and candidates {}: expected numbers from 1", codes, k,
                            candidates));
  }
}

nlohmann::json RunAsymmetricBench(const AsymmetricBenchOptions& options,
                                  const RunContext& context) {
  options.Validate();
  RealLaw law(options, context.MakeRandom());
  const BinaryCodes codes(options.bits, law.DrawCodes(static_cast<size_t>(options.codes)));
  const MatrixF queries = law.DrawQueries(kBatch);
  const BinaryCodes signs = BinaryCodes::FromSigns(queries);
  const std::unique_ptr<CodeIndex> index = MakeIndex(codes, IndexKind::kFlat, context);
  const std::span<const uint8_t> scanned = index->Snapshot().Compacted()->blocks();
  const std::vector<int8_t> unpacked = Unpack(codes);
  const auto peer = MakeFaissFastScan(options.bits, codes.rows(), context.threads());
  const auto single = [&](Index q) {
    const auto code = signs.code(q);
    return BinaryCodes(options.bits, std::vector<uint8_t>(code.begin(), code.end()));
  };

  std::vector<std::pair<std::string, double>> ways;  // name and units of one run
  Timings timings;
  const auto add = [&](const char* name, double units, std::function<void()> run) {
    ways.emplace_back(name, units);
    timings.Add(name, std::move(run));
  };
  volatile int64_t sink = 0;  // keeps the plain loops from being dropped
  add("ours_batch_qps", kBatch, [&] { index->SearchReal(queries, options.k, {}, context); });
  add("hamming_batch_qps", kBatch, [&] { index->Search(signs, options.k, context); });
  add("ours_single_qps", kSingle, [&] {
    for (Index q = 0; q < kSingle; ++q)
      index->SearchReal(queries.middleCols(q, 1), options.k, {}, context);
  });
  add("hamming_single_qps", kSingle, [&] {
    for (Index q = 0; q < kSingle; ++q) index->Search(single(q), options.k, context);
  });
  // Takes as long as the single queries, so that a busy machine slows both alike.
  add("stream_gb_per_s", static_cast<double>(scanned.size()) * kSingle / 1e9, [&] {
    for (Index q = 0; q < kSingle; ++q) sink = static_cast<int64_t>(ReadAll(scanned, context));
  });
  add("float_loop_qps", kPeer, [&] {
    for (Index q = 0; q < kPeer; ++q) {
      sink = FloatLoop(unpacked, {queries.col(q).data(), static_cast<size_t>(options.bits)},
                       static_cast<size_t>(options.k));
    }
  });
  if (peer) {
    add("faiss_pq_fastscan_qps", kFaiss, [&] {
      peer->Search({queries.data(), static_cast<size_t>(kFaiss * options.bits)}, options.k);
    });
  }
  std::unique_ptr<CodeIndex> tables;
  MatrixF many;
  const RealSearchOptions two_stage = {.how = RealSearch::kTwoStage,
                                       .candidates = options.candidates};
  if (options.two_stage) {
    tables = MakeIndex(codes, IndexKind::kMultiIndex, context);
    many = law.DrawQueries(options.clustered ? kTwoStage : kPeer);
    add("two_stage_qps", static_cast<double>(many.cols()),
        [&] { tables->SearchReal(many, options.k, two_stage, context); });
    add("tables_exact_batch_qps", kBatch,
        [&] { tables->SearchReal(queries, options.k, {.how = RealSearch::kExact}, context); });
    add("tables_exact_single_qps", kPeer, [&] {
      for (Index q = 0; q < kPeer; ++q) {
        tables->SearchReal(queries.middleCols(q, 1), options.k, {.how = RealSearch::kExact},
                           context);
      }
    });
  }
  timings.Run(kRounds, context);

  nlohmann::json result = {{"bits", options.bits},
                           {"codes", options.codes},
                           {"k", options.k},
                           {"threads", context.threads()},
                           {"clustered", options.clustered},
                           {"target", ScanTargetName()},
                           {"faiss_pq_fastscan_qps", nullptr}};
  for (const auto& [name, units] : ways) result[name] = units / timings.best(name);
  result["ours_single_gb_per_s"] =
      result["ours_single_qps"].get<double>() * static_cast<double>(scanned.size()) / 1e9;
  result["ours_single_of_stream"] =
      result["ours_single_gb_per_s"].get<double>() / result["stream_gb_per_s"].get<double>();
  if (options.two_stage) {
    result["candidates"] = options.candidates;
    result["two_stage_recall"] =
        Recall(*index, *tables, law.DrawQueries(kRecall), options.k, two_stage, context);
  }
  return result;
}

}  // namespace bitpool::bench
