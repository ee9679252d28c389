#include "library_bench.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/random.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/library/duplicate_candidates.h"
#include "bitpool/library/library_duplicates.h"
#include "bitpool/library/picture_library.h"
#include "temporary_folder.h"

namespace bitpool::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kBits = 64;
constexpr uint64_t kNearEvery = 10;  // pictures
constexpr int kQueries = 100;
// Almost all pairs that were not made near are beyond it, and there are no pixels to tell them
// apart.
constexpr int kSearchedRadius = 10;

// The most memory the process has had since this was last called, in MB.
double TakePeakMemory() {
  double peak = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) peak = std::stod(line.substr(6)) / 1024;
  }
  std::ofstream("/proc/self/clear_refs") << 5;
  return peak;
}

// The code of a picture: every tenth has that of the picture before it, but for three bits.
std::vector<uint8_t> CodeOf(uint64_t picture) {
  const bool near = picture % kNearEvery == 1;
  uint64_t code = Random(near ? picture - 1 : picture).Next();
  if (near) code ^= 0b10101;
  std::vector<uint8_t> bytes(sizeof(code));
  std::memcpy(bytes.data(), &code, sizeof(code));
  return bytes;
}

LibraryUpdate UpdateOf(const fs::path& root, int64_t pictures) {
  LibraryUpdate update = {.root = root, .found = {}, .read = {}, .encoding = {}};
  for (int64_t i = 0; i < pictures; ++i) {
    update.found.push_back({.path = fmt::format("some/folder/{}/picture-{:08}.jpg", i / 1000, i),
                            .size = sizeof(uint64_t),
                            .mtime_ns = i});
  }
  update.read = [](const FoundPicture& found) {
    std::vector<std::byte> bytes(sizeof(found.mtime_ns));
    std::memcpy(bytes.data(), &found.mtime_ns, bytes.size());
    return bytes;
  };
  update.encoding = {.bits = kBits, .digest = "drawn", .encode = {}, .thumbnail = {}};
  update.encoding.encode = [](std::span<const std::byte> bytes) {
    uint64_t picture = 0;
    std::memcpy(&picture, bytes.data(), sizeof(picture));
    PictureCode code;
    code.code = CodeOf(picture);
    code.facts = {.width = 4000, .height = 3000, .format = "jpeg"};
    return code;
  };
  update.batch = 4096;
  return update;
}

ComparedPictures ReadCompared(const LibrarySnapshot& library) {
  ComparedPictures compared(kBits);
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    CataloguedPicture with_hash = picture;
    with_hash.perceptual_hash = Random(picture.id).Next();
    compared.Add(with_hash);
  });
  return compared;
}

class Measuring {
 public:
  template <class Action>
  void Measure(const char* name, const Action& action) {
    TakePeakMemory();
    const Stopwatch watch;
    nlohmann::json found = action();
    found["seconds"] = watch.seconds();
    found["peak_mb"] = TakePeakMemory();
    result_[name] = std::move(found);
  }
  nlohmann::json Take() { return std::move(result_); }

 private:
  nlohmann::json result_ = nlohmann::json::object();
};

nlohmann::json Update(PictureLibrary& library, const fs::path& root, int64_t pictures,
                      const RunContext& context) {
  const UpdateSummary summary = library.UpdateWith(UpdateOf(root, pictures), context);
  return {{"added", summary.added}, {"unchanged", summary.unchanged}};
}

nlohmann::json Query(const fs::path& folder, const RunContext& context) {
  const auto library = PictureLibrary::Open(Env::Posix(), folder);
  const LibrarySnapshot snapshot = library->Snapshot();
  int found = 0;
  for (uint64_t i = 0; i < kQueries; ++i) {
    PictureCode query;
    query.code = CodeOf(i);
    query.projection.setOnes(kBits);
    found += QueryLibrary(snapshot, query, {.k = 1, .order = QueryOrder::kHamming}, context)
                         .front()
                         .distance == 0
                 ? 1
                 : 0;
  }
  return {{"queries", kQueries}, {"found", found}};
}

nlohmann::json FindCandidates(const fs::path& folder, const RunContext& context) {
  const auto library = PictureLibrary::Open(Env::Posix(), folder);
  const ComparedPictures pictures = ReadCompared(library->Snapshot());
  const CandidateRadii radii = {
      .codes = DefaultDuplicateRadius(kBits, static_cast<int64_t>(pictures.size())),
      .hashes = kHashRadius};
  return {{"pairs", CandidatePairs::Find(pictures, radii, context).Count()}};
}

nlohmann::json Dedupe(const fs::path& folder, const RunContext& context) {
  const auto library = PictureLibrary::Open(Env::Posix(), folder);
  const DuplicateSearch search = {.radius = kSearchedRadius, .similar = true};
  return {{"groups", library->Duplicates(search, context).groups.size()}};
}

}  // namespace

void LibraryBenchOptions::Validate() const {
  if (pictures >= kQueries) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("pictures: expected {} or more, got {}", kQueries, pictures));
}

nlohmann::json RunLibraryBench(const LibraryBenchOptions& options, const RunContext& context) {
  options.Validate();
  const TemporaryFolder folder;
  const fs::path library = folder.path() / ".bitpool";
  Measuring measuring;
  {
    const auto opened = PictureLibrary::Create(Env::Posix(), library, folder.path());
    for (const char* name : {"index", "update"}) {
      measuring.Measure(name,
                        [&] { return Update(*opened, folder.path(), options.pictures, context); });
    }
  }
  measuring.Measure("query", [&] { return Query(library, context); });
  measuring.Measure("candidates", [&] { return FindCandidates(library, context); });
  measuring.Measure("dedupe", [&] { return Dedupe(library, context); });
  nlohmann::json result = measuring.Take();
  result["pictures"] = options.pictures;
  return result;
}

}  // namespace bitpool::bench
