#include "duplicates_bench.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/picture_edits.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/library/library_coder.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/pictures/picture_coder.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool::bench {
namespace {

namespace fs = std::filesystem;

constexpr int kSavedQuality = 95;  // of the edited copies

// Removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "bitpool-bench-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Error(ErrorCode::kIo, pattern + ": cannot make a temporary folder");
    }
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

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

// An edited copy of a picture: its code, when it has one.
using EditedCode = std::optional<PictureCode>;
using EditedCodes = std::array<EditedCode, kPictureEdits.size()>;

EditedCodes EncodeEdits(const PictureCoder& coder, const fs::path& file) {
  const Picture picture = DecodePicture(Env::Posix().Read(file, MaxPictureBytes()), {});
  EditedCodes codes;
  for (size_t i = 0; i < kPictureEdits.size(); ++i) {
    const Picture edited = ApplyEdit(kPictureEdits[i], picture);
    try {
      codes[i] = coder.Encode(EncodeJpeg(edited, kSavedQuality));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument) throw;  // nothing to describe
    }
  }
  return codes;
}

struct IndexedPicture {
  uint64_t id;
  std::string path;
  std::vector<uint8_t> code;
};

std::vector<IndexedPicture> IndexedPictures(const LibrarySnapshot& library) {
  std::vector<IndexedPicture> pictures;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (!picture.code.empty()) pictures.push_back({picture.id, picture.path, picture.code});
  });
  return pictures;
}

// How many copies found their picture.
struct Found {
  int64_t first = 0, first_hamming = 0;

  Found& operator+=(const Found& other) {
    first += other.first;
    first_hamming += other.first_hamming;
    return *this;
  }
  nlohmann::json ToJson(size_t copies) const {
    const auto share = [&](int64_t count) {
      return static_cast<double>(count) / static_cast<double>(copies);
    };
    return {{"recall_at_1", share(first)}, {"recall_at_1_hamming", share(first_hamming)}};
  }
};

Found Ask(const LibrarySnapshot& library, uint64_t id, const EditedCode& copy,
          const RunContext& context) {
  if (!copy) return {};
  const auto first = [&](QueryOrder order) {
    const std::vector<QueryMatch> matches =
        QueryLibrary(library, *copy, {.k = 1, .order = order}, context);
    return !matches.empty() && matches[0].picture.id == id;
  };
  return {.first = first(QueryOrder::kScore), .first_hamming = first(QueryOrder::kHamming)};
}

// Pairs of a copy and a picture by the bits that differ.
class PairDistances {
 public:
  explicit PairDistances(int bits)
      : right_(static_cast<size_t>(bits) + 1), wrong_(static_cast<size_t>(bits) + 1) {}

  void Add(const std::vector<IndexedPicture>& pictures, uint64_t id, const EditedCode& copy) {
    if (!copy) return;
    for (const IndexedPicture& picture : pictures) {
      const auto distance = static_cast<size_t>(HammingDistance(picture.code, copy->code));
      ++(picture.id == id ? right_ : wrong_)[distance];
    }
  }

  nlohmann::json ToJson(size_t copies) const {
    nlohmann::json rows = nlohmann::json::array();
    int64_t right = 0, wrong = 0;
    for (size_t radius = 0; radius <= right_.size() / 4; ++radius) {
      right += right_[radius];
      wrong += wrong_[radius];
      const auto within = static_cast<double>(right + wrong);
      rows.push_back({{"radius", radius},
                      {"found", static_cast<double>(right) / static_cast<double>(copies)},
                      {"precision", within > 0 ? static_cast<double>(right) / within : 1}});
    }
    return rows;
  }

 private:
  std::vector<int64_t> right_, wrong_;
};

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
  const UpdateSummary indexed = opened->Update({.bits = options.bits}, context);
  if (indexed.stopped) throw Error(ErrorCode::kCancelled, "interrupted");
  const double seconds = watch.seconds();

  const LibrarySnapshot library = opened->Snapshot();
  const PictureCoder coder = OpenLibraryCoder(env, library.folder(), library.facts());
  const std::vector<IndexedPicture> pictures = IndexedPictures(library);
  std::vector<EditedCodes> codes(pictures.size());
  {
    Progress progress = context.StartProgress("editing", "pictures", pictures.size());
    context.ParallelFor(pictures.size(), 1, [&](size_t i, size_t /*end*/) {
      codes[i] = EncodeEdits(coder, folder.path() / pictures[i].path);
      progress.Advance();
    });
  }

  nlohmann::json edits = nlohmann::json::object();
  Found all;
  PairDistances distances(options.bits);
  for (size_t edit = 0; edit < kPictureEdits.size(); ++edit) {
    Found found;
    for (size_t i = 0; i < pictures.size(); ++i) {
      found += Ask(library, pictures[i].id, codes[i][edit], context);
      distances.Add(pictures, pictures[i].id, codes[i][edit]);
    }
    edits[NameOf(kPictureEdits[edit])] = found.ToJson(pictures.size());
    all += found;
  }
  const size_t copies = pictures.size() * kPictureEdits.size();
  return {{"pictures", pictures.size()},
          {"bits", options.bits},
          {"failed", indexed.failed.size()},
          {"index_s", seconds},
          {"edits", edits},
          {"all", all.ToJson(copies)},
          {"distances", distances.ToJson(copies)}};
}

}  // namespace bitpool::bench
