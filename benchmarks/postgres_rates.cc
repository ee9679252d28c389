// What a catalogue in PostgreSQL costs: `postgres_rates ADDRESS [CODES]`, the address being that of
// an empty database. Publishes 100,000 pictures at once while a reader looks, and searches CODES
// (1,000,000) codes of 64 bits in SQL and in the index.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/code_table.h"
#include "bitpool/catalog/postgres_database.h"
#include "bitpool/index/code_index.h"

namespace bitpool {
namespace {

constexpr int kBits = 64;
constexpr uint64_t kPictures = 100'000;
constexpr int kQueries = 7;
constexpr int kNearest = 10;

std::vector<uint8_t> DrawCode(Random& random) {
  std::vector<uint8_t> code(kBits / 8);
  for (uint8_t& byte : code) byte = static_cast<uint8_t>(random.Below(256));
  return code;
}

std::string AsBitString(std::span<const uint8_t> code) {
  std::string text;
  for (int bit = 0; bit < kBits; ++bit) {
    text += (code[static_cast<size_t>(bit) / 8] >> (bit % 8) & 1) != 0 ? '1' : '0';
  }
  return text;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// False when a reader saw a part of the pictures.
bool Publish(const std::string& address) {
  Random random(1);
  std::vector<CataloguedPicture> pictures(kPictures);
  for (uint64_t i = 0; i < kPictures; ++i) {
    pictures[i] = {.path = fmt::format("2024/07/IMG_{:06}.jpg", i),
                   .size = 3'000'000 + i,
                   .modified_ns = 1'700'000'000'000'000'000,
                   .content_hash = random.Next(),
                   .code = DrawCode(random),
                   .width = 4000,
                   .height = 3000,
                   .failure = ""};
  }
  const auto catalogue = OpenCatalogue(address, CatalogueAccess::kCreate);
  std::atomic<bool> done = false;
  std::set<uint64_t> seen;
  std::jthread reader([&] {
    const auto other = OpenCatalogue(address, CatalogueAccess::kRead);
    while (!done) seen.insert(other->Snapshot()->Count());
  });
  const Stopwatch watch;
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  batch->PutAll(pictures);
  batch->Commit();
  const double seconds = watch.seconds();
  done = true;
  reader.join();
  seen.erase(0);
  seen.erase(kPictures);
  fmt::print("published {} pictures in {:.2f} s: {:.0f} rows/s; a reader saw {}\n", kPictures,
             seconds, static_cast<double>(kPictures) / seconds,
             seen.empty() ? "all or nothing" : "a part of them");
  return seen.empty();
}

// False when the two do not find the same distances.
bool Search(const std::string& address, int64_t count) {
  Random random(2);
  BinaryCodes codes(kBits), queries(kBits);
  for (int64_t i = 0; i < count; ++i) codes.Append(DrawCode(random));
  for (int i = 0; i < kQueries; ++i) queries.Append(DrawCode(random));
  const Stopwatch writing;
  CodeTable table(address, "codes", kBits, false, true);
  for (Index i = 0; i < codes.size(); ++i) table.Add(i, codes.code(i));
  table.Finish();
  fmt::print("exported {} codes in {:.2f} s\n", count, writing.seconds());
  const RunContext context({.threads = 1});
  const auto index = MakeIndex(codes, IndexKind::kFlat, context);
  PostgresDatabase database(address);
  database.Execute("SET max_parallel_workers_per_gather = 0");
  std::vector<double> in_sql, in_index;
  bool same = true;
  for (Index i = 0; i < kQueries; ++i) {
    const BinaryCodes query(kBits, {queries.code(i).begin(), queries.code(i).end()});
    const std::string bits = AsBitString(query.code(0));
    const Stopwatch sql_watch;
    const PostgresResult found = database.QueryOnce(fmt::format(
        "SELECT id, bit_count(code # B'{}') FROM codes ORDER BY 2, 1 LIMIT {}", bits, kNearest));
    in_sql.push_back(sql_watch.seconds());
    const Stopwatch index_watch;
    const SearchResult result = index->Search(query, kNearest, context);
    in_index.push_back(index_watch.seconds());
    for (int rank = 0; rank < kNearest; ++rank) {
      same = same && found.Number(rank, 0) == result.of(0)[static_cast<size_t>(rank)].id;
    }
  }
  fmt::print(
      "{} nearest of {} codes of {} bits, one thread, median of {}: SQL {:.1f} ms, index {:.3f} "
      "ms, {:.0f} "
      "times; the same pictures: {}\n",
      kNearest, count, kBits, kQueries, 1e3 * Median(in_sql), 1e3 * Median(in_index),
      Median(in_sql) / Median(in_index), same ? "yes" : "NO");
  return same;
}

}  // namespace
}  // namespace bitpool

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: postgres_rates ADDRESS [CODES]\n");
    return 2;
  }
  try {
    const bool whole = bitpool::Publish(argv[1]);
    const bool same = bitpool::Search(argv[1], argc > 2 ? std::atoll(argv[2]) : 1'000'000);
    return whole && same ? 0 : 1;
  } catch (const bitpool::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
