#include "bitpool/catalog/sqlite_catalogue.h"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <map>

#include "bitpool/base/random.h"
#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/catalog/sqlite_database.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using namespace std::string_literals;
using testing::All;
using testing::ExpectError;
using testing::MakePicture;
using testing::PutOne;
using testing::Tamper;
using testing::TempFolder;

constexpr SqliteOptions kNoWait = {.wait_ms = 0};

std::unique_ptr<Catalogue> Create(const std::filesystem::path& path,
                                  const SqliteOptions& options = {}) {
  return OpenSqliteCatalogue(path, CatalogueAccess::kCreate, options);
}

uint64_t CountOf(const Catalogue& catalogue) { return catalogue.Snapshot()->Count(); }

// --- Opening ----------------------------------------------------------------------------------

TEST(SqliteCatalogue, CreatingReplacesNothing) {
  const TempFolder folder;
  PutOne(*Create(folder / "catalogue"), MakePicture("a"));
  EXPECT_EQ(CountOf(*Create(folder / "catalogue")), 1U);
  EXPECT_EQ(CountOf(*OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead)), 1U);
  std::ofstream(folder / "notes") << "text";
  ExpectError(ErrorCode::kCorrupt, {"/notes", "not a catalogue"},
              [&] { Create(folder / "notes"); });
  EXPECT_EQ(std::filesystem::file_size(folder / "notes"), 4U);
  Tamper(folder / "other", "CREATE TABLE t(a)");
  ExpectError(ErrorCode::kCorrupt, {"/other", "not a catalogue"},
              [&] { Create(folder / "other"); });
  ExpectError(ErrorCode::kIo, {"/missing/catalogue", "cannot open"},
              [&] { Create(folder / "missing/catalogue"); });
  std::ofstream(folder / "empty");  // as left by a process killed while creating it
  EXPECT_EQ(CountOf(*Create(folder / "empty")), 0U);
}

TEST(SqliteCatalogue, NamesThatMeanSomethingToSqlite) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {":memory:", "file:x?mode=memory", "a b%20#?.db"}) {
    PutOne(*Create(name), MakePicture("a"));
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(CountOf(*OpenSqliteCatalogue(name, CatalogueAccess::kRead)), 1U);
  }
  std::filesystem::current_path(before);
}

TEST(SqliteCatalogue, OpenRefusesWhatIsNoCatalogue) {
  const TempFolder folder;
  std::ofstream(folder / "text") << "this is no database";
  std::ofstream(folder / "long text") << std::string(100000, 'x');
  std::ofstream(folder / "empty");
  Tamper(folder / "other", "CREATE TABLE pictures(id); PRAGMA user_version = 1");
  for (const CatalogueAccess access : {CatalogueAccess::kRead, CatalogueAccess::kWrite}) {
    ExpectError(ErrorCode::kNotFound, {"/missing", "no catalogue"},
                [&] { OpenSqliteCatalogue(folder / "missing", access); });
    for (const char* name : {"text", "long text", "empty", "other"}) {
      ExpectError(ErrorCode::kCorrupt, {"/"s + name, "not a catalogue of Bitpool"},
                  [&] { OpenSqliteCatalogue(folder / name, access); });
    }
    EXPECT_THROW(OpenSqliteCatalogue(folder.path(), access), Error);
  }
  EXPECT_EQ(std::filesystem::file_size(folder / "empty"), 0U);  // untouched
}

TEST(SqliteCatalogue, OpenRefusesWhatANewerBitpoolMade) {
  const TempFolder folder;
  Create(folder / "catalogue");
  Tamper(folder / "catalogue", "PRAGMA user_version = 5");
  for (const CatalogueAccess access :
       {CatalogueAccess::kRead, CatalogueAccess::kWrite, CatalogueAccess::kCreate}) {
    ExpectError(ErrorCode::kUnsupported, {"/catalogue", "a newer Bitpool made it", "version 5"},
                [&] { OpenSqliteCatalogue(folder / "catalogue", access); });
  }
}

