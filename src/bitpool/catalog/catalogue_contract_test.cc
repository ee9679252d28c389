#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "bitpool/base/random.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/catalog/postgres_testing.h"
#include "bitpool/io/testing.h"

// What every catalogue promises, whatever it is made of.
namespace bitpool {
namespace {

using namespace std::string_literals;
using testing::All;
using testing::ExpectError;
using testing::MakePicture;
using testing::PostgresServer;
using testing::PutOne;
using testing::TempFolder;

// A kind of catalogue: how a test names an empty place for one. Where there is no such place, the
// test is skipped.
struct CatalogueKind {
  const char* name;
  std::optional<std::string> (*location)(const TempFolder& folder);
};

void PrintTo(const CatalogueKind& kind, std::ostream* out) { *out << kind.name; }

class CatalogueContract : public ::testing::TestWithParam<CatalogueKind> {
 protected:
  void SetUp() override {
    location_ = GetParam().location(folder_);
    if (!location_) GTEST_SKIP() << "PostgreSQL is not installed";
  }

  std::unique_ptr<Catalogue> Open(CatalogueAccess access) const {
    return OpenCatalogue(*location_, access);
  }
  std::unique_ptr<Catalogue> Create() const { return Open(CatalogueAccess::kCreate); }

  const TempFolder folder_;
  std::optional<std::string> location_;
};

// The changes that a catalogue reports, as text.
std::string Changes(const CatalogueSnapshot& snapshot, uint64_t since) {
  std::string text;
  const bool known = snapshot.ForEachChange(since, [&](uint64_t id, auto code) {
    text += std::to_string(id) + (code.empty() ? "-" : "+") + " ";
    EXPECT_TRUE(code.empty() || code.size() == 4);
  });
  if (!known) text = "unknown";
  return text;
}

TEST_P(CatalogueContract, KeepsEveryFieldAndOddPaths) {
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
    const auto catalogue = Create();
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    for (const std::string& path : paths) {
      CataloguedPicture picture = MakePicture(path, expected.size());
      if (expected.size() % 2 == 1) picture.perceptual_hash = ~uint64_t{0} - expected.size();
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
    const auto snapshot = Open(access)->Snapshot();  // outlives its catalogue
    EXPECT_EQ(All(*snapshot), expected);
    EXPECT_TRUE(All(*snapshot, PictureSet::kNext).empty());
    EXPECT_EQ(snapshot->Count(), 10U);
    EXPECT_EQ(snapshot->FailedCount(), 3U);
    for (const CataloguedPicture& picture : expected) {
      EXPECT_EQ(snapshot->FindByPath(picture.path), picture);
      EXPECT_EQ(snapshot->FindById(picture.id), picture);
    }
    EXPECT_EQ(snapshot->FindByPath("PLAIN.jpg"), std::nullopt);
    EXPECT_EQ(snapshot->FindByPath("nul "), std::nullopt);
    EXPECT_EQ(snapshot->FindById(0), std::nullopt);
    EXPECT_EQ(snapshot->FindById(~uint64_t{0}), std::nullopt);
  }
}

TEST_P(CatalogueContract, AnIdStandsForOneContentAndOneCode) {
  const auto catalogue = Create();
  const uint64_t first = PutOne(*catalogue, MakePicture("a"));
  EXPECT_EQ(first, 1U);

  CataloguedPicture touched = MakePicture("a");
  touched.modified_ns = 77;
  touched.width = 3;
  EXPECT_EQ(PutOne(*catalogue, touched), first);
  EXPECT_EQ(catalogue->Snapshot()->FindByPath("a")->modified_ns, 77);
  EXPECT_EQ(catalogue->Snapshot()->FindByPath("a")->width, 3);

  const uint64_t generation = catalogue->Snapshot()->generation();
  touched.perceptual_hash = 0;  // which is not the same as none
  EXPECT_EQ(PutOne(*catalogue, touched), first);
  EXPECT_EQ(catalogue->Snapshot()->FindByPath("a")->perceptual_hash, 0U);
  EXPECT_EQ(catalogue->Snapshot()->generation(), generation);

  const auto expect_new_id = [&](const CataloguedPicture& changed) {
    const uint64_t before = catalogue->Snapshot()->FindByPath("a")->id;
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    const PutResult result = batch->Put(changed);
    batch->Commit();
    EXPECT_GT(result.id, before);
    EXPECT_EQ(result.replaced, before);
    const auto snapshot = catalogue->Snapshot();
    EXPECT_EQ(snapshot->FindById(before), std::nullopt);
    EXPECT_EQ(snapshot->FindByPath("a")->id, result.id);
    EXPECT_EQ(snapshot->Count(), 1U);
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

// Putting many pictures at once does the same as putting them one by one.
TEST_P(CatalogueContract, ManyArePutAsOneByOne) {
  const auto catalogue = Create();
  std::vector<CataloguedPicture> pictures;
  for (uint64_t i = 0; i < 5; ++i) pictures.push_back(MakePicture("p" + std::to_string(i), i));
  pictures[2].code.clear();
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    EXPECT_TRUE(batch->PutAll({}).empty());
    const std::vector<PutResult> put = batch->PutAll(pictures);
    ASSERT_EQ(put.size(), 5U);
    for (uint64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(put[i].id, i + 1);
      EXPECT_EQ(put[i].replaced, std::nullopt);
    }
    EXPECT_EQ(batch->Commit(), 1U);
  }
  pictures[1].width = 9;                     // the same picture
  pictures[2] = MakePicture("p2", 22);       // now with a code
  pictures[3].content_hash = 33;             // another one
  pictures.push_back(MakePicture("p5", 5));  // a new one
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  const std::vector<PutResult> put = batch->PutAll(pictures);
  EXPECT_EQ(batch->Commit(), 2U);
  ASSERT_EQ(put.size(), 6U);
  EXPECT_EQ(put[1].id, 2U);
  EXPECT_EQ(put[2].id, 6U);
  EXPECT_EQ(put[2].replaced, 3U);
  EXPECT_EQ(put[3].id, 7U);
  EXPECT_EQ(put[3].replaced, 4U);
  EXPECT_EQ(put[5].id, 8U);
  for (size_t i = 0; i < pictures.size(); ++i) pictures[i].id = put[i].id;
  std::ranges::sort(pictures, {}, &CataloguedPicture::id);
  EXPECT_EQ(All(*catalogue), pictures);
  EXPECT_EQ(Changes(*catalogue->Snapshot(), 1), "4- 6+ 7+ 8+ ");
}

TEST_P(CatalogueContract, IdsAreNeverGivenAgain) {
  uint64_t last = 0;
  {
    const auto catalogue = Create();
    PutOne(*catalogue, MakePicture("a"));
    last = PutOne(*catalogue, MakePicture("b"));
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    EXPECT_EQ(batch->Remove("b"), last);
    EXPECT_EQ(batch->Remove("b"), std::nullopt);
    EXPECT_EQ(batch->Remove("a"), 1U);
    batch->Commit();
    EXPECT_EQ(catalogue->Snapshot()->Count(), 0U);
  }
  const auto catalogue = Open(CatalogueAccess::kWrite);
  EXPECT_GT(PutOne(*catalogue, MakePicture("b")), last);
}

TEST_P(CatalogueContract, Settings) {
  {
    const auto catalogue = Create();
    EXPECT_EQ(catalogue->Snapshot()->Setting("root"), std::nullopt);
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->PutSetting("root", "old");
    batch->PutSetting("root", "/home/\xff \0'x"s);
    batch->PutSetting("", "");
    EXPECT_EQ(batch->Setting("root"), "/home/\xff \0'x"s);
    EXPECT_EQ(batch->Setting("Root"), std::nullopt);
    batch->Commit();
  }
  const auto snapshot = Open(CatalogueAccess::kRead)->Snapshot();
  EXPECT_EQ(snapshot->Setting("root"), "/home/\xff \0'x"s);
  EXPECT_EQ(snapshot->Setting(""), "");
  EXPECT_EQ(snapshot->Setting("Root"), std::nullopt);
}

TEST_P(CatalogueContract, ABatchIsAllOrNothing) {
  const auto catalogue = Create();
  PutOne(*catalogue, MakePicture("kept"));
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Put(MakePicture("dropped"));
    batch->Remove("kept");
    batch->PutSetting("key", "value");
    EXPECT_EQ(batch->Put(MakePicture("dropped", 2)).replaced, 2U);  // it sees its own changes
    EXPECT_TRUE(catalogue->Snapshot()->FindByPath("kept"));         // and nobody else does
  }
  const auto snapshot = catalogue->Snapshot();
  EXPECT_EQ(snapshot->Count(), 1U);
  EXPECT_EQ(snapshot->generation(), 1U);
  EXPECT_EQ(Changes(*snapshot, 0), "1+ ");
  EXPECT_TRUE(snapshot->FindByPath("kept"));
  EXPECT_EQ(snapshot->Setting("key"), std::nullopt);

  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  ExpectError(ErrorCode::kInvalidArgument, {"not over"},
              [&] { catalogue->StartBatch(PictureSet::kNext); });
  batch->Commit();
  const auto expect_over = [](const auto& action) {
    ExpectError(ErrorCode::kInvalidArgument, {"over"}, action);
  };
  expect_over([&] { batch->Put(MakePicture("x")); });
  expect_over([&] { batch->Remove("x"); });
  expect_over([&] { batch->Touch("x", 1); });
  expect_over([&] { batch->ClearNext(); });
  expect_over([&] { batch->SwitchToNext(); });
  expect_over([&] { batch->ForgetChanges(1); });
  expect_over([&] { batch->PutSetting("x", ""); });
  expect_over([&] { batch->Commit(); });
  // The object of the old batch is still there, and does no harm.
  catalogue->StartBatch(PictureSet::kCurrent);
}

TEST_P(CatalogueContract, ReadingOnlyChangesNothing) {
  PutOne(*Create(), MakePicture("a"));
  const auto catalogue = Open(CatalogueAccess::kRead);
  ExpectError(ErrorCode::kInvalidArgument, {"reading only"},
              [&] { catalogue->StartBatch(PictureSet::kCurrent); });
}

TEST_P(CatalogueContract, VisitorsMayReadAndThrow) {
  const auto catalogue = Create();
  for (const char* path : {"a", "b", "c"}) PutOne(*catalogue, MakePicture(path));
  const auto snapshot = catalogue->Snapshot();
  std::string seen;
  snapshot->ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& outer) {
    EXPECT_EQ(snapshot->FindByPath(outer.path)->id, outer.id);
    snapshot->ForEach(PictureSet::kCurrent,
                      [&](const CataloguedPicture& inner) { seen += outer.path + inner.path; });
  });
  EXPECT_EQ(seen, "aaabacbabbbccacbcc");
  EXPECT_THROW(snapshot->ForEach(PictureSet::kCurrent,
                                 [](const CataloguedPicture&) { throw std::string("stop"); }),
               std::string);
  EXPECT_EQ(All(*snapshot).size(), 3U);
}

