// Duplicates among real pictures: codes find, pixels decide.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "bitpool/base/error.h"
#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/picture_sketch.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/checksum.h"
#include "bitpool/library/library_duplicates.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using testing::ExpectError;
using ::testing::IsEmpty;
using testing::PictureFolder;
using testing::SpottedPicture;

// All codes are near each other, so that only pixels tell pictures apart.
PictureCode NearCode(std::span<const std::byte> bytes) {
  PictureCode code;
  code.code.assign(8, 0);
  code.code[0] = static_cast<uint8_t>(Checksum(bytes) & 3);
  code.projection.setOnes(testing::kFakeBits);
  code.facts = InspectPicture(bytes, {});
  return code;
}

// A library of pictures that are written by the test.
class DuplicatePixels : public ::testing::Test {
 protected:
  void Write(const std::string& path, const Picture& picture, int quality = 92) {
    WriteBytes(path, EncodeJpeg(picture, quality));
  }
  void WriteBytes(const std::string& path, const std::vector<std::byte>& bytes) {
    pictures_.Write(path, testing::ToString(bytes));
  }

  UpdateSummary Update(const decltype(PictureEncoding::encode)& encode = NearCode) {
    LibraryUpdate update = pictures_.MakeUpdate({.bits = testing::kFakeBits,
                                                 .digest = "near",
                                                 .encode = encode,
                                                 .thumbnail = MakeThumbnail});
    std::erase_if(update.found,
                  [](const FoundPicture& one) { return one.path.starts_with(".bitpool"); });
    UpdateSummary summary = pictures_.Update(update, RunContext());
    library_ = PictureLibrary::Open(Env::Posix(), pictures_.library());
    return summary;
  }

  std::vector<DuplicateGroup> Find(const DuplicateSearch& search = {}) const {
    return library_->Duplicates(search, RunContext()).groups;
  }
  // "kind: path path" of each group.
  std::vector<std::string> Found(const DuplicateSearch& search = {}) const {
    std::vector<std::string> lines;
    for (const DuplicateGroup& group : Find(search)) {
      std::string line = NameOf(group.kind);
      for (const DuplicatePicture& one : group.pictures) line += " " + one.picture.path;
      lines.push_back(line);
    }
    return lines;
  }

  PictureFolder pictures_;
  std::unique_ptr<PictureLibrary> library_;
};

TEST_F(DuplicatePixels, GroupsSayWhatTheyAre) {
  const Picture a = SpottedPicture(320, 240, 1), b = SpottedPicture(320, 240, 2),
                c = SpottedPicture(320, 240, 3), d = SpottedPicture(320, 240, 4);
  Write("a.jpg", a);
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, a));
  Write("b.jpg", b);
  Write("b part.jpg", ApplyEdit(PictureEdit::kCropQuarter, b));
  Write("c.jpg", c);
  Write("copy of c.jpg", c);
  Write("d.jpg", d);  // alone
  Update();
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg a small.jpg", "part b.jpg b part.jpg",
                                   "exact c.jpg copy of c.jpg"));
  const std::vector<DuplicateGroup> groups = Find();
  EXPECT_EQ(groups[0].reason.rule, KeepRule::kPixels);
  EXPECT_GT(groups[0].pictures[1].evidence.agreement, 0.8);
  EXPECT_FALSE(groups[1].pictures[1].evidence.first_is_part);  // compared with the whole
  EXPECT_TRUE(groups[2].pictures[1].evidence.same_file);
  ASSERT_EQ(groups[1].pairs.size(), 1U);
  EXPECT_EQ(groups[1].pairs[0].evidence.kind, DuplicateKind::kPart);
  EXPECT_THAT(Found({.similar = true}).size(), 1U);  // all codes are near
  EXPECT_EQ(Find({.similar = true})[0].kind, DuplicateKind::kSimilar);
  ExpectError(ErrorCode::kInvalidArgument, {"radius"}, [&] { Find({.radius = -1}); });
}

// Another file with the same pixels: here with bytes after the end, as some programs leave them.
TEST_F(DuplicatePixels, TheSamePixelsInAnotherFileAreExact) {
  std::vector<std::byte> bytes = EncodeJpeg(SpottedPicture(300, 200, 5), 90);
  WriteBytes("one.jpg", bytes);
  bytes.push_back(std::byte{0});
  WriteBytes("two.jpg", bytes);
  Write("again.jpg", SpottedPicture(300, 200, 5), 50);
  Update();
  const std::vector<DuplicateGroup> groups = Find();
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].kind, DuplicateKind::kEdited);
  std::map<std::pair<std::string, std::string>, DuplicateKind> kinds;
  for (const DuplicatePair& pair : groups[0].pairs) {
    EXPECT_FALSE(pair.evidence.same_file);
    kinds[std::minmax(groups[0].pictures[pair.first].picture.path,
                      groups[0].pictures[pair.second].picture.path)] = pair.evidence.kind;
  }
  EXPECT_EQ((kinds[{"one.jpg", "two.jpg"}]), DuplicateKind::kExact);
  EXPECT_EQ((kinds[{"again.jpg", "two.jpg"}]), DuplicateKind::kEdited);
}

