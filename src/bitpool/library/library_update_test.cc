#include "bitpool/library/library_update.h"

#include <gmock/gmock.h>

#include <fstream>
#include <set>

#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::Counts;
using testing::ExpectError;
using testing::FakeEncode;
using testing::FakeEncoding;
using testing::FakePicture;
using ::testing::HasSubstr;
using testing::IdOf;
using testing::LibraryContent;
using testing::PictureFolder;
using testing::ReadContent;
using Expected = testing::UpdateCounts;

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

// Other writers of a shared library wait for a batch to end.
TEST(UpdateLibrary, ManyAreRemovedInSeveralBatches) {
  PictureFolder pictures;
  LibraryUpdate update = {
      .root = pictures.root(),
      .found = {},
      .read = [](const FoundPicture&) { return testing::ToBytes(FakePicture(1)); },
      .encoding = FakeEncoding(),
      .batch = 4096};
  update.encoding.thumbnail = nullptr;
  for (int i = 0; i < 2002; ++i) update.found.push_back({.path = fmt::format("{}.jpg", i)});
  EXPECT_EQ(pictures.Update(update, RunContext()).added, 2002U);
  const uint64_t before = pictures.Open().catalogue().generation();
  update.found.resize(1);
  EXPECT_EQ(Counts(pictures.Update(update, RunContext())), (Expected{0, 0, 2001, 1, 0}));
  const LibrarySnapshot library = pictures.Open();
  EXPECT_EQ(library.catalogue().Count(), 1U);
  EXPECT_EQ(library.catalogue().generation(), before + 3);
}

// An empty folder may be the place where a file system should be mounted.
TEST(UpdateLibrary, AFolderWithNothingLeftIsRefused) {
  PictureFolder pictures;
  pictures.Write("a.jpg", FakePicture(1));
  const fs::path more = fs::canonical(pictures.base()) / "more";
  fs::create_directories(more);
  std::ofstream(more / "b.jpg") << FakePicture(2);
  const auto make = [&](const std::string& coder) {
    LibraryUpdate update = pictures.MakeUpdate(FakeEncoding(coder));
    update.folders = {more.string()};
    update.found.push_back({.path = (more / "b.jpg").string(), .size = 5, .mtime_ns = 7});
    return update;
  };
  pictures.Update(make("fake 1"), RunContext());
  const LibraryContent before = ReadContent(pictures.Open());
  ASSERT_EQ(before.codes.size(), 2U);
  for (const char* coder : {"fake 1", "fake 2"}) {
    LibraryUpdate no_root = make(coder), no_more = make(coder);
    std::erase_if(no_root.found, [](const FoundPicture& found) { return found.path == "a.jpg"; });
    no_more.found.pop_back();
    ExpectError(ErrorCode::kNotFound, {pictures.root().string(), "mounted", "--allow-empty"},
                [&] { pictures.Update(no_root, RunContext()); });
    ExpectError(ErrorCode::kNotFound, {more.string(), "mounted"},
                [&] { pictures.Update(no_more, RunContext()); });
    EXPECT_EQ(ReadContent(pictures.Open()), before);
    EXPECT_FALSE(pictures.Open().facts().unfinished);
  }
  LibraryUpdate wanted = make("fake 1");
  wanted.found.clear();
  wanted.allow_empty = true;
  EXPECT_EQ(Counts(pictures.Update(wanted, RunContext())), (Expected{0, 0, 2, 0, 0}));
  wanted.allow_empty = false;  // nothing is left to be lost
  EXPECT_EQ(Counts(pictures.Update(wanted, RunContext())), (Expected{0, 0, 0, 0, 0}));
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
  const FileStatus status = Env::Posix().Status(moved.root / "a.jpg");
  moved.found = {{.path = "a.jpg", .size = status.size, .mtime_ns = status.modified_ns}};
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

}  // namespace
}  // namespace bitpool
