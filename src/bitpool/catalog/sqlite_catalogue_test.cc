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
#include "bitpool/catalog/sqlite_database.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using namespace std::string_literals;
using testing::ExpectError;
using testing::TempFolder;

constexpr SqliteOptions kNoWait = {.wait_ms = 0};

CataloguedPicture MakePicture(const std::string& path, uint64_t content = 1) {
  return {.path = path,
          .size = 1000 + content,
          .modified_ns = -5,
          .content_hash = ~content,  // beyond the signed range
          .code = {0, 1, 255, static_cast<uint8_t>(content)},
          .width = 640,
          .height = 480,
          .failure = ""};
}

uint64_t PutOne(Catalogue& catalogue, const CataloguedPicture& picture) {
  const auto batch = catalogue.StartBatch();
  const uint64_t id = batch->Put(picture).id;
  batch->Commit();
  return id;
}

std::vector<CataloguedPicture> All(const Catalogue& catalogue) {
  std::vector<CataloguedPicture> pictures;
  catalogue.ForEach([&](const CataloguedPicture& picture) { pictures.push_back(picture); });
  return pictures;
}

// Runs SQL on a file behind the catalogue's back.
void Tamper(const std::filesystem::path& path, const std::string& sql) {
  SqliteDatabase(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false, 0).Execute(sql);
}

TEST(SqliteCatalogue, KeepsEveryFieldAndOddPaths) {
  const TempFolder folder;
  const std::vector<std::string> paths = {
      "plain.jpg",
      "with space.jpg",
      "quote ' and \" and ; DROP TABLE pictures; --",
      "new\nline\ttab",
      "emoji \xf0\x9f\x93\xb7.jpg",
      "\xff\xfe not UTF-8 \xc3",
      "nul \0 inside"s,
      "",
      "a%b_c?d#e",
      std::string(5000, 'x'),
  };
  std::vector<CataloguedPicture> expected;
  {
    const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
    const auto batch = catalogue->StartBatch();
    for (const std::string& path : paths) {
      CataloguedPicture picture = MakePicture(path, expected.size());
      if (expected.size() % 3 == 1) {
        picture.code.clear();
        picture.failure = "damaged: \xff \0 end"s;
        picture.width = 0;
      }
      picture.id = batch->Put(picture).id;
      expected.push_back(picture);
    }
    batch->Commit();
    EXPECT_EQ(All(*catalogue), expected);
  }
  for (const CatalogueAccess access : {CatalogueAccess::kRead, CatalogueAccess::kWrite}) {
    const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", access);
    EXPECT_EQ(All(*catalogue), expected);
    EXPECT_EQ(catalogue->Count(), 10U);
    EXPECT_EQ(catalogue->FailedCount(), 3U);
    for (const CataloguedPicture& picture : expected) {
      EXPECT_EQ(catalogue->FindByPath(picture.path), picture);
      EXPECT_EQ(catalogue->FindById(picture.id), picture);
    }
    EXPECT_EQ(catalogue->FindByPath("PLAIN.jpg"), std::nullopt);
    EXPECT_EQ(catalogue->FindByPath("nul "), std::nullopt);
    EXPECT_EQ(catalogue->FindById(0), std::nullopt);
    EXPECT_EQ(catalogue->FindById(~uint64_t{0}), std::nullopt);
  }
}

TEST(SqliteCatalogue, AnIdStandsForOneContentAndOneCode) {
  const TempFolder folder;
  const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
  const uint64_t first = PutOne(*catalogue, MakePicture("a"));
  EXPECT_EQ(first, 1U);

  CataloguedPicture touched = MakePicture("a");
  touched.modified_ns = 77;
  EXPECT_EQ(PutOne(*catalogue, touched), first);
  EXPECT_EQ(catalogue->FindByPath("a")->modified_ns, 77);

  const auto expect_new_id = [&](const CataloguedPicture& changed) {
    const uint64_t before = catalogue->FindByPath("a")->id;
    const auto batch = catalogue->StartBatch();
    const PutResult result = batch->Put(changed);
    batch->Commit();
    EXPECT_GT(result.id, before);
    EXPECT_EQ(result.replaced, before);
    EXPECT_EQ(catalogue->FindById(before), std::nullopt);
    EXPECT_EQ(catalogue->FindByPath("a")->id, result.id);
    EXPECT_EQ(catalogue->Count(), 1U);
  };
  CataloguedPicture changed = touched;
  changed.content_hash = 5;
  expect_new_id(changed);
  changed.size = 6;
  expect_new_id(changed);
  changed.code.back() ^= 1;
  expect_new_id(changed);
  changed.code.clear();
  expect_new_id(changed);
}