template <class Number>
void Append(Number value, std::vector<std::byte>& bytes) {
  const auto raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// A TIFF of these pages, uncompressed: the pixels of each, then its 9 entries (tag, type, count,
// value) and the place of the next.
std::vector<std::byte> TiffOf(const std::vector<Picture>& pages) {
  constexpr uint32_t kEntries = 9, kDirectoryBytes = 2 + 12 * kEntries + 4;
  std::vector<std::byte> bytes;
  Append(uint32_t{0x002a4949}, bytes);
  Append(static_cast<uint32_t>(8 + pages[0].pixels.size()), bytes);
  for (size_t i = 0; i < pages.size(); ++i) {
    const auto width = static_cast<uint32_t>(pages[i].width),
               height = static_cast<uint32_t>(pages[i].height),
               start = static_cast<uint32_t>(bytes.size()), size = 3 * width * height;
    const auto pixels = std::as_bytes(std::span(pages[i].pixels));
    bytes.insert(bytes.end(), pixels.begin(), pixels.end());
    Append(static_cast<uint16_t>(kEntries), bytes);
    const uint32_t entries[kEntries][2] = {{256, width}, {257, height}, {258, 8},
                                           {259, 1},     {262, 2},      {273, start},
                                           {277, 3},     {278, height}, {279, size}};
    for (const auto& [tag, value] : entries) {
      Append(static_cast<uint16_t>(tag), bytes);
      Append(uint16_t{4}, bytes);  // 32 bits
      Append(uint32_t{1}, bytes);
      Append(value, bytes);
    }
    const bool last = i + 1 == pages.size();
    Append(last
               ? 0U
               : start + size + kDirectoryBytes + static_cast<uint32_t>(pages[i + 1].pixels.size()),
           bytes);
  }
  return bytes;
}

// As scans with the same cover are.
TEST_F(DuplicatePixels, FilesOfSeveralPagesAreExactOnlyWhenTheirBytesAre) {
  const Picture cover = SpottedPicture(300, 200, 5);
  const std::vector<std::byte> single = TiffOf({cover});
  ASSERT_EQ(DecodePicture(single, {}).pixels, cover.pixels);
  WriteBytes("a.tif", TiffOf({cover, SpottedPicture(300, 200, 6)}));
  WriteBytes("b.tif", TiffOf({cover, SpottedPicture(300, 200, 7)}));
  Update();
  EXPECT_THAT(Found(), ElementsAre("edited a.tif b.tif"));
  pictures_.Remove("b.tif");
  WriteBytes("c.tif", single);
  Update();
  EXPECT_THAT(Found(), ElementsAre("edited a.tif c.tif"));
  WriteBytes("d.tif", TiffOf({cover, SpottedPicture(300, 200, 6)}));
  pictures_.Remove("c.tif");
  Update();
  EXPECT_THAT(Found(), ElementsAre("exact a.tif d.tif"));
}

// Codes that tell nothing.
PictureCode FarCode(std::span<const std::byte> bytes) {
  PictureCode code = NearCode(bytes);
  const uint64_t random = Checksum(bytes);
  for (size_t i = 0; i < 8; ++i) code.code[i] = static_cast<uint8_t>(random >> (8 * i));
  return code;
}

PictureCode NoCode(std::span<const std::byte> /*bytes*/) {
  throw Error(ErrorCode::kUnsupported, kNoFeatures);
}

TEST_F(DuplicatePixels, PerceptualHashesFindWhatCodesDoNot) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Write("b.jpg", SpottedPicture(320, 240, 2));
  Update(FarCode);
  EXPECT_THAT(Found({.radius = 14}), ElementsAre("edited a.jpg a small.jpg"));
  EXPECT_GT(Find({.radius = 14})[0].pictures[1].evidence.distance, 14);  // of the codes
}

TEST_F(DuplicatePixels, PicturesWithoutACodeHaveDuplicates) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Write("b.jpg", SpottedPicture(320, 240, 2));
  Write("copy of b.jpg", SpottedPicture(320, 240, 2));
  EXPECT_EQ(Update(NoCode).failed.size(), 4U);
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg a small.jpg", "exact b.jpg copy of b.jpg"));
  EXPECT_LE(Find()[0].pictures[1].distance, 4);  // of the hashes
  EXPECT_EQ(Find()[0].pictures[0].picture.width, 320);
}

