#include "bitpool/library/picture_library.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <thread>

#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_coder.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::FakePicture;
using ::testing::HasSubstr;
using testing::PictureFolder;
using testing::ReadContent;
using testing::SpottedJpeg;
using testing::TempFolder;
using testing::WriteBytes;
using testing::WriteText;

// Codes by path, in hexadecimal digits.
std::map<std::string, std::string> ReadCodes(const LibrarySnapshot& library) {
  std::map<std::string, std::string> codes;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (picture.code.empty()) return;
    codes[picture.path] = BinaryCodes(library.index().bits(), picture.code).ToHex(0);
  });
  EXPECT_EQ(static_cast<size_t>(library.index().size()), codes.size());
  return codes;
}

TEST(PictureLibrary, SaysWhenThereIsNone) {
  const TempFolder folder;
  ExpectError(ErrorCode::kNotFound, {"/none", "no library", "bitpool index"},
              [&] { PictureLibrary::Open(Env::Posix(), folder / "none"); });
  EXPECT_FALSE(fs::exists(folder / "none"));
  const PictureFolder pictures;
  PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
  ExpectError(ErrorCode::kNotFound, {"/pictures: there is no library here, but in", "/.bitpool"},
              [&] { PictureLibrary::Open(Env::Posix(), pictures.root()); });
  ExpectError(ErrorCode::kNotFound, {"/nowhere"},
              [&] { PictureLibrary::Create(Env::Posix(), folder / "none", folder / "nowhere"); });
  ExpectError(ErrorCode::kNotFound, {"/nowhere"}, [&] {
    PictureLibrary::OpenOrCreate(Env::Posix(), folder / "nowhere/.bitpool", folder / "nowhere");
  });
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  fs::create_directory(folder / "pictures");
  const auto begun = PictureLibrary::Create(Env::Posix(), folder / "begun", folder / "pictures");
  ExpectError(ErrorCode::kNotFound, {"/begun", "nothing was indexed"}, [&] { begun->Snapshot(); });
  ExpectError(ErrorCode::kNotFound, {"/begun", "nothing was indexed"},
              [&] { begun->Query(SpottedJpeg(1), {}, OneThread()); });
  ExpectError(ErrorCode::kInvalidArgument, {"/begun", "already"},
              [&] { PictureLibrary::Create(Env::Posix(), folder / "begun", folder / "pictures"); });
  PictureLibrary::OpenOrCreate(Env::Posix(), folder / "begun", folder / "pictures");
}

TEST(PictureLibrary, MayBeEmpty) {
  PictureFolder pictures;
  EXPECT_EQ(pictures.Update().added, 0U);
  EXPECT_EQ(pictures.Open().index().size(), 0);
  EXPECT_EQ(pictures.Update().added, 0U);
}

TEST(PictureLibrary, TellsFactsAndThumbnails) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  EXPECT_EQ(library->Find(1)->path, "a.jpg");
  EXPECT_FALSE(library->Find(2));
  EXPECT_EQ(testing::ToString(library->Thumbnail(1)), "small " + FakePicture(1));
  EXPECT_TRUE(library->Thumbnail(2).empty());
  const LibrarySnapshot snapshot = library->Snapshot();
  EXPECT_EQ(testing::ToString(snapshot.ReadThumbnail(1)), "small " + FakePicture(1));
  EXPECT_TRUE(fs::equivalent(snapshot.root(), pictures.root()));
}

// --- Pictures and coders ----------------------------------------------------------------------

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

// A correct header, with hardly anything after it.
std::string PngHeader(uint32_t width, uint32_t height) {
  using namespace std::string_literals;
  return "\x89PNG\r\n\x1A\n"s +
         PngChunk("IHDR", BigEndian(width) + BigEndian(height) + "\x08\x02\0\0\0"s) +
         PngChunk("IDAT", "x\x9C");
}

// A Linux file that exists to be written to, and that nobody can read, not even root.
constexpr const char* kUnreadable = "/sys/bus/cpu/uevent";

