#include "bitpool/library/shared_library.h"

#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <set>
#include <thread>

#include "bitpool/catalog/postgres_catalogue.h"
#include "bitpool/catalog/postgres_testing.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/patience.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::FakeEncoding;
using testing::FakePicture;
using testing::LibraryContent;
using testing::PictureFolder;
using testing::ReadContent;

class SharedLibraryTest : public testing::PostgresTest {
 protected:
  fs::path storage() const { return pictures_.base() / "storage"; }

  std::unique_ptr<PictureLibrary> Create() {
    return PictureLibrary::OpenOrCreate(Env::Posix(), address_, pictures_.root(), storage());
  }
  std::unique_ptr<PictureLibrary> Follow(std::vector<std::string>* told = nullptr) {
    return PictureLibrary::OpenToFollow(
        Env::Posix(), address_,
        {.cache = pictures_.base() / "cache", .tell = [told](const std::string& what) {
           if (told != nullptr) told->push_back(what);
         }});
  }

  UpdateSummary Update(const std::string& digest = "fake 1") {
    LibraryUpdate update = pictures_.MakeUpdate(FakeEncoding(digest));
    update.batch = 4;
    return Create()->UpdateWith(update, RunContext({.threads = 1}));
  }

  // What a separate, undisturbed library holds for the same pictures.
  LibraryContent Expected(const std::string& digest = "fake 1") {
    fs::remove_all(pictures_.base() / "alone");
    const auto alone =
        PictureLibrary::OpenOrCreate(Env::Posix(), pictures_.base() / "alone", pictures_.root());
    alone->UpdateWith(pictures_.MakeUpdate(FakeEncoding(digest)), RunContext({.threads = 1}));
    return ReadContent(alone->Snapshot());
  }

  void WritePictures(int count) {
    for (int i = 0; i < count; ++i) {
      pictures_.Write(fmt::format("{}.jpg", i), FakePicture(static_cast<uint64_t>(i) * 77));
    }
  }

  PictureFolder pictures_;
};

TEST_F(SharedLibraryTest, IsWhatALibraryOfOnesOwnIs) {
  WritePictures(20);
  pictures_.Write("damaged.jpg", "no picture");
  const auto follower_before = [&] {
    Create();
    return Follow();
  }();
  UpdateSummary summary = Update();
  EXPECT_EQ(summary.added, 20U);
  EXPECT_EQ(summary.failed.size(), 1U);
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected());
  pictures_.Remove("3.jpg");
  pictures_.Write("4.jpg", FakePicture(99));
  pictures_.SetTime("5.jpg", 999999);
  pictures_.Write("more.jpg", FakePicture(100));
  summary = Update();
  EXPECT_EQ(summary.added, 1U);
  EXPECT_EQ(summary.changed, 1U);
  EXPECT_EQ(summary.removed, 1U);
  EXPECT_EQ(summary.unchanged, 19U);  // one of them was only touched
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected());
  EXPECT_EQ(ReadContent(Follow()->Snapshot()), Expected());
  while (follower_before->Find(23) == std::nullopt) std::this_thread::yield();
  EXPECT_EQ(ReadContent(follower_before->Snapshot()), Expected());
  EXPECT_EQ(Update().unchanged, 21U);
}

TEST_F(SharedLibraryTest, AnotherCoderTakesOverWhenAllIsThere) {
  WritePictures(10);
  Update();
  const auto follower = Follow();
  EXPECT_EQ(Update("fake 2").changed, 10U);
  while (follower->Snapshot().facts().coder != "fake 2") std::this_thread::yield();
  EXPECT_EQ(ReadContent(follower->Snapshot()), Expected("fake 2"));
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected("fake 2"));
}

