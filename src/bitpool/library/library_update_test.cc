#include "bitpool/library/library_update.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <mutex>
#include <set>

#include "bitpool/base/random.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExpectError;
using testing::FakeEncode;
using testing::FakeEncoding;
using testing::FakePicture;
using testing::FaultyEnv;
using ::testing::HasSubstr;
using testing::LibraryContent;
using testing::PictureFolder;
using testing::ReadContent;

// Added, changed, removed, unchanged, failed.
std::array<uint64_t, 5> Counts(const UpdateSummary& summary) {
  return {summary.added, summary.changed, summary.removed, summary.unchanged,
          summary.failed.size()};
}
using Expected = std::array<uint64_t, 5>;

std::optional<uint64_t> IdOf(const PictureFolder& pictures, const std::string& path) {
  const LibrarySnapshot library = pictures.Open();
  const auto picture = library.catalogue().FindByPath(path);
  return picture ? std::optional(picture->id) : std::nullopt;
}

TEST(UpdateLibrary, AddsChangesRemovesAndRenames) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(0xA, 40, 30));
  pictures.Write("sub/b.jpg", FakePicture(0xB));
  pictures.Write("c.jpg", FakePicture(0xC));
  EXPECT_EQ(Counts(pictures.Update()), (Expected{3, 0, 0, 0, 0}));
  EXPECT_EQ(pictures.reads, 3);
  {
    const LibrarySnapshot library = pictures.Open();
    const auto a = library.catalogue().FindByPath("a.jpg");
    ASSERT_TRUE(a);
    EXPECT_EQ(a->width, 40);
    EXPECT_EQ(a->height, 30);
    EXPECT_EQ(a->size, FakePicture(0xA, 40, 30).size());
    EXPECT_EQ(library.facts().bits, 64);
    EXPECT_EQ(library.facts().coder, "fake 1");
    EXPECT_TRUE(fs::equivalent(library.root(), pictures.root()));
  }

  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 3, 0}));
  EXPECT_EQ(pictures.reads, 0);  // nothing changed, nothing is read

  pictures.Write("a.jpg", FakePicture(0xAA));
  pictures.Remove("c.jpg");
  pictures.Write("d.jpg", FakePicture(0xD));
  EXPECT_EQ(Counts(pictures.Update()), (Expected{1, 1, 1, 1, 0}));
  EXPECT_EQ(pictures.reads, 2);

  fs::rename(pictures.root() / "d.jpg", pictures.root() / "e.jpg");
  EXPECT_EQ(Counts(pictures.Update()), (Expected{1, 0, 1, 2, 0}));

  const LibraryContent content = ReadContent(pictures.Open());
  const std::map<std::string, std::string> codes = {{"a.jpg", "aa00000000000000"},
                                                    {"e.jpg", "0d00000000000000"},
                                                    {"sub/b.jpg", "0b00000000000000"}};
  EXPECT_EQ(content.codes, codes);
  // Those of pictures that are gone are gone too.
  const std::map<std::string, std::string> thumbnails = {
      {"a.jpg", "small " + FakePicture(0xAA)},
      {"e.jpg", "small " + FakePicture(0xD)},
      {"sub/b.jpg", "small " + FakePicture(0xB)}};
  EXPECT_EQ(content.thumbnails, thumbnails);
}

TEST(UpdateLibrary, ATouchedPictureIsReadAndNotEncoded) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("bad.jpg", "bad");
  pictures.Update();
  const auto id = IdOf(pictures, "a.jpg");
  pictures.SetTime("a.jpg", 5);
  pictures.SetTime("bad.jpg", 5);
  LibraryUpdate update = pictures.MakeUpdate();
  update.encoding.encode = [](auto) -> PictureCode {
    ADD_FAILURE() << "encoded";
    return {};
  };
  EXPECT_EQ(Counts(pictures.Update(update, RunContext())), (Expected{0, 0, 0, 2, 0}));
  EXPECT_EQ(pictures.reads, 2);
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 2, 0}));
  EXPECT_EQ(pictures.reads, 0);  // the new time was noted
  EXPECT_EQ(IdOf(pictures, "a.jpg"), id);
}

