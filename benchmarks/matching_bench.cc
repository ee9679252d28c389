#include "matching_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/picture_match.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kMatchedQuality = 95;  // of the edited copies
constexpr Index kFromAfar = 12;      // pixels along a side

// A picture and its copies, as they are compared.
struct Sketches {
  PictureSketch original;
  std::vector<PictureSketch> copies;  // one for each edit
  VectorF from_afar;
};

PictureSketch SketchOf(const Picture& picture) {
  return SketchPicture(DecodePicture(MakeThumbnail(EncodeJpeg(picture, kMatchedQuality)), {}));
}

VectorF FromAfar(const PictureSketch& sketch) {
  const GreyImage small = Resize(sketch.levels.back(), kFromAfar, kFromAfar);
  VectorF values = Eigen::Map<const VectorF>(small.values.data(), kFromAfar * kFromAfar);
  values.array() -= values.mean();
  return values / std::max(1.0F, values.norm());
}

Sketches SketchesOf(const fs::path& file) {
  const Picture picture = DecodePicture(Env::Posix().Read(file, MaxPictureBytes()), {});
  Sketches sketches;
  sketches.original = SketchOf(picture);
  for (const PictureEdit edit : kPictureEdits) {
    sketches.copies.push_back(SketchOf(ApplyEdit(edit, picture)));
  }
  sketches.from_afar = FromAfar(sketches.original);
  return sketches;
}

std::vector<fs::path> ChooseFiles(const MatchingBenchOptions& options, const RunContext& context) {
  const std::vector<FoundPicture> found = FindPictures(Env::Posix(), options.pictures, context);
  if (found.empty()) {
    throw Error(ErrorCode::kNotFound, options.pictures.string(), "no pictures here");
  }
  const size_t count = std::min(found.size(), static_cast<size_t>(options.limit));
  std::vector<fs::path> files;
  for (size_t i = 0; i < count; ++i) {
    files.push_back(options.pictures / found[i * found.size() / count].path);
  }
  return files;
}

// The pictures that look most like one of them.
std::vector<size_t> MostAlike(const std::vector<Sketches>& pictures, size_t one, size_t count) {
  std::vector<std::pair<float, size_t>> alike;
  for (size_t i = 0; i < pictures.size(); ++i) {
    if (i != one) alike.emplace_back(-pictures[one].from_afar.dot(pictures[i].from_afar), i);
  }
  std::ranges::sort(alike);
  std::vector<size_t> nearest;
  for (size_t i = 0; i < std::min(count, alike.size()); ++i) nearest.push_back(alike[i].second);
  return nearest;
}

bool IsFound(const PictureSketch& a, const PictureSketch& b) {
  return MatchPictures(a, b).relation != PictureRelation::kDifferent;
}

double Milliseconds(std::clock_t since, size_t pairs) {
  const double seconds = static_cast<double>(std::clock() - since) / CLOCKS_PER_SEC;
  return 1000 * seconds / static_cast<double>(std::max<size_t>(pairs, 1));
}

nlohmann::json CompareCopies(const std::vector<Sketches>& pictures, const RunContext& context) {
  std::vector<std::array<bool, kPictureEdits.size()>> found(pictures.size());
  const std::clock_t start = std::clock();
  context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
    for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
      found[i][edit] = IsFound(pictures[i].original, pictures[i].copies[edit]);
    }
  });
  const size_t copies = pictures.size() * kPictureEdits.size();
  nlohmann::json edits = nlohmann::json::object();
  size_t all = 0;
  for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
    const auto count = static_cast<size_t>(
        std::ranges::count_if(found, [&](const auto& row) { return row[edit]; }));
    edits[NameOf(kPictureEdits[edit])] =
        static_cast<double>(count) / static_cast<double>(pictures.size());
    all += count;
  }
  return {{"edits", edits},
          {"all", static_cast<double>(all) / static_cast<double>(copies)},
          {"copy_ms", Milliseconds(start, copies)}};
}

nlohmann::json CompareStrangers(const std::vector<Sketches>& pictures, size_t strangers,
                                const RunContext& context) {
  std::vector<std::array<size_t, 2>> counts(pictures.size());  // pairs, and the wrong ones
  const std::clock_t start = std::clock();
  context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
    for (const size_t other : MostAlike(pictures, i, strangers)) {
      const size_t edit = counts[i][0]++;
      const Sketches& stranger = pictures[other];
      const bool edited = edit % 2 == 1;
      counts[i][1] +=
          IsFound(pictures[i].original,
                  edited ? stranger.copies[(i + edit) % kPictureEdits.size()] : stranger.original);
    }
  });
  size_t pairs = 0, wrong = 0;
  for (const auto& [all, bad] : counts) {
    pairs += all;
    wrong += bad;
  }
  return {{"strangers", pairs}, {"wrong", wrong}, {"stranger_ms", Milliseconds(start, pairs)}};
}

}  // namespace

void MatchingBenchOptions::Validate() const {
  const auto require = [](int value, const char* name) {
    if (value >= 1) return;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected 1 or more, got {}", name, value));
  };
  require(limit, "limit");
  require(strangers, "strangers");
}

nlohmann::json RunMatchingBench(const MatchingBenchOptions& options, const RunContext& context) {
  options.Validate();
  const std::vector<fs::path> files = ChooseFiles(options, context);
  std::vector<Sketches> pictures(files.size());
  {
    Progress progress = context.StartProgress("editing", "pictures", files.size());
    context.ParallelFor(files.size(), 1, [&](size_t i, size_t /*end*/) {
      pictures[i] = SketchesOf(files[i]);
      progress.Advance();
    });
  }
  nlohmann::json result = CompareCopies(pictures, context);
  result.update(CompareStrangers(pictures, static_cast<size_t>(options.strangers), context));
  result["pictures"] = pictures.size();
  return result;
}

}  // namespace bitpool::bench
