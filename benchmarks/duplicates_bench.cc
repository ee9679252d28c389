#include "duplicates_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/perceptual_hash.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/library/library_coder.h"
#include "bitpool/library/library_duplicates.h"
#include "bitpool/library/picture_examination.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"
#include "temporary_folder.h"

namespace bitpool::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kSavedQuality = 95;  // of the edited copies
// Share of pairs that are to be right at the radius of the perceptual hash.
constexpr double kHashPrecision = 0.995;

// Links to the first pictures under numbers, which keep their order.
void LinkPictures(const DuplicatesBenchOptions& options, const fs::path& folder,
                  const RunContext& context) {
  const std::vector<FoundPicture> found = FindPictures(Env::Posix(), options.pictures, context);
  if (found.empty()) {
    throw Error(ErrorCode::kNotFound, options.pictures.string() + ": no pictures here");
  }
  for (size_t i = 0; i < found.size() && i < static_cast<size_t>(options.limit); ++i) {
    const fs::path original = fs::absolute(options.pictures / found[i].path);
    fs::create_symlink(original, folder / fmt::format("{:06}.jpg", i));
  }
}

// An edited copy of a picture: its code, when it has one, and its perceptual hash.
struct EditedCopy {
  std::optional<PictureCode> code;
  uint64_t hash = 0;
};
// A picture's own hash, and its copies.
struct EditedPicture {
  uint64_t hash = 0;
  std::array<EditedCopy, kPictureEdits.size()> copies;
};

EditedPicture EncodeEdits(const PictureCoder& coder, const fs::path& file) {
  const Picture picture = DecodePicture(Env::Posix().Read(file, MaxPictureBytes()), {});
  EditedPicture edited = {.hash = PerceptualHash(picture), .copies = {}};
  for (size_t i = 0; i < kPictureEdits.size(); ++i) {
    EditedCopy& copy = edited.copies[i];
    const std::vector<std::byte> saved =
        EncodeJpeg(ApplyEdit(kPictureEdits[i], picture), kSavedQuality);
    copy.hash = PerceptualHash(DecodePicture(saved, {}));
    try {
      copy.code = coder.Encode(saved);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;  // nothing to describe
    }
  }
  return edited;
}

struct IndexedPicture {
  uint64_t id;
  std::string path;
  std::vector<uint8_t> code;  // empty when it is too plain for one
};

std::vector<IndexedPicture> IndexedPictures(const LibrarySnapshot& library) {
  std::vector<IndexedPicture> pictures;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (CanBeSeen(picture)) pictures.push_back({picture.id, picture.path, picture.code});
  });
  return pictures;
}

bool FindsFirst(const LibrarySnapshot& library, uint64_t id, const EditedCopy& copy,
                QueryOrder order, const RunContext& context) {
  if (!copy.code) return false;
  const std::vector<QueryMatch> matches =
      QueryLibrary(library, *copy.code, {.k = 1, .order = order}, context);
  return !matches.empty() && matches[0].picture.id == id;
}

// Pairs of a copy and a picture by the bits that differ, for each edit.
class PairDistances {
 public:
  explicit PairDistances(int bits)
      : right_(kPictureEdits.size(), std::vector<int64_t>(static_cast<size_t>(bits) + 1)),
        wrong_(static_cast<size_t>(bits) + 1) {}

  void Add(size_t edit, int distance, bool is_right) {
    ++(is_right ? right_[edit] : wrong_)[static_cast<size_t>(distance)];
  }

  int64_t RightWithin(size_t edit, size_t radius) const { return Within(right_[edit], radius); }
  int64_t RightWithin(size_t radius) const {
    int64_t right = 0;
    for (size_t edit = 0; edit < right_.size(); ++edit) right += RightWithin(edit, radius);
    return right;
  }

  double Precision(size_t radius) const {
    const int64_t right = RightWithin(radius), all = right + Within(wrong_, radius);
    return all == 0 ? 1 : static_cast<double>(right) / static_cast<double>(all);
  }