TEST(UpdateLibrary, SameBytesUnderTwoPaths) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("b.jpg", FakePicture(1));
  EXPECT_EQ(Counts(pictures.Update()), (Expected{2, 0, 0, 0, 0}));
  EXPECT_EQ(ReadContent(pictures.Open()).codes.size(), 2U);
  EXPECT_NE(IdOf(pictures, "a.jpg"), IdOf(pictures, "b.jpg"));
}

TEST(UpdateLibrary, FailuresAreNotedAndNotTriedAgain) {
  PictureFolder pictures;
  for (int i = 0; i < 40; ++i) {
    pictures.Write(fmt::format("{:02}.jpg", i), i % 4 == 1 ? "bad" : FakePicture(i + 1));
  }
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 7;
  std::vector<std::string> told;
  update.on_failure = [&](const FailedPicture& failed) { told.push_back(failed.path.string()); };
  update.encoding.encode = [](std::span<const std::byte> bytes) {
    if (testing::ToString(bytes) == FakePicture(3)) throw std::runtime_error("some library's own");
    return FakeEncode(bytes);
  };
  const UpdateSummary summary = pictures.Update(update, RunContext({.threads = 3}));
  EXPECT_EQ(Counts(summary), (Expected{29, 0, 0, 0, 11}));
  ASSERT_EQ(told.size(), 11U);
  for (size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i], summary.failed[i].path.string());
  EXPECT_EQ(summary.failed[0].path, "01.jpg");
  EXPECT_EQ(summary.failed[0].reason, "not a fake picture");
  EXPECT_EQ(summary.failed[1].path, "02.jpg");
  EXPECT_EQ(summary.failed[1].reason, "some library's own");
  EXPECT_EQ(summary.failed[2].path, "05.jpg");
  EXPECT_THAT(summary.BriefReport(), HasSubstr("29 added, 0 changed, 0 removed, 0 unchanged, 11 "));
  EXPECT_EQ(ReadContent(pictures.Open()).failures.size(), 11U);

  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 40, 0}));
  EXPECT_EQ(pictures.reads, 0);

  pictures.Write("01.jpg", FakePicture(77));  // mended
  pictures.Write("00.jpg", "broken");         // had a code
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 1, 0, 38, 1}));
  const LibraryContent content = ReadContent(pictures.Open());
  EXPECT_EQ(content.failures.size(), 11U);
  EXPECT_EQ(content.codes.size(), 29U);
  EXPECT_EQ(content.thumbnails.size(), 29U);
}

TEST(UpdateLibrary, TooLargeIsNotedWithoutReading) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  LibraryUpdate update = pictures.MakeUpdate();
  update.max_bytes = 5;
  const UpdateSummary summary = pictures.Update(update, RunContext());
  EXPECT_EQ(Counts(summary), (Expected{0, 0, 0, 0, 1}));
  EXPECT_THAT(summary.failed[0].reason, HasSubstr("the limit for a picture is 5"));
  EXPECT_EQ(pictures.reads, 0);
  EXPECT_EQ(ReadContent(pictures.Open()).failures.size(), 1U);
}

TEST(UpdateLibrary, WhatCannotBeReadNowIsTriedAgain) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("b.jpg", FakePicture(2));
  pictures.Update();
  pictures.Write("a.jpg", FakePicture(11));
  pictures.Write("c.jpg", FakePicture(3));
  LibraryUpdate update = pictures.MakeUpdate();
  update.read = [&](const FoundPicture& found) -> std::vector<std::byte> {
    throw Error(ErrorCode::kIo, (pictures.root() / found.path).string(), "cannot read: why");
  };
  const UpdateSummary summary = pictures.Update(update, RunContext());
  EXPECT_EQ(Counts(summary), (Expected{0, 0, 0, 1, 2}));
  EXPECT_EQ(summary.failed[0].reason, "cannot read: why");
  EXPECT_EQ(ReadContent(pictures.Open()).codes.size(), 2U);  // what was known is kept
  EXPECT_EQ(Counts(pictures.Update()), (Expected{1, 1, 0, 1, 0}));
}