// Anything that is not one of our tables could run for ever or change what is read.
TEST(SqliteCatalogue, OpenRefusesOtherThingsThanTables) {
  const TempFolder folder;
  const std::vector<std::string> forgeries = {
      "DROP TABLE changes",
      "DROP TABLE changes; CREATE VIEW changes AS WITH RECURSIVE c(generation) AS (SELECT 1 UNION "
      "ALL SELECT generation + 1 FROM c) SELECT generation, generation AS id, x'' AS code FROM c",
      "CREATE TRIGGER t AFTER INSERT ON pictures BEGIN DELETE FROM settings; END",
      "DROP TABLE state; CREATE TABLE state(x)"};
  for (size_t i = 0; i < forgeries.size(); ++i) {
    const std::filesystem::path path = folder / std::to_string(i);
    Create(path);
    Tamper(path, forgeries[i]);
    for (const CatalogueAccess access : {CatalogueAccess::kRead, CatalogueAccess::kWrite}) {
      ExpectError(ErrorCode::kCorrupt, {"catalogue"}, [&] { OpenSqliteCatalogue(path, access); });
    }
  }
}

// So that the one file can be copied, and read where nothing may be written.
TEST(SqliteCatalogue, AWriterThatClosesEmptiesTheLog) {
  const TempFolder folder;
  const std::filesystem::path log = folder / "catalogue-wal";
  auto writer = Create(folder / "catalogue");
  const auto reader = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead);
  EXPECT_EQ(CountOf(*reader), 0U);
  PutOne(*writer, MakePicture("a"));
  EXPECT_GT(std::filesystem::file_size(log), 0U);
  writer.reset();
  EXPECT_EQ(std::filesystem::file_size(log), 0U);
  EXPECT_EQ(CountOf(*reader), 1U);
}

// --- Version 1 --------------------------------------------------------------------------------

void FillFirstVersion(const std::filesystem::path& path) {
  testing::MakeFirstVersion(path);
  Tamper(path,
         "INSERT INTO pictures VALUES(1, x'61', 10, 20, 30, x'0102', 4, 3, ''), "
         "(7, x'62', 11, 21, 31, x'', 0, 0, 'damaged'), (9, x'63', 1, 2, 3, x'0304', 4, 3, '');"
         "DELETE FROM pictures WHERE id = 9;"
         "INSERT INTO settings VALUES('generation', '12'), ('root', '..')");
}

void ExpectFirstVersionContent(const CatalogueSnapshot& snapshot) {
  EXPECT_EQ(snapshot.generation(), 12U);
  EXPECT_EQ(snapshot.Setting("root"), "..");
  EXPECT_EQ(snapshot.Count(), 2U);
  EXPECT_EQ(snapshot.FailedCount(), 1U);
  EXPECT_TRUE(All(snapshot, PictureSet::kNext).empty());
  EXPECT_EQ(snapshot.FindByPath("a")->code, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(snapshot.CountChanges(12), 0U);
  EXPECT_EQ(snapshot.CountChanges(11), std::nullopt);
}

constexpr const char* kWithoutHashes =
    "ALTER TABLE pictures DROP COLUMN perceptual_hash; "
    "ALTER TABLE next_pictures DROP COLUMN perceptual_hash; ";

TEST(SqliteCatalogue, VersionThreeDidNotKnowWhatPicturesLookLike) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "catalogue";
  CataloguedPicture picture = MakePicture("a");
  picture.perceptual_hash = 5;
  picture.id = PutOne(*Create(path), picture);
  Tamper(path, std::string(kWithoutHashes) + "PRAGMA user_version = 3");
  const auto reader = OpenSqliteCatalogue(path, CatalogueAccess::kRead);
  const auto before = reader->Snapshot();
  EXPECT_EQ(before->FindByPath("a")->perceptual_hash, std::nullopt);
  const auto writer = OpenSqliteCatalogue(path, CatalogueAccess::kWrite);
  EXPECT_EQ(reader->Snapshot()->FindByPath("a")->perceptual_hash, std::nullopt);
  EXPECT_EQ(PutOne(*writer, picture), picture.id);
  EXPECT_EQ(reader->Snapshot()->FindByPath("a"), picture);
  EXPECT_EQ(before->FindByPath("a")->perceptual_hash, std::nullopt);
}