  // The largest radius at which this share of the pairs is right.
  size_t LargestRadius(double precision) const {
    size_t radius = 0;
    while (radius + 1 < wrong_.size() && Precision(radius + 1) >= precision) ++radius;
    return radius;
  }

  nlohmann::json ToJson(size_t copies) const {
    nlohmann::json rows = nlohmann::json::array();
    for (size_t radius = 0; radius <= 3 * (wrong_.size() - 1) / 8; ++radius) {
      rows.push_back(
          {{"radius", radius},
           {"found", static_cast<double>(RightWithin(radius)) / static_cast<double>(copies)},
           {"precision", Precision(radius)},
           {"candidates", 1 / Precision(radius)}});
    }
    return rows;
  }

 private:
  static int64_t Within(const std::vector<int64_t>& pairs, size_t radius) {
    const size_t end = std::min(radius + 1, pairs.size());
    return std::accumulate(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(end),
                           int64_t{0});
  }

  std::vector<std::vector<int64_t>> right_;  // by edit
  std::vector<int64_t> wrong_;
};

// What is counted of the copies.
struct Findings {
  std::array<int64_t, kPictureEdits.size()> first = {}, first_hamming = {};
  PairDistances codes;
  PairDistances hashes{64};
};

Findings Look(const LibrarySnapshot& library, const std::vector<IndexedPicture>& pictures,
              const std::vector<EditedPicture>& edited, const RunContext& context) {
  Findings found = {.codes = PairDistances(library.index().bits())};
  for (size_t i = 0; i < pictures.size(); ++i) {
    for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
      const EditedCopy& copy = edited[i].copies[edit];
      const auto first = [&](QueryOrder order) {
        return FindsFirst(library, pictures[i].id, copy, order, context) ? 1 : 0;
      };
      found.first[edit] += first(QueryOrder::kScore);
      found.first_hamming[edit] += first(QueryOrder::kHamming);
      for (size_t j = 0; j < pictures.size(); ++j) {
        if (copy.code && !pictures[j].code.empty()) {
          found.codes.Add(edit, HammingDistance(copy.code->code, pictures[j].code), i == j);
        }
        found.hashes.Add(edit, HashDistance(copy.hash, edited[j].hash), i == j);
      }
    }
  }
  return found;
}

// What `bitpool dedupe` makes of pictures and one edited copy of each.
struct DedupeFindings {
  size_t right_pairs = 0;  // of a copy and its picture in one group
  size_t pairs = 0;        // of any two in one group
};

DedupeFindings CountGroups(const std::vector<DuplicateGroup>& groups) {
  DedupeFindings found;
  for (const DuplicateGroup& group : groups) {
    for (size_t second = 0; second < group.pictures.size(); ++second) {
      for (size_t first = 0; first < second; ++first) {
        const auto name = [&](size_t i) {
          return fs::path(group.pictures[i].picture.path).filename();
        };
        const bool right = name(first) == name(second);
        found.right_pairs += right ? 1 : 0;
        ++found.pairs;
      }
    }
  }
  return found;
}

// The library gets a copy of every picture by one edit after the other. Each is in a file of the
// same name in a folder of its own, which is gone again before the next.
std::array<DedupeFindings, kPictureEdits.size()> Dedupe(PictureLibrary& library,
                                                        const std::vector<IndexedPicture>& pictures,
                                                        const fs::path& folder,
                                                        const RunContext& context) {
  std::array<DedupeFindings, kPictureEdits.size()> found;
  const fs::path copies = folder / "copies";
  for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
    fs::create_directory(copies);
    context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
      Env& env = Env::Posix();
      const Picture picture =
          DecodePicture(env.Read(folder / pictures[i].path, MaxPictureBytes()), {});
      const std::vector<std::byte> saved =
          EncodeJpeg(ApplyEdit(kPictureEdits[edit], picture), kSavedQuality);
      WriteFile(env, copies / pictures[i].path, saved, IfExists::kReplace);
    });
    if (library.Update({}, context).stopped) throw Error(ErrorCode::kCancelled, "interrupted");
    found[edit] = CountGroups(library.Duplicates({}, context).groups);
    fs::remove_all(copies);
  }
  return found;
}