TEST(UpdateLibrary, APictureMayDisappearBeforeItIsRead) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("b.jpg", FakePicture(2));
  pictures.Update();
  pictures.Write("a.jpg", FakePicture(3));
  pictures.Write("new.jpg", FakePicture(4));
  const LibraryUpdate update = pictures.MakeUpdate();
  pictures.Remove("a.jpg");
  pictures.Remove("new.jpg");
  EXPECT_EQ(Counts(pictures.Update(update, RunContext())), (Expected{0, 0, 1, 1, 0}));
  EXPECT_EQ(ReadContent(pictures.Open()).codes.size(), 1U);
}

// A change between finding and reading is seen the next time, because the time that was noted is
// the one before.
TEST(UpdateLibrary, APictureMayChangeBeforeItIsRead) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  const LibraryUpdate update = pictures.MakeUpdate();
  pictures.Write("a.jpg", FakePicture(2, 400, 300));
  pictures.Update(update, RunContext());
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 1, 0, 0, 0}));
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 1, 0}));
}

TEST(UpdateLibrary, KeepsWhatLiesInFoldersThatCannotBeListed) {
  PictureFolder pictures;
  pictures.Write("sub/a.jpg", FakePicture(1));
  pictures.Write("sub2/b.jpg", FakePicture(2));
  pictures.Update();
  LibraryUpdate update = pictures.MakeUpdate();
  update.found.clear();
  update.unreadable = {{.path = pictures.root() / "sub", .reason = "denied"}};
  const UpdateSummary summary = pictures.Update(update, RunContext());
  EXPECT_EQ(Counts(summary), (Expected{0, 0, 1, 1, 1}));
  EXPECT_EQ(summary.failed[0].path, "sub");
  EXPECT_TRUE(IdOf(pictures, "sub/a.jpg"));
  EXPECT_FALSE(IdOf(pictures, "sub2/b.jpg"));
}

TEST(UpdateLibrary, AnotherCoderEncodesEverythingAgain) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("b.jpg", FakePicture(2));
  pictures.Write("bad.jpg", "bad");
  pictures.Update();
  PictureEncoding other = FakeEncoding("fake 2");
  other.bits = 16;
  other.encode = [](auto bytes) {
    PictureCode code = FakeEncode(bytes);
    code.code.resize(2);
    return code;
  };
  pictures.Remove("b.jpg");
  EXPECT_EQ(Counts(pictures.Update(pictures.MakeUpdate(other), RunContext())),
            (Expected{0, 1, 1, 0, 1}));
  const LibrarySnapshot library = pictures.Open();
  EXPECT_EQ(library.facts().bits, 16);
  EXPECT_EQ(library.facts().coder, "fake 2");
  EXPECT_EQ(library.index().bits(), 16);
  EXPECT_EQ(library.index().size(), 1);
}