// A frame of an animation in shades of grey, as GIF has it. LZW is not used to make it shorter: a
// code that clears the table comes before codes would become longer than a byte.
std::string GifFrame(const Picture& picture) {
  constexpr char kClear = static_cast<char>(128), kEnd = static_cast<char>(129);
  const auto side = [](Index length) {
    return std::string{static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
  };
  std::string codes;
  for (size_t i = 0; i < picture.pixels.size(); i += 3) {
    if (i / 3 % 100 == 0) codes += kClear;
    codes +=
        static_cast<char>((picture.pixels[i] + picture.pixels[i + 1] + picture.pixels[i + 2]) / 6);
  }
  codes += kEnd;
  using namespace std::string_literals;
  std::string frame = "\x21\xF9\x04\0\x0A\0\0\0"s + ",\0\0\0\0"s + side(picture.width) +
                      side(picture.height) + "\0\x07"s;
  for (size_t i = 0; i < codes.size(); i += 255) {
    const std::string block = codes.substr(i, 255);
    frame += static_cast<char>(block.size()) + block;
  }
  return frame + "\0"s;
}

// Two frames.
std::string AnimatedGif() {
  using namespace std::string_literals;
  std::string gif = "GIF89a\xA0\0\x78\0\xF6\0\0"s;  // 160 × 120, 128 colours
  for (int grey = 0; grey < 128; ++grey) gif += std::string(3, static_cast<char>(2 * grey));
  return gif + GifFrame(testing::SpottedPicture(160, 120, 50)) +
         GifFrame(testing::SpottedPicture(160, 120, 51)) + ";";
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
  WriteText(root / "animated.gif", AnimatedGif());
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

TEST(PictureLibrary, SurvivesAFolderWithEverything) {
  if (!fs::exists(kUnreadable)) GTEST_SKIP() << kUnreadable << " is not here";
  const PictureFolder pictures;
  std::vector<std::string> good = WriteEverything(pictures.root());
  good.emplace_back("animated.gif");
  WriteBytes(pictures.root() / "gone.jpg", SpottedJpeg(30));
  const auto made = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
  const UpdateSummary summary = made->Update(
      {.bits = 16},
      RunContext(
          {.threads = 2, .progress = std::make_shared<Remover>(pictures.root() / "gone.jpg")}));

  EXPECT_EQ(summary.added, good.size());
  const std::map<std::string, std::string> expected = {
      {"empty.jpg", "empty"},         {"truncated.jpg", "remature end"},
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

  const LibrarySnapshot library = made->Snapshot();
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

void WriteSpotted(const PictureFolder& pictures, int count) {
  for (int i = 0; i < count; ++i) {
    WriteBytes(pictures.root() / fmt::format("{}.jpg", i), SpottedJpeg(static_cast<uint64_t>(i)));
  }
}

TEST(PictureLibrary, LearnsOnceAndKeepsTheCoder) {
  const PictureFolder pictures;
  WriteSpotted(pictures, 4);
  const auto library = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
  EXPECT_EQ(library->Update({.bits = 16}, OneThread()).added, 4U);
  const std::string digest = library->Snapshot().facts().coder;
  EXPECT_FALSE(fs::exists(library->folder().training()));
  EXPECT_TRUE(fs::exists(library->folder().coder(digest)));

  WriteBytes(pictures.root() / "later.jpg", SpottedJpeg(9));
  const UpdateSummary again = library->Update({}, OneThread());
  EXPECT_EQ(again.added, 1U);
  EXPECT_EQ(again.unchanged, 4U);
  EXPECT_EQ(library->Snapshot().facts().coder, digest);
  ExpectError(ErrorCode::kInvalidArgument, {"32 bits", "16"},
              [&] { library->Update({.bits = 32}, OneThread()); });

  // Another library with that coder, named, has the same codes.
  const auto other =
      PictureLibrary::Create(Env::Posix(), pictures.base() / "other", pictures.root());
  EXPECT_EQ(other->Update({.coder = library->folder().coder(digest)}, OneThread()).added, 5U);
  EXPECT_EQ(ReadCodes(other->Snapshot()), ReadCodes(library->Snapshot()));

  // Asked by bytes, by file and by id.
  const auto first = [](const QueryAnswer& answer) { return answer.matches.at(0).picture; };
  for (const char* name : {"0.jpg", "later.jpg"}) {
    const CataloguedPicture picture = library->Snapshot().catalogue().FindByPath(name).value();
    EXPECT_EQ(first(library->QueryFile(pictures.root() / name, {}, OneThread())), picture);
    EXPECT_EQ(first(library->Query(SpottedJpeg(name[0] == '0' ? 0 : 9), {}, OneThread())), picture);
    const QueryAnswer like = library->QueryId(picture.id, {}, OneThread());
    EXPECT_EQ(like.matches.size(), 4U);
    for (const QueryMatch& match : like.matches) EXPECT_NE(match.picture.id, picture.id);
  }
  WriteText(pictures.base() / "text.jpg", "Dear diary,\n");
  ExpectError(ErrorCode::kUnsupported, {"/text.jpg: ", "text; expected"},
              [&] { library->QueryFile(pictures.base() / "text.jpg", {}, OneThread()); });
  ExpectError(ErrorCode::kNotFound, {"/missing.jpg"},
              [&] { library->QueryFile(pictures.base() / "missing.jpg", {}, OneThread()); });
  fs::remove(library->folder().coder(digest));
  EXPECT_NO_THROW(library->Query(SpottedJpeg(0), {}, OneThread()));  // it has the coder
  ExpectError(ErrorCode::kNotFound, {".bitpool", "the coder", "not there"}, [&] {
    PictureLibrary::Open(Env::Posix(), pictures.library())->Query(SpottedJpeg(0), {}, OneThread());
  });
}

// Kills the process when pictures were encoded, before their codes are put in use.
class Killer : public ProgressSink {
 public:
  void Report(const ProgressUpdate& update) override {
    if (update.task == "indexing" && update.done > 0) kill(getpid(), SIGKILL);
  }
};

// The part of the next test that runs in a process of its own: what decodes pictures does not
// survive a fork.
TEST(PictureLibrary, DISABLED_UpdateUntilKilled) {
  const char* library = std::getenv("BITPOOL_TEST_LIBRARY");
  const char* coder = std::getenv("BITPOOL_TEST_CODER");
  ASSERT_TRUE(library != nullptr && coder != nullptr);
  PictureLibrary::Open(Env::Posix(), library)
      ->Update({.coder = coder},
               RunContext({.threads = 1, .progress = std::make_shared<Killer>()}));
}

int StatusOfKilledUpdate(const fs::path& library, const fs::path& coder) {
  const std::string command = fmt::format(
      "BITPOOL_TEST_LIBRARY='{}' BITPOOL_TEST_CODER='{}' '{}' --gtest_also_run_disabled_tests "
      "--gtest_filter=PictureLibrary.DISABLED_UpdateUntilKilled >/dev/null",
      library.string(), coder.string(), fs::read_symlink("/proc/self/exe").string());
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c)
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(PictureLibrary, KilledBetweenANewCoderAndItsCodesItAnswersWithTheOldOnes) {
  const PictureFolder pictures;
  WriteSpotted(pictures, 6);
  const PictureFolder others;
  for (int i = 0; i < 4; ++i) {
    WriteBytes(others.root() / fmt::format("{}.jpg", i), SpottedJpeg(50 + i));
  }
  fs::path new_coder;
  std::string old_digest, new_digest;
  {
    const auto library = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
    library->Update({.bits = 16}, OneThread());
    old_digest = library->Snapshot().facts().coder;
    const auto other = PictureLibrary::Create(Env::Posix(), others.library(), others.root());
    other->Update({.bits = 24}, OneThread());
    new_digest = other->Snapshot().facts().coder;
    new_coder = other->folder().coder(new_digest);
  }
  const auto old_codes = ReadCodes(testing::OpenAt(pictures.library()));
  ASSERT_EQ(StatusOfKilledUpdate(pictures.library(), new_coder), 128 + SIGKILL);

  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  EXPECT_EQ(library->Snapshot().facts().next_coder, new_digest);
  EXPECT_EQ(ReadCodes(library->Snapshot()), old_codes);
  const auto ask = [&] {
    return library->QueryFile(pictures.root() / "2.jpg", {}, OneThread()).matches.at(0);
  };
  EXPECT_EQ(ask().picture.path, "2.jpg");
  EXPECT_EQ(ask().distance, 0);

  // It goes on with the new coder, also when that is not named again.
  const UpdateSummary summary = library->Update({}, OneThread());
  EXPECT_FALSE(summary.stopped);
  EXPECT_EQ(summary.changed + summary.unchanged, 6U);
  EXPECT_EQ(library->Snapshot().facts().coder, new_digest);
  EXPECT_EQ(library->Snapshot().index().bits(), 24);
  EXPECT_EQ(ask().picture.path, "2.jpg");
  EXPECT_EQ(ask().distance, 0);
  EXPECT_FALSE(fs::exists(library->folder().coder(old_digest)));
  EXPECT_TRUE(fs::exists(library->folder().coder(new_digest)));
}

// --- Version 1 --------------------------------------------------------------------------------

// Turns a library into what version 1 had, with the same pictures and codes.
void MakeFirstVersionOf(const fs::path& path) {
  const LibraryFolder folder(path);
  const LibrarySnapshot library = testing::OpenAt(path);
  testing::MakeFirstVersion(path / "first.sqlite");
  const auto hex = [](std::span<const uint8_t> bytes) {
    std::string text;
    for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
  };
  std::string sql;
  library.catalogue().ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    sql += fmt::format("INSERT INTO pictures VALUES({}, x'{}', {}, {}, {}, x'{}', {}, {}, '{}');",
                       picture.id, hex(AsBytes(picture.path)), picture.size, picture.modified_ns,
                       static_cast<int64_t>(picture.content_hash), hex(picture.code), picture.width,
                       picture.height, picture.failure);
  });
  const LibraryFacts& facts = library.facts();
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"library_version", "1"},
                                          {"root", facts.root},
                                          {"bits", std::to_string(facts.bits)},
                                          {"coder", facts.coder},
                                          {"generation", "7"},
                                          {"index_generation", "7"},
                                          {"index_digest", "00112233445566778899aabbccddeeff"}}) {
    sql += fmt::format("INSERT INTO settings VALUES('{}', '{}');", key, value);
  }
  testing::Tamper(path / "first.sqlite", sql);
  for (const char* end : {"", "-wal", "-shm"}) {
    fs::remove(folder.catalogue() + end);
  }
  fs::rename(path / "first.sqlite", folder.catalogue());
  if (fs::exists(folder.coder(facts.coder))) {
    fs::rename(folder.coder(facts.coder), folder.first_version_coder());
  }
  fs::rename(folder.index(), path / "codes.bpx");
}