TEST_P(CatalogueContract, ASnapshotKeepsItsMoment) {
  const auto writer = Create();
  for (int i = 0; i < 5; ++i) PutOne(*writer, MakePicture(std::to_string(i)));
  const auto reader = Open(CatalogueAccess::kRead);
  const auto before = reader->Snapshot();
  const auto batch = writer->StartBatch(PictureSet::kCurrent);
  batch->Put(MakePicture("new"));
  batch->Put(MakePicture("3", 99));
  batch->PutSetting("key", "value");
  const auto meanwhile = reader->Snapshot();
  std::string seen;
  before->ForEach(PictureSet::kCurrent, [&](const CataloguedPicture& picture) {
    if (seen.empty()) batch->Commit();
    seen += picture.path;
  });
  EXPECT_EQ(seen, "01234");
  for (const auto* old : {before.get(), meanwhile.get()}) {
    EXPECT_EQ(old->Count(), 5U);
    EXPECT_EQ(old->generation(), 5U);
    EXPECT_EQ(old->FindByPath("new"), std::nullopt);
    EXPECT_EQ(old->FindByPath("3")->content_hash, ~uint64_t{1});
    EXPECT_EQ(old->Setting("key"), std::nullopt);
    EXPECT_EQ(Changes(*old, 4), "5+ ");
  }
  const auto now = reader->Snapshot();
  EXPECT_EQ(now->Count(), 6U);
  EXPECT_EQ(now->generation(), 6U);
  EXPECT_EQ(now->Setting("key"), "value");
  EXPECT_EQ(Changes(*now, 5), "4- 6+ 7+ ");
}