// The codes of a new coder are gathered beside the old ones, which stay in use until all are there.
TEST(UpdateLibrary, AnInterruptedChangeOfCoderKeepsTheOldCodesAndGoesOn) {
  PictureFolder pictures;
  for (int i = 0; i < 10; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Update();
  const LibraryContent before = ReadContent(pictures.Open());
  std::atomic<int> encoded = 0;
  const auto encoding = [&](const std::string& digest, uint8_t mark, std::stop_source* stop) {
    PictureEncoding other = FakeEncoding(digest);
    other.encode = [&encoded, mark, stop](auto bytes) {
      if (++encoded == 4 && stop != nullptr) stop->request_stop();
      PictureCode code = FakeEncode(bytes);
      code.code[7] = mark;
      return code;
    };
    return other;
  };
  const auto interrupt = [&](const std::string& digest, uint8_t mark) {
    encoded = 0;
    std::stop_source stop;
    LibraryUpdate update = pictures.MakeUpdate(encoding(digest, mark, &stop));
    update.batch = 3;
    const UpdateSummary summary =
        pictures.Update(update, RunContext({.threads = 1, .stop = stop.get_token()}));
    EXPECT_TRUE(summary.stopped);
    return summary;
  };
  const auto expect_old = [&] {
    LibraryContent now = ReadContent(pictures.Open());
    EXPECT_EQ(now.codes, before.codes);
    EXPECT_EQ(pictures.Open().facts().coder, "fake 1");
  };

  EXPECT_EQ(Counts(interrupt("fake 2", 0xFF)), (Expected{0, 4, 0, 0, 0}));
  expect_old();
  EXPECT_EQ(pictures.Open().facts().next_coder, "fake 2");
  interrupt("fake 3", 0xEE);  // another one after all
  expect_old();
  EXPECT_EQ(pictures.Open().facts().next_coder, "fake 3");
  // Pictures come, go and change meanwhile. What was encoded and has not changed is not done again.
  pictures.Write("new.jpg", FakePicture(77));
  pictures.Write("1.jpg", FakePicture(78));
  pictures.Remove("2.jpg");
  encoded = 0;
  const UpdateSummary summary =
      pictures.Update(pictures.MakeUpdate(encoding("fake 3", 0xEE, nullptr)), RunContext());
  EXPECT_EQ(encoded, 8);  // of ten, two were done
  EXPECT_EQ(Counts(summary), (Expected{1, 7, 1, 2, 0}));
  const LibraryContent content = ReadContent(pictures.Open());
  EXPECT_EQ(pictures.Open().facts().coder, "fake 3");
  EXPECT_EQ(pictures.Open().facts().next_coder, "");
  EXPECT_EQ(content.codes.size(), 10U);
  EXPECT_EQ(content.thumbnails.size(), 10U);  // and those of the old ids are gone
  for (const auto& [path, code] : content.codes) EXPECT_EQ(code.substr(14), "ee");
  EXPECT_EQ(content.codes.at("1.jpg").substr(0, 2), "4e");

  // Back to the coder in use: what was gathered is dropped.
  interrupt("fake 4", 0xDD);
  EXPECT_EQ(
      Counts(pictures.Update(pictures.MakeUpdate(encoding("fake 3", 0xEE, nullptr)), RunContext())),
      (Expected{0, 0, 0, 10, 0}));
  EXPECT_EQ(pictures.Open().facts().next_coder, "");
  EXPECT_EQ(ReadContent(pictures.Open()), content);
}

TEST(UpdateLibrary, AStopKeepsWhatIsDone) {
  PictureFolder pictures;
  for (int i = 0; i < 50; ++i) pictures.Write(fmt::format("{:02}.jpg", i), FakePicture(i));
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 8;
  std::stop_source stop;
  std::atomic<int> encoded = 0;
  update.encoding.encode = [&](auto bytes) {
    if (++encoded == 20) stop.request_stop();
    return FakeEncode(bytes);
  };
  const UpdateSummary summary =
      pictures.Update(update, RunContext({.threads = 1, .stop = stop.get_token()}));
  EXPECT_TRUE(summary.stopped);
  EXPECT_EQ(Counts(summary), (Expected{20, 0, 0, 0, 0}));
  EXPECT_EQ(ReadContent(pictures.Open()).codes.size(), 20U);
  const LibrarySnapshot library = pictures.Open();
  EXPECT_EQ(library.catalogue().generation(), library.facts().index_generation);
  EXPECT_EQ(Counts(pictures.Update()), (Expected{30, 0, 0, 20, 0}));
  EXPECT_EQ(pictures.reads, 30);
}

TEST(UpdateLibrary, TheSameAtAnyNumberOfThreads) {
  std::vector<std::vector<CataloguedPicture>> lists;
  for (const int threads : {1, 2, 5}) {
    PictureFolder pictures;
    for (int i = 0; i < 100; ++i) {
      pictures.Write(fmt::format("{}.jpg", i), i % 9 == 0 ? "bad" : FakePicture(i));
    }
    LibraryUpdate update = pictures.MakeUpdate();
    update.batch = 16;
    pictures.Update(update, RunContext({.threads = threads}));
    auto& list = lists.emplace_back();
    pictures.Open().catalogue().ForEach(PictureSet::kCurrent,
                                        [&](const auto& picture) { list.push_back(picture); });
  }
  EXPECT_EQ(lists[0], lists[1]);
  EXPECT_EQ(lists[0], lists[2]);
}

TEST(UpdateLibrary, OddNames) {
  PictureFolder pictures;
  const std::set<std::string> names = {"with space.jpg",
                                       "quote ' and \".jpg",
                                       "new\nline.jpg",
                                       "ends with newline\n",
                                       "emoji \xF0\x9F\x93\xB7.jpg",
                                       "\xFF\xFE not UTF-8 \xC3.jpg",
                                       "-rf.jpg",
                                       "$(touch x) `y` \\ ; | & *?.jpg",
                                       "folder \n\xFF/-\" .jpg"};
  uint64_t code = 1;
  for (const std::string& name : names) pictures.Write(name, FakePicture(code++));
  EXPECT_EQ(pictures.Update().added, names.size());
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, names.size(), 0}));
  std::set<std::string> stored;
  for (const auto& [path, bits] : ReadContent(pictures.Open()).codes) stored.insert(path);
  EXPECT_EQ(stored, names);
  pictures.Remove("new\nline.jpg");
  EXPECT_EQ(pictures.Update().removed, 1U);
}