TEST(SqliteCatalogue, IdsAreNeverGivenAgain) {
  const TempFolder folder;
  uint64_t last = 0;
  {
    const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
    PutOne(*catalogue, MakePicture("a"));
    last = PutOne(*catalogue, MakePicture("b"));
    const auto batch = catalogue->StartBatch();
    EXPECT_EQ(batch->Remove("b"), last);
    EXPECT_EQ(batch->Remove("b"), std::nullopt);
    EXPECT_EQ(batch->Remove("a"), 1U);
    batch->Commit();
    EXPECT_EQ(catalogue->Count(), 0U);
  }
  const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kWrite);
  EXPECT_GT(PutOne(*catalogue, MakePicture("b")), last);
}

TEST(SqliteCatalogue, Settings) {
  const TempFolder folder;
  {
    const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
    EXPECT_EQ(catalogue->Setting("root"), std::nullopt);
    const auto batch = catalogue->StartBatch();
    batch->PutSetting("root", "old");
    batch->PutSetting("root", "/home/\xff \0'x"s);
    batch->PutSetting("", "");
    batch->Commit();
  }
  const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead);
  EXPECT_EQ(catalogue->Setting("root"), "/home/\xff \0'x"s);
  EXPECT_EQ(catalogue->Setting(""), "");
  EXPECT_EQ(catalogue->Setting("Root"), std::nullopt);
}

TEST(SqliteCatalogue, ABatchIsAllOrNothing) {
  const TempFolder folder;
  const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
  PutOne(*catalogue, MakePicture("kept"));
  {
    const auto batch = catalogue->StartBatch();
    batch->Put(MakePicture("dropped"));
    batch->Remove("kept");
    batch->PutSetting("key", "value");
    EXPECT_EQ(catalogue->Count(), 1U);  // the writer sees its own changes
    EXPECT_TRUE(catalogue->FindByPath("dropped"));
  }
  EXPECT_EQ(catalogue->Count(), 1U);
  EXPECT_TRUE(catalogue->FindByPath("kept"));
  EXPECT_EQ(catalogue->Setting("key"), std::nullopt);

  const auto batch = catalogue->StartBatch();
  ExpectError(ErrorCode::kInvalidArgument, {"not over"}, [&] { catalogue->StartBatch(); });
  batch->Commit();
  ExpectError(ErrorCode::kInvalidArgument, {"over"}, [&] { batch->Put(MakePicture("x")); });
  ExpectError(ErrorCode::kInvalidArgument, {"over"}, [&] { batch->Remove("x"); });
  ExpectError(ErrorCode::kInvalidArgument, {"over"}, [&] { batch->PutSetting("x", ""); });
  ExpectError(ErrorCode::kInvalidArgument, {"over"}, [&] { batch->Commit(); });
  catalogue->StartBatch();  // the object of the old batch is still there, and does no harm
}

TEST(SqliteCatalogue, VisitorsMayReadAndThrow) {
  const TempFolder folder;
  const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
  for (const char* path : {"a", "b", "c"}) PutOne(*catalogue, MakePicture(path));
  std::string seen;
  catalogue->ForEach([&](const CataloguedPicture& outer) {
    EXPECT_EQ(catalogue->FindByPath(outer.path)->id, outer.id);
    catalogue->ForEach([&](const CataloguedPicture& inner) { seen += outer.path + inner.path; });
  });
  EXPECT_EQ(seen, "aaabacbabbbccacbcc");
  EXPECT_THROW(catalogue->ForEach([](const CataloguedPicture&) { throw std::string("stop"); }),
               std::string);
  EXPECT_EQ(All(*catalogue).size(), 3U);
}