TEST(PictureLibrary, ALibraryOfVersionOneIsReadAndUpdated) {
  const PictureFolder pictures;
  WriteSpotted(pictures, 4);
  WriteText(pictures.root() / "text.jpg", "Dear diary,\n");
  std::string digest;
  {
    const auto library = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
    library->Update({.bits = 16}, OneThread());
    digest = library->Snapshot().facts().coder;
  }
  const auto codes = ReadCodes(testing::OpenAt(pictures.library()));
  MakeFirstVersionOf(pictures.library());
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  const auto expect_answers = [&](const PictureLibrary& asked) {
    EXPECT_EQ(ReadCodes(asked.Snapshot()), codes);
    const auto answer = asked.QueryFile(pictures.root() / "2.jpg", {}, OneThread());
    EXPECT_EQ(answer.matches.at(0).picture.path, "2.jpg");
    EXPECT_EQ(answer.matches.at(0).distance, 0);
    EXPECT_FALSE(answer.library.ReadThumbnail(answer.matches[0].picture.id).empty());
  };
  expect_answers(*library);
  EXPECT_EQ(library->Refresh(), 7U);
  // Reading has changed nothing.
  EXPECT_TRUE(fs::exists(library->folder().first_version_coder()));
  EXPECT_FALSE(fs::exists(library->folder().index()));

  const UpdateSummary summary = library->Update({}, OneThread());
  EXPECT_EQ(summary.unchanged, 5U);
  EXPECT_EQ(summary.added + summary.changed + summary.removed, 0U);
  for (const fs::path& gone :
       {library->folder().first_version_coder(), pictures.library() / "codes.bpx"}) {
    EXPECT_FALSE(fs::exists(gone)) << gone;
  }
  EXPECT_TRUE(fs::exists(library->folder().index()));
  EXPECT_TRUE(fs::exists(library->folder().coder(digest)));
  EXPECT_EQ(library->Snapshot().catalogue().Setting("library_version"), "2");
  expect_answers(*library);  // the object that was open all the time, and a new one
  expect_answers(*PictureLibrary::Open(Env::Posix(), pictures.library()));
  WriteBytes(pictures.root() / "later.jpg", SpottedJpeg(9));
  EXPECT_EQ(library->Update({}, OneThread()).added, 1U);
  EXPECT_EQ(library->Snapshot().index().size(), 5);
}

