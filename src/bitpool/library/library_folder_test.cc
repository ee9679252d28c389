#include "bitpool/library/library_folder.h"

#include <gtest/gtest.h>

#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::FakePicture;
using testing::PictureFolder;
using testing::TempFolder;

void PutSetting(const fs::path& catalogue, const std::string& key, const std::string& value) {
  const auto open = OpenCatalogue(catalogue.string(), CatalogueAccess::kWrite);
  const auto batch = open->StartBatch(PictureSet::kCurrent);
  batch->PutSetting(key, value);
  batch->Commit();
}

TEST(LibraryFacts, RefusesWhatANewerVersionMade) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  const fs::path catalogue = LibraryFolder(pictures.library()).catalogue();
  PutSetting(catalogue, "library_version", "3");
  ExpectError(ErrorCode::kUnsupported, {".bitpool", "newer", "version 3"},
              [&] { pictures.Open(); });
  ExpectError(ErrorCode::kUnsupported, {".bitpool", "newer", "version 3"},
              [&] { pictures.Update(); });
  EXPECT_EQ(OpenCatalogue(catalogue.string(), CatalogueAccess::kRead)->Snapshot()->Count(), 1U);
  PutSetting(catalogue, "library_version", "one");
  ExpectError(ErrorCode::kCorrupt, {"library_version", "expected a number", "one"},
              [&] { pictures.Open(); });
  PutSetting(catalogue, "library_version", "2");
  PutSetting(catalogue, "bits", "5000");
  ExpectError(ErrorCode::kCorrupt, {"5000 bits"}, [&] { pictures.Open(); });
  PutSetting(catalogue, "bits", "72");
  ExpectError(ErrorCode::kCorrupt, {"picture 1", "8 bytes", "72 bits"}, [&] { pictures.Open(); });
}

TEST(LibraryFacts, ComeBackAsTheyWere) {
  const TempFolder folder;
  const auto catalogue = OpenCatalogue((folder / "catalogue").string(), CatalogueAccess::kCreate);
  EXPECT_FALSE(ReadLibraryFacts(*catalogue->Snapshot(), "name"));
  const LibraryFacts facts = {.root = "..",
                              .folders = {"/media/camera", "/with\nnewline \xFF"},
                              .exclude = {"*.gif"},
                              .bits = 64,
                              .coder = "a",
                              .next_bits = 32,
                              .next_coder = "b",
                              .index_generation = 7,
                              .index_digest = "c",
                              .unfinished = true};
  for (const LibraryFacts& some : {LibraryFacts(), facts, LibraryFacts()}) {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    PutLibraryFacts(*batch, some);
    batch->Commit();
    EXPECT_EQ(ReadLibraryFacts(*catalogue->Snapshot(), "name"), some);
  }
}

TEST(LibraryFolder, FindsItsPicturesWhenBothAreMoved) {
  const TempFolder folder;
  Env& env = Env::Posix();
  fs::create_directories(folder / "p/.bitpool");
  fs::create_directories(folder / "library");
  EXPECT_EQ(RootSetting(env, folder / "p/.bitpool", folder / "p"), "..");
  EXPECT_EQ(RootSetting(env, folder / "p/.bitpool/", folder / "p/"), "..");
  EXPECT_EQ(RootSetting(env, folder / "p/a/b", folder / "p/../p"), "../..");
  EXPECT_EQ(RootSetting(env, folder / "library", folder / "p"), fs::canonical(folder / "p"));
  EXPECT_EQ(RootSetting(env, folder / "p2", folder / "p"), fs::canonical(folder / "p"));
  EXPECT_TRUE(fs::equivalent(RootOf(env, folder / "p/.bitpool", ".."), folder / "p"));
  EXPECT_EQ(RootOf(env, folder / "library", "/x/y"), "/x/y");
  EXPECT_EQ(FolderInRoot(env, folder / "p/.bitpool", folder / "p"), ".bitpool");
  EXPECT_EQ(FolderInRoot(env, folder / "p/", folder / "p"), ".");
  EXPECT_EQ(FolderInRoot(env, folder / "library", folder / "p"), "");
  fs::create_directory_symlink(folder / "p", folder / "link");
  EXPECT_EQ(FolderInRoot(env, folder / "p/.bitpool", folder / "link"), ".bitpool");
}

}  // namespace
}  // namespace bitpool
