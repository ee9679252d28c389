#include "bitpool/library/library_thumbnails.h"

#include <gtest/gtest.h>

#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::Counts;
using testing::FakePicture;
using testing::IdOf;
using testing::LibraryContent;
using testing::PictureFolder;
using testing::ReadContent;
using testing::UpdateCounts;

TEST(LibraryThumbnails, RealThumbnails) {
  const auto thumbnail = MakeThumbnail(testing::SpottedJpeg(1, 600, 200));
  const PictureFacts facts = InspectPicture(thumbnail, {});
  EXPECT_EQ(facts.width, kThumbnailSide);
  EXPECT_EQ(facts.format, "jpeg");
}

TEST(LibraryThumbnails, AnotherProcessMayBeFasterToRemoveThem) {
  class OvertakenEnv : public testing::FaultyEnv {
   public:
    OvertakenEnv() : FaultyEnv(0) {}
    void Remove(const fs::path& path) override {
      fs::remove(path);
      FaultyEnv::Remove(path);
    }
  };
  const testing::TempFolder folder;
  OvertakenEnv env;
  const LibraryThumbnails thumbnails(env, LibraryFolder(folder.path()));
  for (const uint64_t id : {1, 2}) thumbnails.Write(id, testing::ToBytes("small"));
  thumbnails.Remove(1);
  thumbnails.RemoveAllBut({});
  EXPECT_TRUE(thumbnails.List().empty());
}

TEST(LibraryThumbnails, LostThumbnailsAreMadeAgain) {
  PictureFolder pictures;
  for (int i = 0; i < 5; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Write("bad.jpg", "bad");
  pictures.Update();
  const LibraryContent expected = ReadContent(pictures.Open());
  const LibraryFolder folder(pictures.library());
  const LibraryThumbnails thumbnails(Env::Posix(), folder);
  EXPECT_EQ(thumbnails.PathOf(1234567), folder.thumbnails() / "1234/1234567.jpg");
  fs::remove(thumbnails.PathOf(IdOf(pictures, "1.jpg").value()));
  fs::resize_file(thumbnails.PathOf(IdOf(pictures, "3.jpg").value()), 0);  // a loss of power
  EXPECT_EQ(Counts(pictures.Update()), (UpdateCounts{0, 0, 0, 6, 0}));
  EXPECT_EQ(pictures.reads, 2);
  EXPECT_EQ(ReadContent(pictures.Open()), expected);

  // All of them, and one picture that cannot be read now.
  fs::remove_all(folder.thumbnails());
  LibraryUpdate update = pictures.MakeUpdate();
  const auto read = update.read;
  update.read = [&](const FoundPicture& found) {
    if (found.path == "2.jpg") throw Error(ErrorCode::kIo, "cannot read");
    return read(found);
  };
  EXPECT_EQ(Counts(pictures.Update(update, RunContext())), (UpdateCounts{0, 0, 0, 6, 0}));
  EXPECT_EQ(ReadContent(pictures.Open()).thumbnails.size(), 4U);
  pictures.Update();
  EXPECT_EQ(pictures.reads, 1);
  EXPECT_EQ(ReadContent(pictures.Open()), expected);
}

// A picture was changed but has the same size and time: the old code is kept, and no thumbnail that
// does not belong to it is made.
TEST(LibraryThumbnails, ALostThumbnailIsNotMadeOfAnotherPicture) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  fs::remove_all(LibraryFolder(pictures.library()).thumbnails());
  const auto time = fs::last_write_time(pictures.root() / "a.jpg");
  pictures.Write("a.jpg", FakePicture(2));
  fs::last_write_time(pictures.root() / "a.jpg", time);
  EXPECT_EQ(Counts(pictures.Update()), (UpdateCounts{0, 0, 0, 1, 0}));
  EXPECT_TRUE(ReadContent(pictures.Open()).thumbnails.empty());
}

}  // namespace
}  // namespace bitpool