TEST_F(SharedLibraryTest, NeedsItsStorage) {
  ExpectError(ErrorCode::kNotFound, {"no catalogue"},
              [&] { PictureLibrary::Open(Env::Posix(), address_); });
  ExpectError(ErrorCode::kInvalidArgument, {"needs a storage"},
              [&] { PictureLibrary::OpenOrCreate(Env::Posix(), address_, pictures_.root()); });
  Create();
  ExpectError(ErrorCode::kInvalidArgument, {"the storage of this library is"}, [&] {
    PictureLibrary::OpenOrCreate(Env::Posix(), address_, pictures_.root(),
                                 pictures_.base() / "elsewhere");
  });
  ExpectError(ErrorCode::kInvalidArgument, {"storage"}, [&] {
    PictureLibrary::OpenOrCreate(Env::Posix(), pictures_.library(), pictures_.root(), storage());
  });
  const std::string other = server_->MakeDatabase();
  std::ofstream(storage() / "codes-1.bpi") << "of the first";
  ExpectError(ErrorCode::kInvalidArgument, {"another library"}, [&] {
    PictureLibrary::OpenOrCreate(Env::Posix(), other, pictures_.root(), storage());
  });
  std::ofstream(storage() / "library-id") << "another";
  ExpectError(ErrorCode::kCorrupt, {"another library"},
              [&] { PictureLibrary::Open(Env::Posix(), address_); });
  fs::remove(storage() / "library-id");
  ExpectError(ErrorCode::kNotFound, {"mounted"},
              [&] { PictureLibrary::Open(Env::Posix(), address_); });
  // Nobody is shown a password.
  try {
    PictureLibrary::Open(Env::Posix(), address_);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("very-secret"), std::string::npos) << error.what();
  }
}

// The storage is a file system of many machines, on which SQLite must not rely.
TEST_F(SharedLibraryTest, VerdictsAreKeptOnTheMachine) {
  WritePictures(2);
  Update();
  const fs::path cache = pictures_.base() / "machine" / "copies";
  const auto verdicts = [&] {
    return PictureLibrary::Open(Env::Posix(), address_, cache)->folder().verdicts();
  };
  EXPECT_EQ(verdicts().parent_path(), cache);
  EXPECT_EQ(verdicts().filename(), Follow()->folder().verdicts().filename());
  EXPECT_TRUE(fs::is_directory(cache));
  EXPECT_EQ(Create()->folder().verdicts(), "");
  // It is only a cache.
  fs::remove_all(pictures_.base() / "machine");
  std::ofstream(pictures_.base() / "machine") << "no folder";
  EXPECT_EQ(verdicts(), "");
}

// Each picture is encoded by one of them, and the result is that of one alone.
TEST_F(SharedLibraryTest, ManyWritersShareTheWork) {
  WritePictures(60);
  Create();
  std::mutex mutex;
  std::multiset<std::string> encoded;
  std::atomic<uint64_t> added = 0;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 3; ++i) {
      writers.emplace_back([&] {
        LibraryUpdate update = pictures_.MakeUpdate();
        update.batch = 4;
        update.read = [&](const FoundPicture& found) {
          const std::lock_guard lock(mutex);
          encoded.insert(found.path);
          return Env::Posix().Read(pictures_.root() / found.path, 1000000);
        };
        const auto library = PictureLibrary::Open(Env::Posix(), address_);
        added += library->UpdateWith(update, RunContext({.threads = 1})).added;
      });
    }
  }
  EXPECT_EQ(added, 60U);
  EXPECT_EQ(encoded.size(), 60U);
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected());
}

// A slower writer may offer pictures that were done before this one looked at the catalogue.
TEST_F(SharedLibraryTest, WhatIsDoneIsNotReadAgainWhenItIsOfferedAgain) {
  WritePictures(8);
  Update();
  OpenCatalogue(address_, CatalogueAccess::kWrite)
      ->Claims(PictureSet::kCurrent)
      ->Offer(std::vector<std::string>{"3.jpg", "5.jpg"});
  pictures_.reads = 0;
  EXPECT_EQ(Update().added, 0U);
  EXPECT_EQ(pictures_.reads, 0);
  EXPECT_EQ(OpenCatalogue(address_, CatalogueAccess::kRead)->Snapshot()->Count(), 8U);
}