// --- Opening ----------------------------------------------------------------------------------

TEST(SqliteCatalogue, CreateReplacesNothing) {
  const TempFolder folder;
  PutOne(*CreateSqliteCatalogue(folder / "catalogue"), MakePicture("a"));
  ExpectError(ErrorCode::kInvalidArgument, {"/catalogue", "already exists"},
              [&] { CreateSqliteCatalogue(folder / "catalogue"); });
  EXPECT_EQ(OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead)->Count(), 1U);
  std::ofstream(folder / "notes") << "text";
  ExpectError(ErrorCode::kInvalidArgument, {"/notes", "already exists"},
              [&] { CreateSqliteCatalogue(folder / "notes"); });
  EXPECT_EQ(std::filesystem::file_size(folder / "notes"), 4U);
  Tamper(folder / "other", "CREATE TABLE t(a)");
  ExpectError(ErrorCode::kInvalidArgument, {"/other", "already exists"},
              [&] { CreateSqliteCatalogue(folder / "other"); });
  ExpectError(ErrorCode::kIo, {"/missing/catalogue", "cannot open"},
              [&] { CreateSqliteCatalogue(folder / "missing/catalogue"); });
  std::ofstream(folder / "empty");  // what a process leaves that is killed while it creates
  EXPECT_EQ(CreateSqliteCatalogue(folder / "empty")->Count(), 0U);
}

TEST(SqliteCatalogue, NamesThatMeanSomethingToSqlite) {
  const TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* name : {":memory:", "file:x?mode=memory", "a b%20#?.db"}) {
    PutOne(*CreateSqliteCatalogue(name), MakePicture("a"));
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
    EXPECT_EQ(OpenSqliteCatalogue(name, CatalogueAccess::kRead)->Count(), 1U);
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
  CreateSqliteCatalogue(folder / "catalogue");
  Tamper(folder / "catalogue", "PRAGMA user_version = 2");
  for (const CatalogueAccess access : {CatalogueAccess::kRead, CatalogueAccess::kWrite}) {
    ExpectError(ErrorCode::kUnsupported, {"/catalogue", "a newer Bitpool made it", "version 2"},
                [&] { OpenSqliteCatalogue(folder / "catalogue", access); });
  }
}

TEST(SqliteCatalogue, ReadingOnlyChangesNothing) {
  const TempFolder folder;
  PutOne(*CreateSqliteCatalogue(folder / "catalogue"), MakePicture("a"));
  const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead);
  ExpectError(ErrorCode::kInvalidArgument, {"/catalogue", "reading only"},
              [&] { catalogue->StartBatch(); });
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
  PutOne(*CreateSqliteCatalogue(folder / "a #1%.db"), MakePicture("a"));
  chmod((folder / "a #1%.db").c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  EXPECT_TRUE(SucceedsWithoutRights([&] {
    const auto catalogue = OpenSqliteCatalogue(folder / "a #1%.db", CatalogueAccess::kRead);
    if (All(*catalogue).size() != 1) _exit(3);
  }));
  EXPECT_TRUE(SucceedsWithoutRights([&] {
    ExpectError(ErrorCode::kIo, {"a #1%.db", "writing is not allowed"},
                [&] { OpenSqliteCatalogue(folder / "a #1%.db", CatalogueAccess::kWrite); });
    if (::testing::Test::HasFailure()) _exit(3);
  }));
  chmod(folder.path().c_str(), 0755);
}

// --- Damage and interruption ------------------------------------------------------------------

