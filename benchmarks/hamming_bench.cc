#include "hamming_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/aligned_bytes.h"
#include "bitpool/codes/hamming_scan.h"
#include "bitpool/index/code_index.h"
#include "code_memory.h"
#include "faiss_peer.h"
#include "row_popcount_peer.h"

namespace bitpool::bench {
namespace {

constexpr int kHammingRounds = 5;
constexpr size_t kHammingBatch = 256;  // queries of a batch
constexpr size_t kHammingSingle = 24;  // queries asked one at a time
constexpr size_t kLookUps = 4096;      // queries of the multi-index and its peer, which are fast
constexpr size_t kHammingPeer = 16;    // queries of the slow peers
constexpr size_t kHammingCentres = 20000;
constexpr double kFlip = 0.06;

// Draws codes by the law the options ask for; codes and queries share the centres.
class CodeLaw {
 public:
  CodeLaw(const HammingBenchOptions& options, Random random) : options_(options), random_(random) {
    if (options.clustered) centres_ = DrawUniformCodes(options.bits, kHammingCentres, random_);
  }

  std::vector<uint8_t> Draw(size_t count) {
    if (!options_.clustered) return DrawUniformCodes(options_.bits, count, random_);
    std::vector<uint8_t> rows(count * bytes());
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&rows[i * bytes()], &centres_[random_.Below(kHammingCentres) * bytes()], bytes());
      FlipBits(&rows[i * bytes()]);
    }
    return rows;
  }

 private:
  size_t bytes() const { return BytesPerCode(options_.bits); }

  // Steps from one flipped bit to the next, which are geometrically distributed.
  void FlipBits(uint8_t* code) {
    const auto bits = static_cast<uint64_t>(options_.bits);
    for (uint64_t i = Skip(); i < bits; i += 1 + Skip()) {
      code[i / 8] = static_cast<uint8_t>(code[i / 8] ^ 1 << (i % 8));
    }
  }
  uint64_t Skip() {
    return static_cast<uint64_t>(std::log(1 - random_.Uniform()) / std::log1p(-kFlip));
  }

  const HammingBenchOptions& options_;
  Random random_;
  std::vector<uint8_t> centres_;
};

// The plain scan: one word at a time with the hardware's popcount and a heap of the k best, as
// Faiss does it.
template <class Word>
[[gnu::target("popcnt")]] int64_t PlainScan(const uint8_t* rows, size_t count, size_t words,
                                            const uint8_t* query, size_t k) {
  std::vector<std::pair<int, int64_t>> heap(k, {INT32_MAX, -1});
  Word q[kMaxBits / 8 / sizeof(Word)] = {};
  std::memcpy(q, query, words * sizeof(Word));
  for (size_t i = 0; i < count; ++i) {
    int distance = 0;
    for (size_t w = 0; w < words; ++w) {
      Word x;
      std::memcpy(&x, rows + (i * words + w) * sizeof(Word), sizeof(Word));
      distance += std::popcount(static_cast<Word>(x ^ q[w]));
    }
    if (distance < heap.front().first) {
      std::pop_heap(heap.begin(), heap.end());
      heap.back() = {distance, static_cast<int64_t>(i)};
      std::push_heap(heap.begin(), heap.end());
    }
  }
  return heap.front().second;
}

int64_t RunPlainScan(std::span<const uint8_t> rows, size_t bytes, const uint8_t* query, size_t k) {
  const size_t count = rows.size() / bytes;
  // With the number of words known, as a careful program would have it for the usual lengths.
  if (bytes == 8) return PlainScan<uint64_t>(rows.data(), count, 1, query, k);
  if (bytes == 16) return PlainScan<uint64_t>(rows.data(), count, 2, query, k);
  if (bytes == 32) return PlainScan<uint64_t>(rows.data(), count, 4, query, k);
  if (bytes % 8 == 0) return PlainScan<uint64_t>(rows.data(), count, bytes / 8, query, k);
  if (bytes == 4) return PlainScan<uint32_t>(rows.data(), count, 1, query, k);
  return PlainScan<uint8_t>(rows.data(), count, bytes, query, k);
}

// One query of the row-wise peer, its codes shared among the threads as ours are. The answers of
// the threads are not merged, which would take no time.
int64_t SplitRowPopcount(std::span<const uint8_t> rows, size_t bytes, const uint8_t* query,
                         size_t k, const RunContext& context) {
  const size_t count = rows.size() / bytes;
  const auto threads = static_cast<size_t>(context.threads());
  std::atomic<int64_t> sum = 0;
  context.pool().ParallelFor(count, (count + threads - 1) / threads, [&](size_t begin, size_t end) {
    sum += RowPopcountScan(rows.subspan(begin * bytes, (end - begin) * bytes), bytes, query, k);
  });
  return sum;
}

// One way of searching, run once per round; the best rate counts.
struct Way {
  const char* name;
  double units;  // queries or GB of one run
  std::function<void()> run;
  double best = 0;
};

void Measure(std::vector<Way>& ways, const RunContext& context) {
  Progress progress = context.StartProgress("measuring", "runs", kHammingRounds * ways.size());
  for (int round = 0; round < kHammingRounds; ++round) {
    for (Way& way : ways) {
      context.ThrowIfStopped();
      const Stopwatch watch;
      way.run();
      way.best = std::max(way.best, way.units / watch.seconds());
      progress.Advance();
    }
  }
}

}  // namespace

void HammingBenchOptions::Validate() const {
  RequireBits(bits);
  if (codes < 1 || k < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("codes {} and k {}: expected numbers from 1", codes, k));
  }
}