// As after an update of the program.
TEST_F(DuplicatePixels, HashesAreAddedWhereTheyAreMissing) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Update(FarCode);
  const std::filesystem::path catalogue = LibraryFolder(pictures_.library()).catalogue();
  const auto first = library_->Snapshot();
  library_.reset();
  testing::Tamper(catalogue, "UPDATE pictures SET perceptual_hash = NULL");
  library_ = PictureLibrary::Open(Env::Posix(), pictures_.library());
  EXPECT_THAT(Found({.radius = 14}), IsEmpty());
  EXPECT_EQ(Update(NoCode).unchanged, 2U);  // nothing is encoded again
  EXPECT_THAT(Found({.radius = 14}), ElementsAre("edited a.jpg a small.jpg"));
  EXPECT_EQ(library_->Snapshot().catalogue().generation(), first.catalogue().generation());
  EXPECT_EQ(testing::All(library_->Snapshot().catalogue()), testing::All(first.catalogue()));
}

// Also those of pictures that were too plain for a code, which had no thumbnails.
TEST_F(DuplicatePixels, PicturesWithoutACodeGetTheirHashesLater) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Update(NoCode);
  const LibraryFolder folder(pictures_.library());
  library_.reset();
  testing::Tamper(folder.catalogue(), "UPDATE pictures SET perceptual_hash = NULL");
  std::filesystem::remove_all(folder.thumbnails());
  Update(NoCode);
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg a small.jpg"));
}

// The second time nothing is looked at: not even files that are gone.
TEST_F(DuplicatePixels, VerdictsAreKept) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Write("b.jpg", SpottedPicture(320, 240, 2));
  Write("b part.jpg", ApplyEdit(PictureEdit::kCropQuarter, SpottedPicture(320, 240, 2)));
  Update();
  const std::vector<DuplicateGroup> before = Find();
  ASSERT_EQ(before.size(), 2U);
  const LibraryFolder folder(pictures_.library());
  EXPECT_TRUE(std::filesystem::exists(folder.verdicts()));
  std::filesystem::remove_all(folder.thumbnails());
  for (const char* name : {"a.jpg", "a small.jpg", "b.jpg", "b part.jpg"}) {
    std::filesystem::remove(pictures_.root() / name);
  }
  const std::vector<DuplicateGroup> after = Find();
  ASSERT_EQ(after.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(after[i].pairs.size(), before[i].pairs.size());
    EXPECT_EQ(after[i].pairs[0].evidence, before[i].pairs[0].evidence);
  }
  std::filesystem::remove(folder.verdicts());
  EXPECT_THAT(Found(), IsEmpty());
  // What could not be looked at is not recorded.
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("a small.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg a small.jpg"));
}