void AddDedupe(const std::array<DedupeFindings, kPictureEdits.size()>& found, size_t pictures,
               nlohmann::json& result) {
  const auto share = [](size_t part, size_t whole) {
    return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  };
  DedupeFindings all;
  for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
    result["edits"][NameOf(kPictureEdits[edit])]["dedupe_recall"] =
        share(found[edit].right_pairs, pictures);
    all.right_pairs += found[edit].right_pairs;
    all.pairs += found[edit].pairs;
  }
  result["all"]["dedupe_recall"] = share(all.right_pairs, pictures * kPictureEdits.size());
  result["dedupe_precision"] = share(all.right_pairs, all.pairs);
}

nlohmann::json ToJson(const Findings& found, size_t pictures, int bits) {
  const auto radius =
      static_cast<size_t>(DefaultDuplicateRadius(bits, static_cast<int64_t>(pictures)));
  const size_t hash_radius = found.hashes.LargestRadius(kHashPrecision);
  const auto row = [](int64_t first, int64_t first_hamming, int64_t within, int64_t hash_within,
                      size_t copies) -> nlohmann::json {
    const auto share = [&](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(copies);
    };
    return {{"recall_at_1", share(first)},
            {"recall_at_1_hamming", share(first_hamming)},
            {"within_radius", share(within)},
            {"hash_within_radius", share(hash_within)}};
  };
  nlohmann::json edits = nlohmann::json::object();
  for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
    edits[NameOf(kPictureEdits[edit])] =
        row(found.first[edit], found.first_hamming[edit], found.codes.RightWithin(edit, radius),
            found.hashes.RightWithin(edit, hash_radius), pictures);
  }
  const size_t copies = pictures * kPictureEdits.size();
  const auto sum = [](const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  return {{"radius", radius},
          {"hash_radius", hash_radius},
          {"edits", edits},
          {"all", row(sum(found.first), sum(found.first_hamming), found.codes.RightWithin(radius),
                      found.hashes.RightWithin(hash_radius), copies)},
          {"distances", found.codes.ToJson(copies)},
          {"hash_distances", found.hashes.ToJson(copies)}};
}

}  // namespace

void DuplicatesBenchOptions::Validate() const {
  if (limit < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("limit: expected 1 or more, got {}", limit));
  }
  RequireBits(bits);
}

nlohmann::json RunDuplicatesBench(const DuplicatesBenchOptions& options,
                                  const RunContext& context) {
  options.Validate();
  const TemporaryFolder folder;
  LinkPictures(options, folder.path(), context);
  Env& env = Env::Posix();
  const Stopwatch watch;
  const auto opened = PictureLibrary::Create(env, folder.path() / ".bitpool", folder.path());
  const UpdateSummary indexed =
      opened->Update({.bits = options.bits, .coder = options.coder}, context);
  if (indexed.stopped) throw Error(ErrorCode::kCancelled, "interrupted");
  const double seconds = watch.seconds();

  const LibrarySnapshot library = opened->Snapshot();
  const PictureCoder coder = OpenLibraryCoder(env, library.folder(), library.facts());
  const std::vector<IndexedPicture> pictures = IndexedPictures(library);
  std::vector<EditedPicture> edited(pictures.size());
  {
    Progress progress = context.StartProgress("editing", "pictures", pictures.size());
    context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
      edited[i] = EncodeEdits(coder, folder.path() / pictures[i].path);
      progress.Advance();
    });
  }
  nlohmann::json result =
      ToJson(Look(library, pictures, edited, context), pictures.size(), coder.bits());
  AddDedupe(Dedupe(*opened, pictures, folder.path(), context), pictures.size(), result);
  result["pictures"] = pictures.size();
  result["bits"] = coder.bits();
  result["failed"] = indexed.failed.size();
  result["index_s"] = seconds;
  return result;
}

}  // namespace bitpool::bench