// A writer that died had claimed pictures that this one did not find itself.
TEST_F(SharedLibraryTest, WhatADeadWriterHadClaimedIsDone) {
  WritePictures(8);
  LibraryUpdate update = pictures_.MakeUpdate();
  update.found.resize(6);
  Create();
  const auto catalogue = OpenCatalogue(address_, CatalogueAccess::kWrite);
  auto dead = catalogue->Claims(PictureSet::kCurrent);
  dead->Offer(std::vector<std::string>{"0.jpg", "7.jpg", "gone.jpg"});
  EXPECT_EQ(dead->Claim(9).size(), 3U);
  std::vector<std::string> told;
  // It had written a thumbnail, and had not told the catalogue.
  const fs::path stray = storage() / "thumbnails/9/9999.jpg";
  update.on_wait = [&](const std::string& what) {
    told.push_back(what);
    fs::create_directories(stray.parent_path());
    std::ofstream(stray) << "of a dead writer";
    dead.reset();
  };
  const UpdateSummary summary = Create()->UpdateWith(update, RunContext({.threads = 1}));
  EXPECT_EQ(summary.added, 7U);
  EXPECT_EQ(summary.removed, 0U);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("waiting for 3 pictures"), std::string::npos) << told[0];
  EXPECT_EQ(catalogue->Claims(PictureSet::kCurrent)->Count(), 0U);
  EXPECT_FALSE(fs::exists(stray));
  EXPECT_FALSE(Create()->Snapshot().facts().unfinished);
  Update();
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected());
}

// What is being written must be looked for when the one that writes it is killed.
TEST_F(SharedLibraryTest, AnUpdateIsFinishedByTheLastWriter) {
  WritePictures(4);
  Create();
  const auto other = OpenCatalogue(address_, CatalogueAccess::kWrite)->Claims(PictureSet::kCurrent);
  Update();
  EXPECT_TRUE(Create()->Snapshot().facts().unfinished);
  const fs::path stray = storage() / "thumbnails/9/9999.jpg";
  fs::create_directories(stray.parent_path());
  std::ofstream(stray) << "of a writer that was killed";
  other->Release();
  Update();
  EXPECT_FALSE(fs::exists(stray));
  EXPECT_FALSE(Create()->Snapshot().facts().unfinished);
}

// Pictures that an older Bitpool indexed get their hashes; another writer removes one and replaces
// one before this writer's turn comes.
TEST_F(SharedLibraryTest, HashesAreGivenToWhatIsThereNow) {
  for (const char* name : {"changed.jpg", "gone.jpg", "stays.jpg"}) {
    pictures_.Write(name, FakePicture(1));
  }
  LibraryUpdate update = pictures_.MakeUpdate();
  update.encoding.thumbnail = [](auto) { return ThumbnailOf(testing::SpottedPicture(64, 64, 1)); };
  Create()->UpdateWith(update, RunContext({.threads = 1}));
  PostgresDatabase(address_).Execute("UPDATE bitpool_pictures SET perceptual_hash = NULL");

  const auto catalogue = OpenCatalogue(address_, CatalogueAccess::kWrite);
  auto other = catalogue->StartBatch(PictureSet::kCurrent);
  auto updated = std::async(
      std::launch::async, [&] { return Create()->UpdateWith(update, RunContext({.threads = 1})); });
  PostgresDatabase watching(address_);
  while (watching.ReadNumber("SELECT count(*) FROM pg_stat_activity WHERE "
                             "datname = current_database() AND wait_event_type = 'Lock'") == 0) {
    std::this_thread::yield();
  }
  CataloguedPicture changed = *catalogue->Snapshot()->FindByPath("changed.jpg");
  changed.code[0] ^= 1;
  other->Put(changed);
  other->Remove("gone.jpg");
  other->Commit();
  updated.get();
  const auto snapshot = catalogue->Snapshot();
  EXPECT_EQ(snapshot->FindByPath("gone.jpg"), std::nullopt);
  EXPECT_EQ(snapshot->FindByPath("changed.jpg")->code, changed.code);
  EXPECT_EQ(snapshot->FindByPath("changed.jpg")->perceptual_hash, std::nullopt);
  EXPECT_NE(snapshot->FindByPath("stays.jpg")->perceptual_hash, std::nullopt);
}

TEST_F(SharedLibraryTest, AWriterWaitsForItsTurn) {
  Create();
  const auto one = OpenCatalogue(address_, CatalogueAccess::kWrite);
  const auto other = OpenPostgresCatalogue(address_, CatalogueAccess::kWrite, {.wait_ms = 1});
  auto held = one->StartBatch(PictureSet::kCurrent);
  std::vector<std::string> told;
  const RunContext context;
  const Patience patience(
      [&](const std::string& what) {
        told.push_back(what);
        held.reset();
      },
      context);
  patience.Try([&] { other->StartBatch(PictureSet::kCurrent)->Commit(); });
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("another process is changing the catalogue; waiting for it"),
            std::string::npos)
      << told[0];
}