TEST_P(CatalogueContract, TheSecondWriterOfACatalogueIsTold) {
  const auto catalogue = Create();
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  ExpectError(ErrorCode::kInvalidArgument, {"not over"},
              [&] { catalogue->StartBatch(PictureSet::kCurrent); });
}

TEST_P(CatalogueContract, TellsWhatChanged) {
  const auto catalogue = Create();
  EXPECT_EQ(catalogue->Snapshot()->generation(), 0U);
  EXPECT_EQ(Changes(*catalogue->Snapshot(), 0), "");
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Put(MakePicture("a"));  // 1
    batch->Put(MakePicture("b"));  // 2
    CataloguedPicture failed = MakePicture("failed");
    failed.code.clear();
    batch->Put(failed);  // 3, without a code
    EXPECT_EQ(batch->Commit(), 1U);
  }
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Touch("a", 5);
    batch->Touch("nothing", 5);
    batch->PutSetting("key", "value");
    EXPECT_EQ(batch->Commit(), 1U);  // no change of pictures
  }
  EXPECT_EQ(catalogue->Snapshot()->FindByPath("a")->modified_ns, 5);
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Put(MakePicture("a", 9));  // 4 for 1
    batch->Put(MakePicture("c"));     // 5, which is removed at once
    batch->Remove("c");
    EXPECT_EQ(batch->Commit(), 2U);
  }
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Remove("failed");
    batch->Remove("b");
    EXPECT_EQ(batch->Commit(), 3U);
  }
  const auto snapshot = catalogue->Snapshot();
  EXPECT_EQ(Changes(*snapshot, 0), "1+ 2+ 1- 4+ 5- 2- ");
  EXPECT_EQ(Changes(*snapshot, 1), "1- 4+ 5- 2- ");
  EXPECT_EQ(Changes(*snapshot, 2), "2- ");
  EXPECT_EQ(Changes(*snapshot, 3), "");
  EXPECT_EQ(Changes(*snapshot, 4), "unknown");  // of another catalogue
  EXPECT_EQ(snapshot->CountChanges(0), 6U);
  EXPECT_EQ(snapshot->CountChanges(2), 1U);
  EXPECT_EQ(snapshot->CountChanges(3), 0U);
  EXPECT_EQ(snapshot->CountChanges(4), std::nullopt);
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->ForgetChanges(2);
    batch->ForgetChanges(1);  // does not bring anything back
    EXPECT_EQ(batch->Commit(), 3U);
  }
  const auto later = catalogue->Snapshot();
  EXPECT_EQ(Changes(*later, 1), "unknown");
  EXPECT_EQ(later->CountChanges(1), std::nullopt);
  EXPECT_EQ(Changes(*later, 2), "2- ");
}