// Ids begin again in a new catalogue, and a verdict on the same two would be about others.
TEST_F(DuplicatePixels, VerdictsBelongToContents) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("b.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Update();
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg b.jpg"));
  const LibraryFolder folder(pictures_.library());
  library_.reset();
  std::filesystem::remove(folder.catalogue());
  Write("b.jpg", SpottedPicture(160, 120, 2));
  Update();
  EXPECT_TRUE(std::filesystem::exists(folder.verdicts()));
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(DuplicatePixels, LostThumbnailsAreMadeOfTheFiles) {
  Write("a.jpg", SpottedPicture(320, 240, 1));
  Write("b.jpg", ApplyEdit(PictureEdit::kHalfSize, SpottedPicture(320, 240, 1)));
  Update();
  std::filesystem::remove_all(pictures_.library() / "thumbnails");
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg b.jpg"));
  pictures_.Remove("b.jpg");  // nothing left to look at
  std::filesystem::remove(LibraryFolder(pictures_.library()).verdicts());
  EXPECT_THAT(Found(), IsEmpty());
  EXPECT_THAT(Found({.similar = true}), ElementsAre("similar a.jpg b.jpg"));
}

TEST_F(DuplicatePixels, DecisionsHold) {
  const Picture a = SpottedPicture(320, 240, 1);
  Write("a.jpg", a, 95);
  Write("b.jpg", a, 90);
  Write("c.jpg", a, 60);
  Update();
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg b.jpg c.jpg"));
  const auto id = [&](const std::string& path) { return library_->IdOf(path); };
  const Decision apart = library_->DecideNotDuplicates(id("a.jpg"), id("c.jpg"));
  EXPECT_EQ(library_->DecideNotDuplicates(id("c.jpg"), id("a.jpg")), apart);  // decided before
  // b is like both, and stays with the one it is more like; it does not bring a and c together.
  for (const DuplicateGroup& group : Find()) {
    std::set<std::string> paths;
    for (const DuplicatePicture& one : group.pictures) paths.insert(one.picture.path);
    EXPECT_FALSE(paths.contains("a.jpg") && paths.contains("c.jpg"));
  }
  EXPECT_EQ(Find().size(), 1U);
  const Decision keep = library_->DecideToKeep(id("b.jpg"));
  EXPECT_EQ(Find()[0].pictures[0].picture.path, "b.jpg");
  EXPECT_EQ(Find()[0].reason.rule, KeepRule::kMarked);
  EXPECT_THAT(library_->ListDecisions(), ElementsAre(apart, keep));

  // Found again after a move, and by other objects.
  std::filesystem::create_directories(pictures_.root() / "moved");
  std::filesystem::rename(pictures_.root() / "b.jpg", pictures_.root() / "moved/b.jpg");
  Update();
  EXPECT_EQ(Find()[0].pictures[0].picture.path, "moved/b.jpg");

  library_->UndoDecision(apart.id);
  library_->UndoDecision(keep.id);
  EXPECT_THAT(Found(), ElementsAre("edited a.jpg moved/b.jpg c.jpg"));
  ExpectError(ErrorCode::kNotFound, {"no decision 1"}, [&] { library_->UndoDecision(apart.id); });
  ExpectError(ErrorCode::kNotFound, {"no picture 77"}, [&] { library_->DecideToKeep(77); });
}

TEST_F(DuplicatePixels, OfTwoEqualFilesTheMarkedOneIsKept) {
  const Picture a = SpottedPicture(320, 240, 1);
  Write("a.jpg", a);
  Write("album/a.jpg", a);
  Write("third.jpg", a);
  Update();
  EXPECT_THAT(Found(), ElementsAre("exact a.jpg third.jpg album/a.jpg"));
  const uint64_t first = library_->IdOf("a.jpg"), second = library_->IdOf("album/a.jpg");
  ExpectError(ErrorCode::kInvalidArgument, {"a.jpg and album/a.jpg have the same bytes"},
              [&] { library_->DecideNotDuplicates(first, second); });
  // Of several nothing is decided.
  WriteBytes("other.jpg", EncodeJpeg(SpottedPicture(320, 240, 2), 90));
  Update();
  const std::vector<uint64_t> ids = {first, library_->IdOf("other.jpg"), second};
  ExpectError(ErrorCode::kInvalidArgument, {"the same bytes"},
              [&] { library_->DecideNotDuplicates(ids); });
  EXPECT_THAT(library_->ListDecisions(), IsEmpty());
  library_->DecideToKeep(second);
  const DuplicateGroup group = Find()[0];
  EXPECT_EQ(group.pictures[0].picture.path, "album/a.jpg");
  EXPECT_FALSE(group.pictures[1].keep);
  EXPECT_THAT(Found({.keep = {.rules = {}, .folders = {"album"}}}),
              ElementsAre("exact album/a.jpg a.jpg third.jpg"));
  ExpectError(ErrorCode::kNotFound, {"nowhere"},
              [&] { Find({.keep = {.rules = {}, .folders = {"nowhere"}}}); });
}

TEST_F(DuplicatePixels, MirroredCopiesAreFoundWhenAsked) {
  const Picture a = SpottedPicture(320, 240, 1);
  Write("a.jpg", a);
  Write("b.jpg", Mirrored(ApplyEdit(PictureEdit::kHalfSize, a)));
  Write("c.jpg", SpottedPicture(320, 240, 2));
  Update();
  EXPECT_THAT(Found(), IsEmpty());
  const PictureEncoder encode = [](const Picture&) { return std::vector<uint8_t>(8, 0); };
  const auto groups =
      FindDuplicates(library_->Snapshot(), {.mirrored = true}, encode, RunContext());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].pictures[1].picture.path, "b.jpg");
  EXPECT_TRUE(groups[0].pictures[1].evidence.mirrored);
}

// The same groups and evidence at any number of threads.
TEST_F(DuplicatePixels, ThreadsChangeNothing) {
  for (int i = 0; i < 6; ++i) {
    const Picture one = SpottedPicture(200, 160, static_cast<uint64_t>(i));
    Write(std::to_string(i) + ".jpg", one);
    Write(std::to_string(i) + "b.jpg", ApplyEdit(PictureEdit::kText, one));
  }
  Update();
  const auto agreements = [&](int threads) {
    std::vector<double> all;
    for (const DuplicateGroup& group :
         library_->Duplicates({}, RunContext({.threads = threads})).groups) {
      for (const DuplicatePair& pair : group.pairs) all.push_back(pair.evidence.agreement);
    }
    return all;
  };
  EXPECT_EQ(agreements(1).size(), 6U);
  EXPECT_EQ(agreements(1), agreements(3));
}

}  // namespace
}  // namespace bitpool