void FillWithPictures(const std::filesystem::path& path, int count) {
  const auto catalogue = CreateSqliteCatalogue(path);
  const auto batch = catalogue->StartBatch();
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
      All(*catalogue);
      catalogue->FindByPath("folder/77");
      catalogue->Count();
      catalogue->FailedCount();
      catalogue->Setting("key");
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
  for (int number = std::stoi(catalogue->Setting("batches").value_or("0"));; ++number) {
    if (write(pipe_end, "s", 1) != 1) _exit(1);
    const auto batch = catalogue->StartBatch();
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
  CreateSqliteCatalogue(folder / "catalogue");
  Random random(7);
  int last = 0;
  for (int round = 0; round < 25; ++round) {
    KillDuringBatches(folder / "catalogue", random);
    const CatalogueAccess access =
        round % 2 == 0 ? CatalogueAccess::kRead : CatalogueAccess::kWrite;
    const auto catalogue = OpenSqliteCatalogue(folder / "catalogue", access);
    const int batches = std::stoi(catalogue->Setting("batches").value_or("0"));
    ASSERT_GE(batches, last);
    last = batches;
    std::map<std::string, int> per_folder;
    uint64_t previous_id = 0;
    catalogue->ForEach([&](const CataloguedPicture& picture) {
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
    const auto batch = catalogue->StartBatch();
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
  const auto first = CreateSqliteCatalogue(folder / "catalogue", kNoWait);
  const auto second = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kWrite, kNoWait);
  {
    const auto batch = first->StartBatch();
    ExpectError(ErrorCode::kResources, {"/catalogue", "another process is writing"},
                [&] { second->StartBatch(); });
    batch->Put(MakePicture("a"));
    EXPECT_EQ(second->Count(), 0U);
    batch->Commit();
  }
  EXPECT_EQ(second->Count(), 1U);
  EXPECT_EQ(PutOne(*second, MakePicture("b")), 2U);
  EXPECT_EQ(PutOne(*first, MakePicture("c")), 3U);
}

TEST(SqliteCatalogue, AReaderSeesOneMoment) {
  const TempFolder folder;
  const auto writer = CreateSqliteCatalogue(folder / "catalogue", kNoWait);
  for (int i = 0; i < 5; ++i) PutOne(*writer, MakePicture(std::to_string(i)));
  const auto reader = OpenSqliteCatalogue(folder / "catalogue", CatalogueAccess::kRead, kNoWait);
  const auto batch = writer->StartBatch();
  batch->Put(MakePicture("new"));
  batch->Put(MakePicture("3", 99));
  EXPECT_EQ(reader->Count(), 5U);
  EXPECT_EQ(reader->FindByPath("new"), std::nullopt);
  EXPECT_EQ(reader->FindByPath("3")->content_hash, ~uint64_t{1});

  bool committed = false;
  std::string seen;
  reader->ForEach([&](const CataloguedPicture& picture) {
    if (!committed) batch->Commit();
    committed = true;
    seen += picture.path;
  });
  EXPECT_EQ(seen, "01234");
  EXPECT_EQ(reader->Count(), 6U);
}

TEST(SqliteCatalogue, ManyPictures) {
  constexpr int kCount = 100000;
  const TempFolder folder;
  const auto catalogue = CreateSqliteCatalogue(folder / "catalogue");
  for (int start = 0; start < kCount; start += 10000) {
    const auto batch = catalogue->StartBatch();
    for (int i = start; i < start + 10000; ++i) {
      CataloguedPicture picture = MakePicture("year/month/IMG_" + std::to_string(i) + ".jpg", i);
      if (i % 1000 == 0) picture.failure = "damaged";
      batch->Put(picture);
    }
    batch->Commit();
  }
  EXPECT_EQ(catalogue->Count(), static_cast<uint64_t>(kCount));
  EXPECT_EQ(catalogue->FailedCount(), static_cast<uint64_t>(kCount / 1000));
  EXPECT_EQ(catalogue->FindByPath("year/month/IMG_54321.jpg")->id, 54322U);
  EXPECT_EQ(All(*catalogue).size(), static_cast<size_t>(kCount));
}

}  // namespace
}  // namespace bitpool