TEST_P(CatalogueContract, TheNextPicturesTakeThePlaceOfTheCurrentOnes) {
  const auto catalogue = Create();
  PutOne(*catalogue, MakePicture("a"));  // 1
  PutOne(*catalogue, MakePicture("b"));  // 2
  const auto current = All(*catalogue);
  {
    const auto batch = catalogue->StartBatch(PictureSet::kNext);
    batch->Put(MakePicture("dropped"));  // 3
    batch->Commit();
  }
  {
    const auto batch = catalogue->StartBatch(PictureSet::kNext);
    batch->ClearNext();
    EXPECT_EQ(batch->Put(MakePicture("a", 7)).id, 4U);  // ids are shared
    EXPECT_EQ(batch->Put(MakePicture("c", 8)).id, 5U);
    EXPECT_EQ(batch->Put(MakePicture("c", 9)).replaced, 5U);
    EXPECT_EQ(batch->Remove("b"), std::nullopt);
    CataloguedPicture d = MakePicture("d");
    d.perceptual_hash = 4;
    batch->Put(d);  // 7
    EXPECT_EQ(batch->Remove("d"), 7U);
    CataloguedPicture a = MakePicture("a", 7);
    a.perceptual_hash = 11;
    EXPECT_EQ(batch->Put(a).id, 4U);
    batch->Touch("a", 42);
    EXPECT_EQ(batch->Commit(), 2U);
  }
  const auto before = catalogue->Snapshot();
  EXPECT_EQ(All(*before), current);
  const auto next = All(*before, PictureSet::kNext);
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].id, 4U);
  EXPECT_EQ(next[0].modified_ns, 42);
  EXPECT_EQ(next[0].perceptual_hash, 11U);
  EXPECT_EQ(next[1].id, 6U);
  EXPECT_EQ(PutOne(*catalogue, MakePicture("e")), 8U);
  {
    const auto batch = catalogue->StartBatch(PictureSet::kNext);
    batch->SwitchToNext();
    batch->PutSetting("coder", "new");
    EXPECT_EQ(batch->Commit(), 4U);
  }
  const auto after = catalogue->Snapshot();
  EXPECT_EQ(All(*after), next);
  EXPECT_TRUE(All(*after, PictureSet::kNext).empty());
  EXPECT_EQ(after->Setting("coder"), "new");
  EXPECT_EQ(Changes(*after, 3), "unknown");
  EXPECT_EQ(Changes(*after, 4), "");
  EXPECT_EQ(All(*before), current);  // still
  EXPECT_EQ(PutOne(*catalogue, MakePicture("f")), 9U);
  EXPECT_EQ(Changes(*catalogue->Snapshot(), 4), "9+ ");
}

