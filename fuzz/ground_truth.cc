#include "bitpool/samples/ground_truth.h"

#include "bitpool/dataset/holidays.h"
#include "bitpool/dataset/neighbour_file.h"
#include "bitpool/dataset/oxford.h"
#include "fuzz_files.h"

namespace bitpool {
namespace {

void JudgeAll(const GroundTruth& truth) {
  std::vector<Judgement> judged(static_cast<size_t>(truth.database_size()));
  for (Index query = 0; query < truth.query_count(); ++query) truth.Judge(query, judged);
}

// Names of pictures, one per line.
std::vector<std::string> Lines(std::span<const uint8_t> text) {
  std::vector<std::string> lines(1);
  for (const uint8_t c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  return lines;
}

}  // namespace
}  // namespace bitpool

// The first byte says which kind: a file of neighbours, the files of Oxford, or names of Holidays.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  if (size == 0) return 0;
  fuzz::FuzzFiles files;
  std::span<const uint8_t> rest(data + 1, size - 1);
  const int kind = data[0] % 4;
  return fuzz::Try([&] {
    if (kind < 2) {
      const std::string name = kind == 0 ? "near.npy" : "near.ivecs";
      files.Add(name, rest);
      JudgeAll(LoadNeighbours(files, name, 5));
    } else if (kind == 2) {
      const std::vector<std::string> names = Lines(fuzz::TakeFile(rest));
      for (const char* file : {"a_query.txt", "a_good.txt", "a_ok.txt", "a_junk.txt"}) {
        files.Add(std::string("truth/") + file, fuzz::TakeFile(rest));
      }
      const RetrievalTask task = LoadOxfordTask(files, "truth", names);
      for (const PictureQuery& query : task.queries) {
        const Box box = query.box.value();
        if (!(box.right - box.left > 0)) __builtin_trap();
      }
      JudgeAll(task.truth);
    } else {
      JudgeAll(MakeHolidaysTask(Lines(rest)).truth);
    }
  });
}