TEST(UpdateLibrary, ItsOwnFilesAreNoPictures) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Write("sub/.bitpool/thumbnails/0/1.jpg", FakePicture(2));  // a library in a part of it
  pictures.Write(".bitpool.jpg", FakePicture(3));
  EXPECT_EQ(pictures.Update().added, 2U);
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 2, 0}));

  PictureFolder named;  // a library of another name, inside
  named.Write("a.jpg", FakePicture(1));
  named.Write("my library.jpg", FakePicture(2));
  for (const uint64_t added : {2U, 0U}) {
    LibraryWriter writer(Env::Posix(), named.root() / "my library");
    EXPECT_EQ(UpdateLibrary(writer, named.MakeUpdate(), RunContext()).added, added);
  }
  std::vector<FoundPicture> found = named.Find();
  const LibraryFiles own_files(Env::Posix(), named.root() / "my library", named.root());
  std::erase_if(found, [&](const FoundPicture& one) { return own_files.Contain(one.path); });
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].path, "my library.jpg");
  LibraryWriter writer(Env::Posix(), named.root());
  ExpectError(ErrorCode::kInvalidArgument, {"cannot be the folder of pictures itself"},
              [&] { UpdateLibrary(writer, named.MakeUpdate(), RunContext()); });
}

TEST(UpdateLibrary, AnotherFolderIsRefusedAndAMovedOneIsNot) {
  PictureFolder first, second;
  first.Write("a.jpg", FakePicture(1));
  second.Write("b.jpg", FakePicture(2));
  const auto update = [&](const LibraryUpdate& what) {
    LibraryWriter writer(Env::Posix(), first.base() / "library");
    return UpdateLibrary(writer, what, RunContext());
  };
  update(first.MakeUpdate());
  ExpectError(ErrorCode::kInvalidArgument, {"this library is of the folder", "/pictures"},
              [&] { update(second.MakeUpdate()); });
  fs::rename(first.root(), first.base() / "moved");
  LibraryUpdate moved = second.MakeUpdate();
  moved.root = first.base() / "moved";
  moved.found = {
      {.path = "a.jpg",
       .size = fs::file_size(first.base() / "moved/a.jpg"),
       .mtime_ns = fs::last_write_time(first.base() / "moved/a.jpg").time_since_epoch().count()}};
  EXPECT_EQ(Counts(update(moved)), (Expected{0, 0, 0, 1, 0}));
  const LibrarySnapshot library = testing::OpenAt(first.base() / "library");
  EXPECT_TRUE(fs::equivalent(library.root(), first.base() / "moved"));
}