// Decisions outlive the pictures they are about, and are told apart by ids that are never reused.
TEST_P(CatalogueContract, DecisionsAreKeptAndTakenBack) {
  const auto catalogue = Create();
  Decision apart = {.kind = DecisionKind::kNotDuplicates,
                    .first = {.path = "a \xFF", .size = 10, .content_hash = ~uint64_t{1}},
                    .second = {.path = "b", .size = 11, .content_hash = 2}};
  Decision keep = {.kind = DecisionKind::kKeep, .first = apart.second};
  PutOne(*catalogue, MakePicture("b"));
  const auto before = catalogue->Snapshot();
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    apart.id = batch->AddDecision(apart);
    keep.id = batch->AddDecision(keep);
    EXPECT_EQ(batch->Commit(), 1U);  // the pictures are the same
  }
  EXPECT_EQ(apart.id, 1U);
  EXPECT_TRUE(before->Decisions().empty());
  EXPECT_EQ(catalogue->Snapshot()->Decisions(), (std::vector<Decision>{apart, keep}));
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Remove("b");
    EXPECT_TRUE(batch->RemoveDecision(keep.id));
    EXPECT_FALSE(batch->RemoveDecision(keep.id));
    EXPECT_GT(batch->AddDecision(keep), keep.id);
    EXPECT_TRUE(batch->RemoveDecision(apart.id));
  }  // not committed
  EXPECT_EQ(catalogue->Snapshot()->Decisions(), (std::vector<Decision>{apart, keep}));
  {
    const auto batch = catalogue->StartBatch(PictureSet::kNext);
    EXPECT_TRUE(batch->RemoveDecision(keep.id));
    batch->SwitchToNext();
    batch->Commit();
  }
  EXPECT_EQ(catalogue->Snapshot()->Decisions(), (std::vector<Decision>{apart}));
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  EXPECT_EQ(batch->AddDecision(keep), 3U);  // not 2 again
}

