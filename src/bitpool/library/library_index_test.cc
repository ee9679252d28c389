#include "bitpool/library/library_index.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>

#include "bitpool/image/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using ::testing::HasSubstr;
using testing::PictureFolder;
using testing::SpottedJpeg;
using testing::WriteBytes;
using testing::WriteText;

// The checksum of PNG's chunks.
uint32_t Crc32(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string BigEndian(uint32_t number) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xFF);
  return bytes;
}

std::string PngChunk(const std::string& name, const std::string& content) {
  return BigEndian(static_cast<uint32_t>(content.size())) + name + content +
         BigEndian(Crc32(name + content));
}

// A right header, and hardly anything behind it.
std::string PngHeader(uint32_t width, uint32_t height) {
  using namespace std::string_literals;
  return "\x89PNG\r\n\x1A\n"s +
         PngChunk("IHDR", BigEndian(width) + BigEndian(height) + "\x08\x02\0\0\0"s) +
         PngChunk("IDAT", "x\x9C");
}

// A file of Linux that is there to be written, and that nobody can read, not even root.
constexpr const char* kUnreadable = "/sys/bus/cpu/uevent";

// Two frames.
std::vector<std::byte> AnimatedGif() {
  const auto image = testing::ImageOf(testing::SpottedPicture(160, 240, 50));
  vips_image_set_int(image.get(), "page-height", 120);
  return testing::Encoded(image.get(), ".gif");
}

std::vector<std::byte> Truncated(std::vector<std::byte> bytes) {
  bytes.resize(bytes.size() / 2);
  return bytes;
}

// Good pictures and everything that may be among them. The names of the good ones.
std::vector<std::string> WriteEverything(const fs::path& root) {
  const std::vector<std::string> good = {"with space.jpg",
                                         "quote ' and \".jpg",
                                         "new\nline.jpg",
                                         "emoji \xF0\x9F\x93\xB7.jpg",
                                         "\xFF\xFE not UTF-8 \xC3.jpg",
                                         "folder/-rf $(x).JPG"};
  for (size_t i = 0; i < good.size(); ++i) WriteBytes(root / good[i], SpottedJpeg(i));
  WriteBytes(root / "animated.gif", AnimatedGif());
  WriteText(root / "empty.jpg", "");
  WriteBytes(root / "truncated.jpg", Truncated(SpottedJpeg(20)));
  WriteText(root / "text.jpg", "Dear diary,\n");
  WriteText(root / "drawing.jpg", "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>");
  WriteText(root / "document.png", "%PDF-1.7\n");
  WriteText(root / "huge.png", PngHeader(50'000, 50'000));
  WriteBytes(root / "uniform.jpg", EncodeJpeg(testing::UniformPicture(64, 64), 90));
  fs::create_symlink("loop.jpg", root / "loop.jpg");
  fs::create_symlink(".", root / "around");
  fs::create_symlink("nowhere.jpg", root / "lost.jpg");
  fs::create_symlink(kUnreadable, root / "unreadable.jpg");
  return good;
}

// Removes a file as soon as pictures are described, which is after they were found.
class Remover : public ProgressSink {
 public:
  explicit Remover(fs::path file) : file_(std::move(file)) {}
  void Report(const ProgressUpdate& update) override {
    if (update.task == "describing") fs::remove(file_);
  }

 private:
  fs::path file_;
};

std::map<std::string, std::string> Reasons(const UpdateSummary& summary) {
  std::map<std::string, std::string> reasons;
  for (const FailedPicture& failed : summary.failed) {
    reasons[failed.path.string()] = failed.reason;
  }
  return reasons;
}

