#include "bitpool/index/index_file.h"

#include <string>

#include "bitpool/io/forged_container.h"
#include "fuzz.h"

namespace bitpool {
namespace {

// Queries of all zeros, all ones and alternating bits.
MatrixF MakeQueries(int bits) {
  MatrixF queries(bits, 3);
  for (int i = 0; i < bits; ++i) queries.row(i) << -1, 1, static_cast<float>(i % 2 == 0 ? i : -i);
  return queries;
}

// Where no damage was found, answers must be sound: ids are those of the index.
void SearchAllWays(CodeIndex& index, const RunContext& context) {
  const MatrixF weights = MakeQueries(index.bits());
  const BinaryCodes queries = BinaryCodes::FromSigns(weights);
  const int64_t k = 5;
  int64_t some_id = 0;
  for (const Neighbour& found : index.Search(queries, k, context).neighbours) {
    if (found.id < 0) continue;
    if (!index.Contains(found.id)) __builtin_trap();
    some_id = found.id;
  }
  for (const RealSearch how : {RealSearch::kExact, RealSearch::kTwoStage}) {
    for (const ScoredNeighbour& found :
         index.SearchReal(weights, k, {.how = how, .candidates = 2}, context).neighbours) {
      if (found.id >= 0 && !index.Contains(found.id)) __builtin_trap();
    }
  }
  index.RangeSearch(queries, 2, context);
  if (index.size() < 1000) index.FindPairs(1, context, [](std::span<const IdPair>) {});
  index.Remove(some_id);
  index.Replace(some_id, queries.code(2));
  if (!index.Contains(some_id)) __builtin_trap();
  index.Snapshot().Compacted();
}

}  // namespace
}  // namespace bitpool

// Half of the inputs are taken as they are; in the others the checksums are corrected first, so
// that the checks after them are reached.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  const bool reseal = size >= testing::kHeaderBytes && size % 2 == 0;
  if (reseal) {
    testing::ResealSections(bytes);
    testing::Reseal(bytes);
  }
  return fuzz::Try([&] {
    static const RunContext context({.threads = 1});
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const IndexFile file = IndexFile::Parse(fuzz::View(begin, bytes.size()));
    (void)file.next_id();
    (void)file.digest();
    const auto index = file.Load(true, context);
    SearchAllWays(*index, context);
  });
}