// Many threads read while one writes. Every batch replaces all pictures by those of its number, so
// a snapshot that mixed two moments would show.
TEST_P(CatalogueContract, ManyThreadsReadWhileOneWrites) {
  constexpr int kBatches = 40, kPictures = 10;
  const auto catalogue = Create();
  std::atomic<bool> done = false;
  const auto read = [&] {
    uint64_t last = 0;
    while (!done) {
      const auto snapshot = catalogue->Snapshot();
      const auto number = snapshot->Setting("number");
      const uint64_t generation = snapshot->generation();
      ASSERT_GE(generation, last);
      last = generation;
      ASSERT_EQ(number.value_or("0"), std::to_string(generation));
      const auto all = All(*snapshot);
      ASSERT_EQ(all.size(), generation == 0 ? 0U : kPictures);
      for (const CataloguedPicture& picture : all) {
        ASSERT_EQ(picture.size, 1000 + generation);
        ASSERT_EQ(snapshot->FindByPath(picture.path), picture);
      }
    }
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 4; ++i) readers.emplace_back(read);
    for (int number = 1; number <= kBatches; ++number) {
      const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
      for (int i = 0; i < kPictures; ++i) {
        batch->Put(MakePicture(std::to_string(i), static_cast<uint64_t>(number)));
      }
      batch->PutSetting("number", std::to_string(number));
      batch->Commit();
    }
    done = true;
  }
  EXPECT_EQ(catalogue->Snapshot()->generation(), static_cast<uint64_t>(kBatches));
}

TEST_P(CatalogueContract, ManyPictures) {
  constexpr int kCount = 100000;
  const auto catalogue = Create();
  for (int start = 0; start < kCount; start += 10000) {
    std::vector<CataloguedPicture> pictures;
    for (int i = start; i < start + 10000; ++i) {
      pictures.push_back(
          MakePicture("year/month/IMG_" + std::to_string(i) + ".jpg", static_cast<uint64_t>(i)));
      if (i % 1000 == 0) pictures.back().failure = "damaged";
    }
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->PutAll(pictures);
    batch->Commit();
  }
  const auto snapshot = catalogue->Snapshot();
  EXPECT_EQ(snapshot->Count(), static_cast<uint64_t>(kCount));
  EXPECT_EQ(snapshot->FailedCount(), static_cast<uint64_t>(kCount / 1000));
  EXPECT_EQ(snapshot->FindByPath("year/month/IMG_54321.jpg")->id, 54322U);
  EXPECT_EQ(snapshot->CountChanges(9), 10000U);
  EXPECT_EQ(All(*snapshot).size(), static_cast<size_t>(kCount));
}

std::optional<std::string> SqliteLocation(const TempFolder& folder) {
  return (folder / "catalogue").string();
}

std::optional<std::string> PostgresLocation(const TempFolder& /*folder*/) {
  const PostgresServer* server = PostgresServer::Get();
  if (server == nullptr) return std::nullopt;
  return server->MakeDatabase();
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, CatalogueContract,
    ::testing::Values(CatalogueKind{.name = "SQLite", .location = SqliteLocation},
                      CatalogueKind{.name = "PostgreSQL", .location = PostgresLocation}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace bitpool