// Between two batches the server is killed, and comes back later.
TEST_F(SharedLibraryTest, AWriterWaitsForTheDatabaseAndReadersGoOn) {
  WritePictures(12);
  Update();
  std::vector<std::string> told;
  const auto follower = Follow();
  const LibraryContent before = Expected();
  for (int i = 20; i < 32; ++i) {
    pictures_.Write(fmt::format("{}.jpg", i), FakePicture(static_cast<uint64_t>(i) * 77));
  }
  LibraryUpdate update = pictures_.MakeUpdate();
  update.batch = 4;
  const auto library = Create();
  std::jthread restart;
  int reads = 0;
  update.read = [&](const FoundPicture& found) {
    if (++reads == 6) {
      server_->Kill();
      EXPECT_GE(follower->Snapshot().index().size(), 12);
    }
    return Env::Posix().Read(pictures_.root() / found.path, 1000000);
  };
  update.on_wait = [&](const std::string& what) {
    told.push_back(what);
    if (restart.joinable()) return;
    restart = std::jthread([&] {
      EXPECT_GE(follower->Snapshot().index().size(), 12);
      server_->Restart();
    });
  };
  const UpdateSummary summary = library->UpdateWith(update, RunContext({.threads = 1}));
  EXPECT_EQ(summary.added, 12U);
  ASSERT_FALSE(told.empty());
  EXPECT_NE(told[0].find("cannot be reached"), std::string::npos) << told[0];
  EXPECT_EQ(ReadContent(Create()->Snapshot()), Expected());
  while (follower->Snapshot().index().size() < 24) std::this_thread::yield();
  EXPECT_EQ(ReadContent(follower->Snapshot()), Expected());
}

// The index file of a shared library is never replaced, and the last two are kept.
TEST_F(SharedLibraryTest, IndexFilesAreImmutable) {
  const auto index_files = [&] {
    std::map<std::string, fs::file_time_type> files;
    for (const auto& entry : fs::directory_iterator(storage())) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".bpi")) files[name] = entry.last_write_time();
    }
    return files;
  };
  WritePictures(10);
  Update();
  const auto first = index_files();
  ASSERT_EQ(first.size(), 1U);
  WritePictures(30);
  Update();
  const auto second = index_files();
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second.at(first.begin()->first), first.begin()->second);
  WritePictures(90);
  Update();
  const auto third = index_files();
  EXPECT_EQ(third.size(), 2U);
  EXPECT_FALSE(third.contains(first.begin()->first));
}

// While one writer looks for old index files, another ends, whose file is newer.
TEST_F(SharedLibraryTest, TheIndexFileOfAnotherWriterIsNotTakenForAnOldOne) {
  class InterruptedEnv : public testing::FaultyEnv {
   public:
    InterruptedEnv() : FaultyEnv(0) {}
    std::vector<FolderEntry> ListEntries(const fs::path& folder) override {
      if (on_list) std::exchange(on_list, nullptr)();
      return FaultyEnv::ListEntries(folder);
    }
    std::function<void()> on_list;
  };
  WritePictures(10);
  Update();
  WritePictures(30);
  LibraryUpdate update = pictures_.MakeUpdate();
  InterruptedEnv env;
  std::future<UpdateSummary> other;
  update.read = [&](const FoundPicture& found) {
    env.on_list = [&] {
      WritePictures(90);
      other = std::async(std::launch::async, [&] { return Update(); });
      // It ends now, unless it has to wait for this writer.
      other.wait_for(std::chrono::seconds(1));
    };
    return Env::Posix().Read(pictures_.root() / found.path, 1000000);
  };
  PictureLibrary::Open(env, address_)->UpdateWith(update, RunContext({.threads = 1}));
  ASSERT_TRUE(other.valid());
  EXPECT_EQ(other.get().added, 60U);
  const std::string newest = Create()->Snapshot().facts().index_digest;
  EXPECT_TRUE(fs::exists(storage() / ("codes-" + newest + ".bpi")));
}

}  // namespace
}  // namespace bitpool