TEST(UpdateLibrary, OneWriterAtATime) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  {
    const LibraryWriter first(Env::Posix(), pictures.library());
    ExpectError(ErrorCode::kResources, {".bitpool", "another bitpool is indexing this library"},
                [&] { LibraryWriter(Env::Posix(), pictures.library()); });
  }
  pictures.Update();
  const LibraryWriter writer(Env::Posix(), pictures.library());
  EXPECT_EQ(pictures.Open().index().size(), 1);  // readers do not wait
}

TEST(UpdateLibrary, BadRequests) {
  PictureFolder pictures;
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 0;
  ExpectError(ErrorCode::kInvalidArgument, {"batch"}, [&] { update.Validate(); });
  update = pictures.MakeUpdate();
  update.encoding.bits = 0;
  ExpectError(ErrorCode::kInvalidArgument, {"bits"}, [&] { update.Validate(); });
  update = pictures.MakeUpdate();
  update.encoding.digest = "";
  ExpectError(ErrorCode::kInvalidArgument, {"digest"}, [&] { update.Validate(); });
  update = pictures.MakeUpdate();
  update.encoding.encode = nullptr;
  ExpectError(ErrorCode::kInvalidArgument, {"encodes"}, [&] { update.Validate(); });
  update = pictures.MakeUpdate();
  update.read = nullptr;
  ExpectError(ErrorCode::kInvalidArgument, {"read"}, [&] { update.Validate(); });
}

TEST(UpdateLibrary, ACodeOfTheWrongLengthIsAFailure) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  PictureEncoding encoding = FakeEncoding();
  encoding.bits = 32;
  const UpdateSummary summary = pictures.Update(pictures.MakeUpdate(encoding), RunContext());
  EXPECT_EQ(Counts(summary), (Expected{0, 0, 0, 0, 1}));
  EXPECT_THAT(summary.failed[0].reason, HasSubstr("8 bytes: expected 32 bits"));
}

TEST(UpdateLibrary, RealThumbnails) {
  const auto thumbnail = MakeThumbnail(testing::SpottedJpeg(1, 600, 200));
  const PictureFacts facts = InspectPicture(thumbnail, {});
  EXPECT_EQ(facts.width, kThumbnailSide);
  EXPECT_EQ(facts.format, "jpeg");
}

TEST(UpdateLibrary, LostThumbnailsAreMadeAgain) {
  PictureFolder pictures;
  for (int i = 0; i < 5; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Write("bad.jpg", "bad");
  pictures.Update();
  const LibraryContent expected = ReadContent(pictures.Open());
  const LibraryFolder folder(pictures.library());
  const LibraryThumbnails thumbnails(Env::Posix(), folder);
  EXPECT_EQ(thumbnails.PathOf(1234567), folder.thumbnails() / "1234/1234567.jpg");
  fs::remove(thumbnails.PathOf(IdOf(pictures, "1.jpg").value()));
  fs::remove(thumbnails.PathOf(IdOf(pictures, "3.jpg").value()));
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 6, 0}));
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
  EXPECT_EQ(Counts(pictures.Update(update, RunContext())), (Expected{0, 0, 0, 6, 0}));
  EXPECT_EQ(ReadContent(pictures.Open()).thumbnails.size(), 4U);
  pictures.Update();
  EXPECT_EQ(pictures.reads, 1);
  EXPECT_EQ(ReadContent(pictures.Open()), expected);
}

