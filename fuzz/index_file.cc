#include "bitpool/index/index_file.h"

#include <string>

#include "bitpool/io/forged_container.h"
#include "fuzz.h"

namespace bitpool {
namespace {

// A file system of one file, whose bytes are the input. Nothing is written.
class OneFile : public Env {
 public:
  explicit OneFile(std::shared_ptr<const FileView> file) : file_(std::move(file)) {}

  std::shared_ptr<const FileView> Map(const std::filesystem::path&) override { return file_; }
  std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path&) override { Fail(); }
  void Rename(const std::filesystem::path&, const std::filesystem::path&) override { Fail(); }
  void Remove(const std::filesystem::path&) override { Fail(); }
  void SyncFolder(const std::filesystem::path&) override { Fail(); }
  void MakeFolders(const std::filesystem::path&) override { Fail(); }
  bool Exists(const std::filesystem::path&) override { return true; }
  bool IsFolder(const std::filesystem::path&) override { return false; }
  std::vector<std::string> List(const std::filesystem::path&) override { Fail(); }

 private:
  [[noreturn]] static void Fail() { __builtin_trap(); }

  std::shared_ptr<const FileView> file_;
};

// Queries of all zeros, all ones and alternating bits.
MatrixF MakeQueries(int bits) {
  MatrixF queries(bits, 3);
  for (int i = 0; i < bits; ++i) queries.row(i) << -1, 1, static_cast<float>(i % 2 == 0 ? i : -i);
  return queries;
}

// Answers may not be wrong where the codes are not known to be: ids are those of the index, once
// each.
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
  index.Compacted();
}

}  // namespace
}  // namespace bitpool

// Half of the inputs are taken as they are; in the others the checksums are made right first, so
// that the checks behind them are reached.
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
    OneFile file(fuzz::View(begin, bytes.size()));
    const auto index = OpenIndex(file, "input", true, context);
    SearchAllWays(*index, context);
  });
}