TEST(SqliteCatalogue, VersionTwoHadNoDecisions) {
  const TempFolder folder;
  const std::filesystem::path path = folder / "catalogue";
  PutOne(*Create(path), MakePicture("a"));
  Tamper(path, std::string(kWithoutHashes) + "DROP TABLE decisions; PRAGMA user_version = 2");
  const auto reader = OpenSqliteCatalogue(path, CatalogueAccess::kRead);
  EXPECT_TRUE(reader->Snapshot()->Decisions().empty());
  const auto writer = OpenSqliteCatalogue(path, CatalogueAccess::kWrite);
  const auto batch = writer->StartBatch(PictureSet::kCurrent);
  batch->AddDecision({.kind = DecisionKind::kKeep, .first = {.path = "a"}});
  batch->Commit();
  EXPECT_EQ(reader->Snapshot()->Decisions().size(), 1U);
  EXPECT_EQ(reader->Snapshot()->Count(), 1U);
  SqliteDatabase database(path, SQLITE_OPEN_READWRITE, false, 0);
  EXPECT_EQ(database.ReadNumber("PRAGMA user_version"), 4);
}

TEST(SqliteCatalogue, ADecisionOfAnUnknownKindIsDamage) {
  const TempFolder folder;
  const auto catalogue = Create(folder / "catalogue");
  Tamper(folder / "catalogue", "INSERT INTO decisions VALUES(5, 9, x'', 0, 0, x'', 0, 0)");
  ExpectError(ErrorCode::kCorrupt, {"/catalogue", "decision 5", "kind 9"},
              [&] { catalogue->Snapshot()->Decisions(); });
}

TEST(SqliteCatalogue, ReadsVersionOneAndLeavesItAlone) {
  const TempFolder folder;
  FillFirstVersion(folder / "catalogue");
  const auto reader = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead);
  const auto before = reader->Snapshot();
  ExpectFirstVersionContent(*before);
  SqliteDatabase database(folder / "catalogue", SQLITE_OPEN_READWRITE, false, 0);
  EXPECT_EQ(database.ReadNumber("PRAGMA user_version"), 1);

  // Another process brings it up to date meanwhile.
  const auto writer = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kWrite);
  EXPECT_EQ(database.ReadNumber("PRAGMA user_version"), 4);
  ExpectFirstVersionContent(*before);
  ExpectFirstVersionContent(*reader->Snapshot());
  ExpectFirstVersionContent(*writer->Snapshot());
  EXPECT_EQ(PutOne(*writer, MakePicture("d")), 10U);  // 9 was given before
  for (const auto* catalogue : {reader.get(), writer.get()}) {
    const auto snapshot = catalogue->Snapshot();
    EXPECT_EQ(snapshot->generation(), 13U);
    EXPECT_EQ(snapshot->Count(), 3U);
    EXPECT_EQ(snapshot->CountChanges(12), 1U);
  }
  const auto batch = writer->StartBatch(PictureSet::kNext);  // old and new tables go together
  batch->Put(MakePicture("x"));
  batch->SwitchToNext();
  batch->Commit();
  EXPECT_EQ(CountOf(*reader), 1U);
}

// Runs `action` in a child process that may not write where only root may; true when it ended well.
template <class Action>
bool SucceedsWithoutRights(const Action& action) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (getuid() == 0 && setuid(kNobody) != 0) _exit(2);
    try {
      action();
      _exit(0);
    } catch (const std::exception& error) {
      (void)!write(STDERR_FILENO, error.what(), std::string_view(error.what()).size());
      _exit(1);
    }
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