// Version 1 could be killed when it had a new coder and still the old codes.
TEST(PictureLibrary, ALibraryOfVersionOneWithAnotherCoderGetsItsCodes) {
  const PictureFolder pictures;
  WriteSpotted(pictures, 4);
  const auto other =
      PictureLibrary::Create(Env::Posix(), pictures.base() / "other", pictures.root());
  other->Update({.bits = 24}, OneThread());
  const std::string digest = other->Snapshot().facts().coder;
  {
    const auto library = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
    library->Update({.bits = 16}, OneThread());
  }
  MakeFirstVersionOf(pictures.library());
  const auto library = PictureLibrary::Open(Env::Posix(), pictures.library());
  fs::copy_file(other->folder().coder(digest), library->folder().first_version_coder(),
                fs::copy_options::overwrite_existing);
  ExpectError(ErrorCode::kCorrupt, {".bitpool", "made with another coder", "bitpool index"},
              [&] { library->QueryFile(pictures.root() / "2.jpg", {}, OneThread()); });
  EXPECT_EQ(library->Update({}, OneThread()).changed, 4U);
  EXPECT_EQ(ReadCodes(library->Snapshot()), ReadCodes(other->Snapshot()));
}

// What happens before pictures are encoded: they are found, and a coder may be learned.
TEST(PictureLibrary, TheTimeOfAnUpdateIsThatOfAllItDoes) {
  class SlowEnv : public testing::FaultyEnv {
   public:
    explicit SlowEnv(fs::path slow) : FaultyEnv(0), slow_(std::move(slow)) {}
    std::vector<FolderEntry> ListEntries(const fs::path& folder) override {
      if (fs::equivalent(folder, slow_))
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return FaultyEnv::ListEntries(folder);
    }

   private:
    fs::path slow_;
  };
  const PictureFolder pictures;
  SlowEnv env(pictures.root());
  const auto library = PictureLibrary::Create(env, pictures.library(), pictures.root());
  EXPECT_GE(library->Update({.pictures = pictures.root()}, OneThread()).seconds, 0.2);
}

TEST(PictureLibrary, SaysWhenThereIsNothingToLearnFrom) {
  const PictureFolder pictures;
  const auto library = PictureLibrary::Create(Env::Posix(), pictures.library(), pictures.root());
  const UpdateOptions learning = {.bits = 32};  // a length that the shipped coder does not have
  ExpectError(ErrorCode::kNotFound, {"no pictures here"},
              [&] { library->Update(learning, OneThread()); });
  WriteText(pictures.root() / "text.jpg", "Dear diary,\n");
  ExpectError(ErrorCode::kInvalidArgument, {"none of 1 pictures", "text.jpg"},
              [&] { library->Update(learning, OneThread()); });
  ExpectError(ErrorCode::kNotFound, {"nowhere"},
              [&] { library->Update({.pictures = pictures.root() / "nowhere"}, OneThread()); });
}

}  // namespace
}  // namespace bitpool