// Changed without a change of size and time: the old code is kept, and no thumbnail that does not
// belong to it.
TEST(UpdateLibrary, ALostThumbnailIsNotMadeOfAnotherPicture) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  pictures.Update();
  fs::remove_all(LibraryFolder(pictures.library()).thumbnails());
  const auto time = fs::last_write_time(pictures.root() / "a.jpg");
  pictures.Write("a.jpg", FakePicture(2));
  fs::last_write_time(pictures.root() / "a.jpg", time);
  EXPECT_EQ(Counts(pictures.Update()), (Expected{0, 0, 0, 1, 0}));
  EXPECT_TRUE(ReadContent(pictures.Open()).thumbnails.empty());
}

// --- Faults and kills -------------------------------------------------------------------------

// Changes of every kind for a library that has been made before.
void MakeFirstState(PictureFolder& pictures) {
  for (int i = 0; i < 30; ++i) {
    pictures.Write(fmt::format("{:02}.jpg", i), i % 7 == 3 ? "bad" : FakePicture(i * 1000));
  }
}
void MakeSecondState(PictureFolder& pictures) {
  for (int i = 0; i < 30; i += 3) pictures.Write(fmt::format("{:02}.jpg", i), FakePicture(i + 500));
  for (int i = 1; i < 30; i += 6) pictures.Remove(fmt::format("{:02}.jpg", i));
  for (int i = 30; i < 60; ++i) pictures.Write(fmt::format("{:02}.jpg", i), FakePicture(i));
}

LibraryContent UndisturbedContent() {
  PictureFolder pictures;
  MakeFirstState(pictures);
  pictures.Update();
  MakeSecondState(pictures);
  pictures.Update();
  return ReadContent(pictures.Open());
}

TEST(UpdateLibrary, AnyFailureOfAFileOperationLeavesAValidLibrary) {
  const LibraryContent expected = UndisturbedContent();
  PictureFolder pictures;
  MakeFirstState(pictures);
  pictures.Update();
  MakeSecondState(pictures);
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 10;
  int failing = 1;
  bool failed = true;
  for (; failed; failing += 5) {
    const fs::path copy = pictures.base() / fmt::format("copy{}", failing);
    fs::copy(pictures.root(), copy, fs::copy_options::recursive);
    for (const FoundPicture& found : update.found) {
      fs::last_write_time(copy / found.path, fs::last_write_time(pictures.root() / found.path));
    }
    LibraryUpdate copied = update;
    copied.root = copy;
    FaultyEnv env(failing);
    const auto run = [&](Env& on) {
      LibraryWriter writer(on, copy / ".bitpool");
      return UpdateLibrary(writer, copied, RunContext({.threads = 1}));
    };
    try {
      run(env);
      failed = env.operations() >= failing;  // one that is made good for, such as mapping the index
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("injected"));
    }
    ReadContent(testing::OpenAt(copy / ".bitpool"));  // checks itself
    run(Env::Posix());
    EXPECT_EQ(ReadContent(testing::OpenAt(copy / ".bitpool")), expected);
    fs::remove_all(copy);
  }
  EXPECT_GT(failing, 50);
}

// Updates in a child process that tells of every picture it encodes, and is killed after some of
// them and a short while.
void KillDuringUpdate(PictureFolder& pictures, Random& random) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe(ends.data()), 0);
  LibraryUpdate update = pictures.MakeUpdate();
  update.batch = 1 + random.Below(12);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(ends[0]);
    const auto tell = [&] { return write(ends[1], "x", 1); };
    update.encoding.encode = [&](auto bytes) {
      if (tell() != 1) _exit(1);
      return FakeEncode(bytes);
    };
    try {
      LibraryWriter writer(Env::Posix(), pictures.library());
      if (tell() != 1) _exit(1);
      UpdateLibrary(writer, update, RunContext({.threads = 1}));
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  close(ends[1]);
  char told = 0;
  for (uint64_t steps = random.Below(45); steps > 0; --steps) {
    if (read(ends[0], &told, 1) != 1) break;
  }
  usleep(static_cast<useconds_t>(random.Below(8000)));
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
  close(ends[0]);
}