TEST(SqliteCatalogue, ReadsInAFolderItMayNotWriteTo) {
  const TempFolder folder;
  PutOne(*Create(folder / "a #1%.db"), MakePicture("a"));
  chmod((folder / "a #1%.db").c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_TRUE(SucceedsWithoutRights([&] {
    const auto catalogue = OpenSqliteCatalogue(folder / "a #1%.db", CatalogueAccess::kRead);
    if (All(*catalogue).size() != 1) _exit(3);
  }));
  EXPECT_TRUE(SucceedsWithoutRights([&] {
    ExpectError(ErrorCode::kIo, {"a #1%.db", "writing is not allowed", "readonly"},
                [&] { OpenSqliteCatalogue(folder / "a #1%.db", CatalogueAccess::kWrite); });
    if (::testing::Test::HasFailure()) _exit(3);
  }));
  chmod(folder.path().c_str(), 0755);
}

// --- Damage and interruption ------------------------------------------------------------------

void FillWithPictures(const std::filesystem::path& path, int count) {
  const auto catalogue = Create(path);
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  for (int i = 0; i < count; ++i) batch->Put(MakePicture("folder/" + std::to_string(i), i));
  batch->PutSetting("key", "value");
  batch->Commit();
}

TEST(SqliteCatalogue, TruncatedIsAnError) {
  const TempFolder folder;
  FillWithPictures(folder / "whole", 500);
  const uint64_t size = std::filesystem::file_size(folder / "whole");
  ASSERT_GT(size, 30000U);
  for (const uint64_t length : {uint64_t{0}, uint64_t{1}, uint64_t{15}, uint64_t{16}, uint64_t{99},
                                uint64_t{100}, uint64_t{511}, uint64_t{512}, uint64_t{4095},
                                uint64_t{4096}, uint64_t{4097}, size / 2, size - 4096, size - 1}) {
    for (const CatalogueAccess access : {CatalogueAccess::kRead, CatalogueAccess::kWrite}) {
      std::filesystem::copy_file(folder / "whole", folder / "cut",
                                 std::filesystem::copy_options::overwrite_existing);
      std::filesystem::resize_file(folder / "cut", length);
      ExpectError(ErrorCode::kCorrupt, {"/cut"}, [&] {
        const auto catalogue = OpenSqliteCatalogue(folder / "cut", access);
        All(*catalogue);
      });
    }
  }
}

// SQLite has no checksums: some damage gives other records. It must not do worse.
TEST(SqliteCatalogue, DamagedNeverCrashes) {
  const TempFolder folder;
  FillWithPictures(folder / "whole", 200);
  const uint64_t size = std::filesystem::file_size(folder / "whole");
  Random random(3);
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    std::filesystem::copy_file(folder / "whole", folder / "damaged",
                               std::filesystem::copy_options::overwrite_existing);
    {
      std::fstream file(folder / "damaged", std::ios::in | std::ios::out | std::ios::binary);
      for (int change = 0; change < 20; ++change) {
        file.seekp(static_cast<std::streamoff>(round % 2 == 0 ? random.Below(size)
                                                              : random.Below(size / 4096) * 4096 +
                                                                    random.Below(40)));
        file.put(static_cast<char>(random.Below(256)));
      }
    }
    try {
      const auto catalogue = OpenSqliteCatalogue(folder / "damaged", CatalogueAccess::kWrite);
      {
        const auto snapshot = catalogue->Snapshot();
        All(*snapshot);
        snapshot->FindByPath("folder/77");
        snapshot->Count();
        snapshot->FailedCount();
        snapshot->Setting("key");
        snapshot->ForEachChange(0, [](uint64_t, auto) {});
      }
      PutOne(*catalogue, MakePicture("folder/77", 1234));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kCancelled) << error.what();
      ++refused;
    }
    for (const char* rest : {"damaged-wal", "damaged-shm"}) {
      std::filesystem::remove(folder / rest);
    }
  }
  EXPECT_GT(refused, 30);
}

constexpr int kBatchSize = 40;

// Writes batches for ever, telling a pipe when each one starts. Every batch replaces a part of the
// one before, adds pictures named after it, and counts itself in a setting.
[[noreturn]] void WriteBatches(const std::filesystem::path& path, int pipe_end) {
  const auto catalogue = OpenSqliteCatalogue(path, CatalogueAccess::kWrite);
  for (int number = std::stoi(catalogue->Snapshot()->Setting("batches").value_or("0"));; ++number) {
    if (write(pipe_end, "s", 1) != 1) _exit(1);
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    for (int i = 0; i < kBatchSize; ++i) {
      batch->Put(MakePicture(std::to_string(number) + "/" + std::to_string(i), number));
      batch->Put(MakePicture("shared/" + std::to_string(i), number));
    }
    batch->PutSetting("batches", std::to_string(number + 1));
    batch->Commit();
  }
}

