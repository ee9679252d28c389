#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/codes/binary_codes.h"
#include "bitpool/io/testing.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/library_update.h"
#include "bitpool/library/picture_library.h"

// Shared by the tests of libraries.
namespace bitpool::testing {

inline constexpr int kFakeBits = 64;

// The thread sanitizer kills a forked child that starts threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool kForkedChildrenHaveThreads = false;
#else
inline constexpr bool kForkedChildrenHaveThreads = true;
#endif

// A file that FakeEncode takes for a picture.
inline std::string FakePicture(uint64_t code, int width = 4, int height = 3,
                               const std::string& rest = "") {
  return fmt::format("{:016x} {}x{} {}", code, width, height, rest);
}

// The code is written in the file, low bits first; the projection of bit i is ±(i + 1) / 8.
inline PictureCode FakeEncode(std::span<const std::byte> bytes) {
  const std::string text = ToString(bytes);
  unsigned long long code = 0;
  int width = 0, height = 0;
  if (std::sscanf(text.c_str(), "%16llx %dx%d", &code, &width, &height) != 3) {
    throw Error(ErrorCode::kCorrupt, "not a fake picture");
  }
  PictureCode result;
  result.projection.resize(kFakeBits);
  for (int bit = 0; bit < kFakeBits; ++bit) {
    const float size = static_cast<float>(bit + 1) / 8;
    result.projection[bit] = (code >> bit & 1) != 0 ? size : -size;
  }
  for (size_t i = 0; i < 8; ++i) result.code.push_back(static_cast<uint8_t>(code >> (8 * i)));
  result.facts = {.width = width, .height = height, .format = "fake"};
  return result;
}

inline std::vector<std::byte> FakeThumbnail(std::span<const std::byte> bytes) {
  return ToBytes("small " + ToString(bytes));
}

inline PictureEncoding FakeEncoding(const std::string& digest = "fake 1") {
  return {.bits = kFakeBits, .digest = digest, .encode = FakeEncode, .thumbnail = FakeThumbnail};
}

// A folder of pictures with its library in it.
class PictureFolder {
 public:
  // In memory where there is such a place: syncing to a disk would take most of the time.
  PictureFolder() {
    std::string pattern = "/dev/shm/bitpool-test-XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      pattern = (std::filesystem::temp_directory_path() / "bitpool-test-XXXXXX").string();
      if (mkdtemp(pattern.data()) == nullptr)
        throw Error(ErrorCode::kIo, "cannot make a folder for the test");
    }
    base_ = pattern;
    std::filesystem::create_directories(root());
  }
  ~PictureFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(base_, ignored);
  }
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;

  // Around the folder, for what else a test needs.
  const std::filesystem::path& base() const { return base_; }
  std::filesystem::path root() const { return base_ / "pictures"; }
  std::filesystem::path library() const { return root() / ".bitpool"; }

  // Every write has a later time than all before.
  void Write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path, std::ios::binary) << content;
    SetTime(path, ++time_);
  }
  void SetTime(const std::string& path, int seconds) const {
    std::filesystem::last_write_time(
        root() / path, std::filesystem::file_time_type(std::chrono::seconds(seconds)));
  }
  void Remove(const std::string& path) const { std::filesystem::remove(root() / path); }

  // All files, whatever their names end in, with their facts as FindPictures reads them.
  std::vector<FoundPicture> Find() const {
    std::vector<FoundPicture> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root())) {
      std::error_code gone;  // a file of the library, which others may be changing
      if (!entry.is_regular_file(gone) || gone) continue;
      try {
        const FileStatus status = Env::Posix().Status(entry.path());
        found.push_back({.path = entry.path().lexically_relative(root()).string(),
                         .size = status.size,
                         .mtime_ns = status.modified_ns});
      } catch (const Error&) {  // the same
      }
    }
    std::ranges::sort(found, {}, &FoundPicture::path);
    return found;
  }

  // An update that brings the library up to date; counts in `reads` the pictures that are read.
  LibraryUpdate MakeUpdate(const PictureEncoding& encoding = FakeEncoding()) {
    return {.root = root(),
            .found = Find(),
            .read =
                [this](const FoundPicture& found) {
                  ++reads;
                  return Env::Posix().Read(root() / found.path, 1000000);
                },
            .encoding = encoding};
  }

  UpdateSummary Update(const LibraryUpdate& update, const RunContext& context) {
    reads = 0;
    LibraryWriter writer(Env::Posix(), library());
    return UpdateLibrary(writer, update, context);
  }
  UpdateSummary Update() { return Update(MakeUpdate(), RunContext({.threads = 2})); }

  // The library as it is now, opened again.
  LibrarySnapshot Open() const { return PictureLibrary::Open(Env::Posix(), library())->Snapshot(); }

  std::atomic<int> reads = 0;  // of the last update

 private:
  std::filesystem::path base_;
  int time_ = 1000;
};

// Added, changed, removed, unchanged, failed.
using UpdateCounts = std::array<uint64_t, 5>;
inline UpdateCounts Counts(const UpdateSummary& summary) {
  return {summary.added, summary.changed, summary.removed, summary.unchanged,
          summary.failed.size()};
}

inline std::optional<uint64_t> IdOf(const PictureFolder& pictures, const std::string& path) {
  const LibrarySnapshot library = pictures.Open();
  const auto picture = library.catalogue().FindByPath(path);
  return picture ? std::optional(picture->id) : std::nullopt;
}

inline LibrarySnapshot OpenAt(const std::filesystem::path& library) {
  return PictureLibrary::Open(Env::Posix(), library)->Snapshot();
}

// What a library holds, without ids, which depend on its history.
struct LibraryContent {
  std::map<std::string, std::string> codes;       // by path, in hexadecimal digits
  std::map<std::string, std::string> failures;    // by path
  std::map<std::string, std::string> thumbnails;  // by path; of an unknown id: the file's name

  bool operator==(const LibraryContent&) const = default;
};

inline void PrintTo(const LibraryContent& content, std::ostream* out) {
  for (const auto* part : {&content.codes, &content.failures, &content.thumbnails}) {
    for (const auto& [path, value] : *part) *out << path << ": " << value << "\n";
    *out << "--\n";
  }
}

// Reads a library and checks that its parts agree: the index has the codes of the catalogue.
inline LibraryContent ReadContent(const LibrarySnapshot& library) {
  LibraryContent content;
  std::map<std::string, std::string> paths;
  const auto codes = library.index().Compacted();
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    paths[fmt::format("{}.jpg", picture.id)] = picture.path;
    if (!picture.failure.empty()) content.failures[picture.path] = picture.failure;
    EXPECT_EQ(picture.code.empty(), !picture.failure.empty()) << picture.path;
    const auto slot = codes->FindSlot(static_cast<int64_t>(picture.id));
    EXPECT_EQ(slot.has_value(), !picture.code.empty()) << picture.path;
    if (!slot) return;
    std::vector<uint8_t> code(picture.code.size());
    codes->CopyCode(*slot, code.data());
    EXPECT_EQ(code, picture.code) << picture.path;
    content.codes[picture.path] = BinaryCodes(kFakeBits, code).ToHex(0);
  });
  EXPECT_EQ(static_cast<size_t>(library.index().size()), content.codes.size());
  if (!std::filesystem::exists(library.folder().thumbnails())) return content;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(library.folder().thumbnails())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string name = entry.path().filename().string();
    content.thumbnails[paths.contains(name) ? paths[name] : name] =
        std::string(std::istreambuf_iterator<char>(file), {});
  }
  return content;
}

}  // namespace bitpool::testing