nlohmann::json RunHammingBench(const HammingBenchOptions& options, const RunContext& context) {
  options.Validate();
  const size_t bytes = BytesPerCode(options.bits);
  const auto count = static_cast<size_t>(options.codes);
  CodeLaw law(options, context.MakeRandom());
  const BinaryCodes codes(options.bits, law.Draw(count));
  const BinaryCodes queries(options.bits, law.Draw(kHammingBatch));
  const BinaryCodes many(options.bits, law.Draw(kLookUps));
  const std::unique_ptr<CodeIndex> index = MakeIndex(codes, IndexKind::kFlat, context);
  const std::unique_ptr<CodeIndex> tables = MakeIndex(codes, IndexKind::kMultiIndex, context);
  std::vector<BinaryCodes> singles;
  for (size_t i = 0; i < kHammingSingle; ++i) {
    const auto code = queries.code(static_cast<Index>(i));
    singles.emplace_back(options.bits, std::vector<uint8_t>(code.begin(), code.end()));
  }
  const auto flat_peer = MakeFaissFlat(options.bits, codes.rows(), context.threads());
  const auto hash_peer = MakeFaissMultiHash(options.bits, codes.rows(), context.threads());
  const std::span<const uint8_t> peer_queries = queries.rows().first(kHammingPeer * bytes);
  const auto gigabytes = static_cast<double>(count * bytes) / 1e9;
  const std::span<const uint8_t> scanned = index->Snapshot().Compacted()->blocks();

  // Where look-ups are no faster than a scan, thousands of them would take minutes.
  const size_t look_ups = options.clustered ? kLookUps : kHammingPeer;
  const BinaryCodes asked(
      options.bits,
      {many.rows().begin(), many.rows().begin() + static_cast<ptrdiff_t>(look_ups * bytes)});

  volatile int64_t sink = 0;  // keeps the plain loops from being dropped
  std::vector<Way> ways;
  ways.push_back({.name = "scan_qps", .units = kHammingPeer, .run = [&] {
                    context.pool().ParallelFor(kHammingPeer, 1, [&](size_t q, size_t) {
                      sink = RunPlainScan(codes.rows(), bytes,
                                          queries.code(static_cast<Index>(q)).data(),
                                          static_cast<size_t>(options.k));
                    });
                  }});
  ways.push_back({.name = "ours_batch_qps", .units = kHammingBatch, .run = [&] {
                    index->Search(queries, options.k, context);
                  }});
  ways.push_back({.name = "ours_single_qps", .units = kHammingSingle, .run = [&] {
                    for (const BinaryCodes& query : singles)
                      index->Search(query, options.k, context);
                  }});
  // Takes as long as the single queries, so that a busy machine slows both alike.
  ways.push_back({.name = "stream_gb_per_s",
                  .units = static_cast<double>(scanned.size()) * kHammingSingle / 1e9,
                  .run = [&] {
                    for (size_t i = 0; i < kHammingSingle; ++i)
                      sink = static_cast<int64_t>(ReadAll(scanned, context));
                  }});
  AlignedBytes rows;  // on large pages, as ours are
  if (HaveRowPopcount(bytes)) {
    rows = AlignedBytes(codes.rows().size());
    std::copy(codes.rows().begin(), codes.rows().end(), rows.data());
    ways.push_back({.name = "row_popcount_qps", .units = kHammingSingle, .run = [&] {
                      for (size_t i = 0; i < kHammingSingle; ++i) {
                        sink = SplitRowPopcount(rows.bytes(), bytes,
                                                queries.code(static_cast<Index>(i)).data(),
                                                static_cast<size_t>(options.k), context);
                      }
                    }});
  }
  ways.push_back({.name = "mih_qps", .units = static_cast<double>(look_ups), .run = [&] {
                    tables->Search(asked, options.k, context);
                  }});
  if (flat_peer) {
    ways.push_back({.name = "faiss_flat_qps", .units = kHammingPeer, .run = [&] {
                      flat_peer->Search(peer_queries, options.k);
                    }});
  }
  if (hash_peer) {
    ways.push_back({.name = "faiss_multihash_qps",
                    .units = static_cast<double>(look_ups),
                    .run = [&] { hash_peer->Search(asked.rows(), options.k); }});
  }
  Measure(ways, context);

  nlohmann::json result = {{"bits", options.bits},
                           {"codes", options.codes},
                           {"k", options.k},
                           {"threads", context.threads()},
                           {"clustered", options.clustered},
                           {"target", ScanTargetName()},
                           {"mih_bytes_per_code", static_cast<double>(tables->table_bytes()) /
                                                      static_cast<double>(count)},
                           {"row_popcount_qps", nullptr},
                           {"row_popcount_gb_per_s", nullptr},
                           {"ours_single_of_row_popcount", nullptr},
                           {"faiss_flat_qps", nullptr},
                           {"faiss_multihash_qps", nullptr}};
  for (const Way& way : ways) result[way.name] = way.best;
  const auto single = result["ours_single_qps"].get<double>();
  result["ours_single_gb_per_s"] = single * gigabytes;
  result["ours_single_of_stream"] = single * gigabytes / result["stream_gb_per_s"].get<double>();
  if (HaveRowPopcount(bytes)) {
    const auto row_wise = result["row_popcount_qps"].get<double>();
    result["row_popcount_gb_per_s"] = row_wise * gigabytes;
    result["ours_single_of_row_popcount"] = single / row_wise;
  }
  return result;
}

}  // namespace bitpool::bench