TEST(IndexFolder, SurvivesAFolderWithEverything) {
  if (!fs::exists(kUnreadable)) GTEST_SKIP() << kUnreadable << " is not here";
  const PictureFolder pictures;
  std::vector<std::string> good = WriteEverything(pictures.root());
  good.emplace_back("animated.gif");
  WriteBytes(pictures.root() / "gone.jpg", SpottedJpeg(30));
  const FolderIndexing indexing = {.folder = pictures.root(), .bits = 16};
  const UpdateSummary summary = IndexFolder(
      Env::Posix(), indexing,
      RunContext(
          {.threads = 2, .progress = std::make_shared<Remover>(pictures.root() / "gone.jpg")}));

  EXPECT_EQ(summary.added, good.size());
  const std::map<std::string, std::string> expected = {
      {"empty.jpg", "empty"},         {"truncated.jpg", "Premature end"},
      {"text.jpg", "text; expected"}, {"drawing.jpg", "SVG"},
      {"document.png", "PDF"},        {"huge.png", "50000×50000"},
      {"uniform.jpg", "no local"},    {"loop.jpg", "symbolic links"},
      {"lost.jpg", "No such file"},   {"unreadable.jpg", "cannot"}};
  const std::map<std::string, std::string> reasons = Reasons(summary);
  EXPECT_EQ(reasons.size(), expected.size());
  for (const auto& [path, word] : expected) {
    ASSERT_TRUE(reasons.contains(path)) << path;
    EXPECT_THAT(reasons.at(path), HasSubstr(word)) << path;
  }

  const Library library = pictures.Open();
  EXPECT_EQ(library.index().size(), static_cast<int64_t>(good.size()));
  for (const std::string& path : good) {
    const auto picture = library.catalogue().FindByPath(path);
    ASSERT_TRUE(picture) << path;
    EXPECT_EQ(picture->failure, "") << path;
    EXPECT_EQ(picture->width, 160) << path;
    EXPECT_EQ(picture->height, 120) << path;
    EXPECT_FALSE(library.ReadThumbnail(picture->id).empty()) << path;
  }
  // What was read and is no picture is on record; what could not be read is tried again.
  for (const char* path : {"empty.jpg", "truncated.jpg", "text.jpg", "drawing.jpg", "document.png",
                           "huge.png", "uniform.jpg"}) {
    const auto picture = library.catalogue().FindByPath(path);
    ASSERT_TRUE(picture) << path;
    EXPECT_EQ(picture->failure, reasons.at(path));
    EXPECT_TRUE(picture->code.empty());
  }
  for (const char* path : {"loop.jpg", "lost.jpg", "unreadable.jpg", "gone.jpg"}) {
    EXPECT_FALSE(library.catalogue().FindByPath(path)) << path;
  }
}

TEST(IndexFolder, LearnsOnceAndKeepsTheCoder) {
  const PictureFolder pictures;
  for (int i = 0; i < 4; ++i) {
    WriteBytes(pictures.root() / fmt::format("{}.jpg", i), SpottedJpeg(i));
  }
  FolderIndexing indexing = {.folder = pictures.root(), .bits = 16};
  const RunContext context({.threads = 1});
  EXPECT_EQ(IndexFolder(Env::Posix(), indexing, context).added, 4U);
  const std::string digest = pictures.Open().facts().coder;
  EXPECT_FALSE(fs::exists(LibraryFolder(pictures.library()).training()));

  WriteBytes(pictures.root() / "later.jpg", SpottedJpeg(9));
  indexing.bits.reset();
  const UpdateSummary again = IndexFolder(Env::Posix(), indexing, context);
  EXPECT_EQ(again.added, 1U);
  EXPECT_EQ(again.unchanged, 4U);
  EXPECT_EQ(pictures.Open().facts().coder, digest);

  indexing.bits = 32;
  ExpectError(ErrorCode::kInvalidArgument, {"32 bits", "16"},
              [&] { IndexFolder(Env::Posix(), indexing, context); });

  // Another library with that coder, named, has the same codes.
  const FolderIndexing other = {.folder = pictures.root(),
                                .library = pictures.base() / "other",
                                .coder = LibraryFolder(pictures.library()).coder()};
  EXPECT_EQ(IndexFolder(Env::Posix(), other, context).added, 5U);
  const Library first = pictures.Open();
  const Library second(Env::Posix(), other.library, context);
  first.catalogue().ForEach([&](const CataloguedPicture& picture) {
    EXPECT_EQ(second.catalogue().FindByPath(picture.path)->code, picture.code);
  });
}

TEST(IndexFolder, SaysWhenThereIsNothingToLearnFrom) {
  const PictureFolder pictures;
  const FolderIndexing indexing = {.folder = pictures.root()};
  ExpectError(ErrorCode::kNotFound, {"no pictures here"},
              [&] { IndexFolder(Env::Posix(), indexing, RunContext()); });
  WriteText(pictures.root() / "text.jpg", "Dear diary,\n");
  ExpectError(ErrorCode::kInvalidArgument, {"none of 1 pictures", "text.jpg"},
              [&] { IndexFolder(Env::Posix(), indexing, RunContext()); });
  ExpectError(ErrorCode::kNotFound, {"nowhere"}, [&] {
    IndexFolder(Env::Posix(), {.folder = pictures.root() / "nowhere"}, RunContext());
  });
}

}  // namespace
}  // namespace bitpool