void KillDuringBatches(const std::filesystem::path& path, Random& random) {
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) WriteBatches(path, pipe_ends[1]);
  // The moment is counted in batches, not in seconds, and then blurred by a short random wait.
  char started = 0;
  for (uint64_t batches = 1 + random.Below(4); batches > 0; --batches) {
    ASSERT_EQ(read(pipe_ends[0], &started, 1), 1);
  }
  usleep(static_cast<useconds_t>(random.Below(3000)));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(SqliteCatalogue, KilledAtAnyMomentHoldsCompleteBatches) {
  const TempFolder folder;
  Create(folder / "catalogue");
  Random random(7);
  int last = 0;
  for (int round = 0; round < 25; ++round) {
    KillDuringBatches(folder / "catalogue", random);
    const CatalogueAccess access =
        round % 2 == 0 ? CatalogueAccess::kRead : CatalogueAccess::kWrite;
    const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", access);
    const int batches = std::stoi(catalogue->Snapshot()->Setting("batches").value_or("0"));
    ASSERT_GE(batches, last);
    last = batches;
    std::map<std::string, int> per_folder;
    uint64_t previous_id = 0;
    catalogue->Snapshot()->ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
      EXPECT_GT(picture.id, previous_id);
      previous_id = picture.id;
      const std::string name = picture.path.substr(0, picture.path.find('/'));
      ++per_folder[name];
      const int number = name == "shared" ? batches - 1 : std::stoi(name);
      EXPECT_EQ(picture, (CataloguedPicture{[&] {
                  CataloguedPicture expected = MakePicture(picture.path, number);
                  expected.id = picture.id;
                  return expected;
                }()}));
    });
    ASSERT_EQ(per_folder.size(), batches == 0 ? 0U : batches + 1U) << "round " << round;
    for (const auto& [name, count] : per_folder) ASSERT_EQ(count, kBatchSize) << name;
    SqliteDatabase database(folder / "catalogue", SQLITE_OPEN_READWRITE, false, 0);
    SqliteStatement check = database.Prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.Step());
    ASSERT_EQ(check.Text(0), "ok");
  }
  EXPECT_GT(last, 10);  // the children did write
}

// A limit on the size of files stands for a full disk, in a child so that it ends with it.
TEST(SqliteCatalogue, AFullDiskEndsTheBatch) {
  const TempFolder folder;
  FillWithPictures(folder / "catalogue", 10);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 300'000, .rlim_max = 300'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kWrite);
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    try {
      for (int i = 0; i < 100'000; ++i) batch->Put(MakePicture("new/" + std::to_string(i)));
      batch->Commit();
      _exit(3);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kIo && error.code() != ErrorCode::kResources) _exit(4);
    }
    try {
      batch->Put(MakePicture("after the failure"));
      batch->Commit();
      _exit(5);
    } catch (const Error&) {
      _exit(0);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead);
  EXPECT_EQ(All(*catalogue).size(), 10U);
}

TEST(SqliteCatalogue, AFullDiskIsNamed) {
  const TempFolder folder;
  FillWithPictures(folder / "catalogue", 10);
  SqliteDatabase database(folder / "catalogue", SQLITE_OPEN_READWRITE, false, 0);
  database.ReadNumber("PRAGMA max_page_count = 12");
  ExpectError(ErrorCode::kResources, {"/catalogue", "the disk is full"},
              [&] { database.Execute("CREATE TABLE t AS SELECT zeroblob(1000000)"); });
}

// --- Several at a time ------------------------------------------------------------------------

TEST(SqliteCatalogue, TheSecondWriterIsTold) {
  const TempFolder folder;
  const auto first = Create(folder / "catalogue", kNoWait);
  const auto second = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kWrite, kNoWait);
  {
    const auto batch = first->StartBatch(PictureSet::kCurrent);
    ExpectError(ErrorCode::kResources, {"/catalogue", "another process is writing"},
                [&] { second->StartBatch(PictureSet::kCurrent); });
    batch->Put(MakePicture("a"));
    EXPECT_EQ(CountOf(*second), 0U);
    batch->Commit();
  }
  EXPECT_EQ(CountOf(*second), 1U);
  EXPECT_EQ(PutOne(*second, MakePicture("b")), 2U);
  EXPECT_EQ(PutOne(*first, MakePicture("c")), 3U);
}

}  // namespace
}  // namespace bitpool
