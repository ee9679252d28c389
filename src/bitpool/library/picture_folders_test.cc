#include "bitpool/library/picture_folders.h"

#include <gmock/gmock.h>

#include "bitpool/library/library_testing.h"
#include "bitpool/library/move_script.h"
#include "bitpool/pictures/shipped_coder.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExpectError;
using testing::FakePicture;
using ::testing::IsEmpty;
using testing::PictureFolder;

std::vector<std::string> PathsOf(const std::vector<FoundPicture>& found) {
  std::vector<std::string> paths;
  for (const FoundPicture& one : found) paths.push_back(one.path);
  return paths;
}

void WriteFile(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

// Folders beside each other, and a library in the first.
class PictureFolders : public ::testing::Test {
 protected:
  FoundInFolders Find(const FolderChoice& choice,
                      const std::optional<LibraryFacts>& facts = {}) const {
    return FindInFolders(Env::Posix(), LibraryFolder(pictures_.library()), facts, choice,
                         RunContext());
  }
  fs::path other() const { return pictures_.base() / "other"; }

  UpdateSummary Update(const FolderChoice& choice) {
    LibraryWriter writer(Env::Posix(), pictures_.library());
    FoundInFolders found = Find(choice, writer.ReadFacts());
    LibraryUpdate update = {.root = found.root,
                            .folders = found.folders,
                            .exclude = found.exclude,
                            .found = found.found,
                            .unreadable = found.unreadable,
                            .read =
                                [root = found.root](const FoundPicture& picture) {
                                  return Env::Posix().Read(root / picture.path, 1000000);
                                },
                            // A plan is made for the coder that ships.
                            .encoding = testing::FakeEncoding(ShippedCoder().digest())};
    return UpdateLibrary(writer, update, RunContext());
  }

  PictureFolder pictures_;
};

TEST_F(PictureFolders, HiddenFoldersAndExcludedNamesAreLeftAlone) {
  for (const char* path : {"a.jpg", "b.gif", ".hidden/c.jpg", "d/.e/f.jpg", "d/raw/g.jpg",
                           "d/h.jpg", "raw.jpg", "x/d/raw/i.jpg"}) {
    pictures_.Write(path, FakePicture(1));
  }
  const std::vector<fs::path> folders = {pictures_.root()};
  EXPECT_THAT(PathsOf(Find({.folders = folders}).found),
              ElementsAre("a.jpg", "b.gif", "d/h.jpg", "d/raw/g.jpg", "raw.jpg", "x/d/raw/i.jpg"));
  const auto found = [&](std::vector<std::string> exclude) {
    return PathsOf(Find({.folders = folders, .exclude = std::move(exclude)}).found);
  };
  EXPECT_THAT(found({"*.gif", "raw"}), ElementsAre("a.jpg", "d/h.jpg", "raw.jpg"));
  EXPECT_THAT(found({"d/raw"}),
              ElementsAre("a.jpg", "b.gif", "d/h.jpg", "raw.jpg", "x/d/raw/i.jpg"));
  EXPECT_THAT(found({"*/h.jpg", "[ab].*", "x"}), ElementsAre("d/raw/g.jpg", "raw.jpg"));
  ExpectError(ErrorCode::kInvalidArgument, {"exclude", "expected a pattern"}, [&] { found({""}); });
}

// Otherwise they are indexed, and the script of dedupe moves them out of that library.
TEST_F(PictureFolders, ThumbnailsOfAnotherLibraryAreNoPictures) {
  pictures_.Write("in/a.jpg", FakePicture(1));
  const fs::path another = pictures_.root() / "another library";
  PictureLibrary::Create(Env::Posix(), another, pictures_.root() / "in");
  WriteFile(another / "thumbnails/0/1.jpg", FakePicture(1));
  EXPECT_THAT(PathsOf(Find({.folders = {pictures_.root()}}).found), ElementsAre("in/a.jpg"));
}

TEST_F(PictureFolders, SeveralFoldersMakeOneLibrary) {
  pictures_.Write("a.jpg", FakePicture(1));
  WriteFile(other() / "b.jpg", FakePicture(2));
  const std::string b = fs::canonical(other() / "b.jpg").string();
  EXPECT_EQ(Update({.folders = {pictures_.root(), other()}, .exclude = {{"*.gif"}}}).added, 2U);
  {
    const LibrarySnapshot library = pictures_.Open();
    EXPECT_TRUE(library.catalogue().FindByPath("a.jpg").has_value());
    EXPECT_TRUE(library.catalogue().FindByPath(b).has_value());
    EXPECT_EQ(library.root() / b, b);
    EXPECT_THAT(library.facts().folders, ElementsAre(fs::canonical(other()).string()));
    EXPECT_THAT(library.facts().exclude, ElementsAre("*.gif"));
  }
  // The folders are recorded and need not be named again.
  WriteFile(other() / "c.jpg", FakePicture(3));
  WriteFile(other() / "d.gif", FakePicture(4));
  const UpdateSummary again = Update({});
  EXPECT_EQ(again.added, 1U);
  EXPECT_EQ(again.unchanged, 2U);
  EXPECT_EQ(Update({.folders = {other()}}).unchanged, 3U);
  EXPECT_EQ(Update({.folders = {}, .exclude = std::vector<std::string>()}).added, 1U);  // the gif

  // A folder that is away now, such as that of a camera, loses nothing.
  fs::rename(other(), pictures_.base() / "away");
  const UpdateSummary away = Update({});
  EXPECT_EQ(away.removed, 0U);
  EXPECT_EQ(away.unchanged, 4U);
  ASSERT_EQ(away.failed.size(), 1U);
  EXPECT_EQ(away.failed[0].reason, "the folder is not there now");
  fs::rename(pictures_.base() / "away", other());
  fs::remove(other() / "b.jpg");
  EXPECT_EQ(Update({}).removed, 1U);
}

TEST_F(PictureFolders, FoldersDoNotOverlap) {
  pictures_.Write("in/a.jpg", FakePicture(1));
  EXPECT_EQ(Update({.folders = {pictures_.root(), pictures_.root() / "in"}}).added, 1U);
  EXPECT_THAT(pictures_.Open().facts().folders, IsEmpty());
  ExpectError(ErrorCode::kInvalidArgument, {"contains", "another library"}, [&] {
    Update({.folders = {pictures_.root(), pictures_.base()}});
  });
  fs::create_directories(other());
  ExpectError(ErrorCode::kInvalidArgument, {"this library is of the folder"},
              [&] { Update({.folders = {other()}}); });
  ExpectError(ErrorCode::kNotFound, {"nowhere"}, [&] {
    Update({.folders = {pictures_.root(), pictures_.base() / "nowhere"}});
  });
}

TEST_F(PictureFolders, APlanChangesNothing) {
  pictures_.Write("a.jpg", FakePicture(1));
  pictures_.Write("b.jpg", FakePicture(2));
  const UpdateOptions options = {.pictures = pictures_.root()};
  const auto plan = [&] {
    return PictureLibrary::Plan(Env::Posix(), pictures_.library(), options, RunContext());
  };
  EXPECT_EQ(plan().added, 2U);
  EXPECT_EQ(plan().bytes, 2 * FakePicture(1).size());
  EXPECT_FALSE(fs::exists(pictures_.library()));
  Update({.folders = {pictures_.root()}});
  EXPECT_EQ(plan().unchanged, 2U);
  EXPECT_EQ(plan().bytes, 0U);
  pictures_.Write("b.jpg", FakePicture(3));
  pictures_.Write("c.jpg", FakePicture(3));
  pictures_.Remove("a.jpg");
  const UpdatePlan changes = plan();
  EXPECT_EQ(changes.added, 1U);
  EXPECT_EQ(changes.changed, 1U);
  EXPECT_EQ(changes.removed, 1U);
  EXPECT_EQ(changes.unchanged, 0U);
  EXPECT_EQ(pictures_.Open().index().size(), 2);
}

TEST_F(PictureFolders, APlanIsForTheCoderOfTheUpdate) {
  pictures_.Write("a.jpg", FakePicture(1));
  pictures_.Write("b.jpg", FakePicture(2));
  UpdateOptions options = {.pictures = pictures_.root()};
  const auto plan = [&] {
    return PictureLibrary::Plan(Env::Posix(), pictures_.library(), options, RunContext());
  };
  options.bits = 32;  // learned
  EXPECT_EQ(plan().added, 2U);
  options.learn = ViewKind::kCopies;
  ExpectError(ErrorCode::kInvalidArgument, {"2 pictures are too few"}, plan);
  options = {.pictures = pictures_.root(), .coder = pictures_.root() / "a.jpg"};
  ExpectError(ErrorCode::kCorrupt, {"a.jpg"}, plan);
  EXPECT_FALSE(fs::exists(pictures_.library()));

  // All are encoded again by another coder.
  LibraryUpdate update = pictures_.MakeUpdate(testing::FakeEncoding("another"));
  pictures_.Update(update, RunContext());
  const fs::path shipped = pictures_.base() / "shipped.bpc";
  SaveCoder(Env::Posix(), shipped, ShippedCoder(), IfExists::kFail);
  options = {.pictures = pictures_.root(), .bits = kShippedBits, .coder = shipped};
  EXPECT_EQ(plan().changed, 2U);
  EXPECT_EQ(plan().bytes, 2 * FakePicture(1).size());
  options.bits = 512;
  ExpectError(ErrorCode::kInvalidArgument, {"shipped.bpc", "512 bits", "has 64"}, plan);

  // What was encoded before a stop is done.
  options.bits.reset();
  update = pictures_.MakeUpdate(testing::FakeEncoding(ShippedCoder().digest()));
  std::stop_source stop;
  update.batch = 1;
  const auto encode = update.encoding.encode;
  update.encoding.encode = [&](std::span<const std::byte> bytes) {
    stop.request_stop();
    return encode(bytes);
  };
  EXPECT_TRUE(
      pictures_.Update(update, RunContext({.threads = 1, .stop = stop.get_token()})).stopped);
  EXPECT_EQ(plan().changed, 1U);
  EXPECT_EQ(plan().unchanged, 1U);

  fs::create_directories(other());
  options.pictures = other();
  ExpectError(ErrorCode::kInvalidArgument, {"this library is of the folder"}, plan);
}

}  // namespace
}  // namespace bitpool