TEST(UpdateLibrary, KilledAtAnyMomentItGoesOnFromThere) {
  if (!testing::kForkedChildrenHaveThreads) GTEST_SKIP() << "needs a forked child with threads";
  const LibraryContent expected = UndisturbedContent();
  Random random(20);
  constexpr int kRounds = 50;  // of two kills each
  for (int round = 0; round < kRounds; ++round) {
    PictureFolder pictures;
    MakeFirstState(pictures);
    KillDuringUpdate(pictures, random);
    if (round % 2 == 0) {
      pictures.Update();
      ReadContent(pictures.Open());
    }
    MakeSecondState(pictures);
    KillDuringUpdate(pictures, random);
    if (fs::exists(LibraryFolder(pictures.library()).catalogue())) {
      try {
        ReadContent(pictures.Open());  // checks that index and catalogue agree
      } catch (const Error& error) {   // killed before anything was in it
        EXPECT_NE(round % 2, 0);
        EXPECT_TRUE(error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kCorrupt)
            << error.what();
      }
    }
    pictures.Update();
    EXPECT_EQ(ReadContent(pictures.Open()), expected) << "round " << round;
    EXPECT_EQ(pictures.Update().unchanged, expected.codes.size() + expected.failures.size());
    EXPECT_EQ(pictures.reads, 0);
  }
}

// Updates in a child process that is killed while it encodes one of the first pictures.
void KillWhileEncoding(PictureFolder& pictures, const std::string& coder, Random& random) {
  LibraryUpdate update = pictures.MakeUpdate(FakeEncoding(coder));
  update.batch = 1 + random.Below(6);
  const uint64_t last = 1 + random.Below(25);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    uint64_t encoded = 0;
    update.encoding.encode = [&](auto bytes) {
      if (++encoded == last) kill(getpid(), SIGKILL);
      return FakeEncode(bytes);
    };
    try {
      LibraryWriter writer(Env::Posix(), pictures.library());
      UpdateLibrary(writer, update, RunContext({.threads = 1}));
    } catch (const Error&) {
      _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

// The library answers with the codes of the old coder or with those of the new one, never with both
// or with a part.
TEST(UpdateLibrary, KilledWhileTheCoderChangesItAnswersWithOneOfThem) {
  if (!testing::kForkedChildrenHaveThreads) GTEST_SKIP() << "needs a forked child with threads";
  const LibraryContent expected = UndisturbedContent();
  Random random(21);
  int old_ones = 0, new_ones = 0;
  for (int round = 0; round < 20; ++round) {
    PictureFolder pictures;
    MakeFirstState(pictures);
    MakeSecondState(pictures);
    pictures.Update();
    for (int times = 0; times < 6; ++times) {
      KillWhileEncoding(pictures, "fake 2", random);
      const LibrarySnapshot library = pictures.Open();
      const LibraryContent content = ReadContent(library);
      EXPECT_EQ(content.codes, expected.codes);
      EXPECT_EQ(content.failures, expected.failures);
      (library.facts().coder == "fake 1" ? old_ones : new_ones) += 1;
    }
    pictures.Update(pictures.MakeUpdate(FakeEncoding("fake 2")), RunContext({.threads = 1}));
    EXPECT_EQ(pictures.Open().facts().coder, "fake 2");
    EXPECT_EQ(ReadContent(pictures.Open()), expected) << "round " << round;
  }
  EXPECT_GT(old_ones, 40);  // of 120
  EXPECT_GT(new_ones, 10);
}

}  // namespace
}  // namespace bitpool
