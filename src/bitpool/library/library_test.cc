#include "bitpool/library/library.h"

#include <gtest/gtest.h>

#include "bitpool/catalog/sqlite_catalogue.h"
#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::FakePicture;
using testing::PictureFolder;
using testing::ReadContent;
using testing::TempFolder;

void PutSetting(const fs::path& catalogue, const std::string& key, const std::string& value) {
  const auto open = OpenSqliteCatalogue(catalogue, CatalogueAccess::kWrite);
  const auto batch = open->StartBatch();
  batch->PutSetting(key, value);
  batch->Commit();
}

TEST(Library, SaysWhenThereIsNone) {
  const TempFolder folder;
  const RunContext context({.threads = 1});
  ExpectError(ErrorCode::kNotFound, {"/none", "no library", "bitpool index"},
              [&] { Library(Env::Posix(), folder / "none", context); });
  EXPECT_FALSE(fs::exists(folder / "none"));
  { LibraryWriter(Env::Posix(), folder / "begun"); }
  ExpectError(ErrorCode::kNotFound, {"/begun", "nothing was indexed"},
              [&] { Library(Env::Posix(), folder / "begun", context); });
}

TEST(Library, RefusesWhatANewerVersionMade) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  const LibraryFolder folder(pictures.library());
  PutSetting(folder.catalogue(), "library_version", "2");
  ExpectError(ErrorCode::kUnsupported, {".bitpool", "newer", "version 2"},
              [&] { pictures.Open(); });
  ExpectError(ErrorCode::kUnsupported, {".bitpool", "newer", "version 2"},
              [&] { pictures.Update(); });
  EXPECT_EQ(OpenSqliteCatalogue(folder.catalogue(), CatalogueAccess::kRead)->Count(), 1U);
  PutSetting(folder.catalogue(), "library_version", "one");
  ExpectError(ErrorCode::kCorrupt, {"library_version", "expected a number", "one"},
              [&] { pictures.Open(); });
  PutSetting(folder.catalogue(), "library_version", "1");
  PutSetting(folder.catalogue(), "bits", "5000");
  ExpectError(ErrorCode::kCorrupt, {"5000 bits"}, [&] { pictures.Open(); });
  PutSetting(folder.catalogue(), "bits", "72");
  ExpectError(ErrorCode::kCorrupt, {"picture 1", "8 bytes", "72 bits"}, [&] { pictures.Open(); });
}

// A cache that was lost, damaged or belongs to another library is not used, and made again.
TEST(Library, TheIndexFileIsOnlyACopy) {
  PictureFolder pictures;
  for (uint64_t i = 0; i < 100; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i * 99));
  pictures.Update();
  const auto expected = ReadContent(pictures.Open());
  const fs::path index = LibraryFolder(pictures.library()).index();
  const auto good = testing::ToString(Env::Posix().Map(index)->bytes());

  PictureFolder other;
  for (uint64_t i = 0; i < 100; ++i) other.Write(fmt::format("{}.jpg", i), FakePicture(i * 77));
  other.Update();
  std::vector<std::string> bad = {
      "", "text", good.substr(0, good.size() - 1), good + "x",
      testing::ToString(Env::Posix().Map(LibraryFolder(other.library()).index())->bytes())};
  for (size_t at = 0; at < good.size(); at += good.size() / 50) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 4);
  }
  for (const std::string& content : bad) {
    fs::remove(index);  // the old one may be mapped
    if (!content.empty()) std::ofstream(index, std::ios::binary) << content;
    EXPECT_EQ(ReadContent(pictures.Open()), expected);  // in memory
    EXPECT_EQ(fs::exists(index), !content.empty());     // readers change nothing
    pictures.Update();
    EXPECT_EQ(pictures.reads, 0);
    EXPECT_EQ(testing::ToString(Env::Posix().Map(index)->bytes()), good);
  }
}

TEST(Library, MayBeEmpty) {
  PictureFolder pictures;
  EXPECT_EQ(pictures.Update().added, 0U);
  EXPECT_EQ(pictures.Open().index().size(), 0);
  EXPECT_EQ(pictures.Update().added, 0U);
}

TEST(Library, ReadsThumbnails) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  const Library library = pictures.Open();
  EXPECT_EQ(testing::ToString(library.ReadThumbnail(1)), "small " + FakePicture(1));
  EXPECT_TRUE(library.ReadThumbnail(2).empty());
  EXPECT_EQ(LibraryFolder("L").thumbnail(1234567), fs::path("L/thumbnails/1234/1234567.jpg"));
}

TEST(Library, FindsItsPicturesWhenBothAreMoved) {
  const TempFolder folder;
  fs::create_directories(folder / "p/.bitpool");
  fs::create_directories(folder / "library");
  EXPECT_EQ(RootSetting(folder / "p/.bitpool", folder / "p"), "..");
  EXPECT_EQ(RootSetting(folder / "p/.bitpool/", folder / "p/"), "..");
  EXPECT_EQ(RootSetting(folder / "p/a/b", folder / "p/../p"), "../..");
  EXPECT_EQ(RootSetting(folder / "library", folder / "p"), fs::canonical(folder / "p"));
  EXPECT_EQ(RootSetting(folder / "p2", folder / "p"), fs::canonical(folder / "p"));
  EXPECT_TRUE(fs::equivalent(RootOf(folder / "p/.bitpool", ".."), folder / "p"));
  EXPECT_EQ(RootOf(folder / "library", "/x/y"), "/x/y");
  EXPECT_EQ(FolderInRoot(folder / "p/.bitpool", folder / "p"), ".bitpool");
  EXPECT_EQ(FolderInRoot(folder / "p/", folder / "p"), ".");
  EXPECT_EQ(FolderInRoot(folder / "library", folder / "p"), "");
  fs::create_directory_symlink(folder / "p", folder / "link");
  EXPECT_EQ(FolderInRoot(folder / "p/.bitpool", folder / "link"), ".bitpool");
}

}  // namespace
}  // namespace bitpool
