#include "bitpool/catalog/catalogue_replica.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "bitpool/base/random.h"
#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/catalog/postgres_testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::All;
using testing::ExpectError;
using testing::MakePicture;
using testing::PutOne;
using testing::TempFolder;

class CatalogueReplicaTest : public testing::PostgresTest {
 protected:
  void SetUp() override {
    PostgresTest::SetUp();
    if (IsSkipped()) return;
    original_ = OpenCatalogue(address_, CatalogueAccess::kCreate);
  }

  std::unique_ptr<Catalogue> Replica(ReplicaOptions options = {}) const {
    return OpenCatalogueReplica(address_, folder_ / "copy", options);
  }

  std::unique_ptr<Catalogue> original_;
  const TempFolder folder_;
};

// Nothing where the catalogue no longer knows.
using Changes = std::vector<std::pair<uint64_t, std::vector<uint8_t>>>;
std::optional<Changes> ChangesSince(const CatalogueSnapshot& snapshot, uint64_t generation) {
  Changes changes;
  const bool known = snapshot.ForEachChange(generation, [&](uint64_t id, auto code) {
    changes.emplace_back(id, std::vector<uint8_t>(code.begin(), code.end()));
  });
  if (!known) return std::nullopt;
  return changes;
}

void ExpectSame(const Catalogue& original, const Catalogue& copy) {
  const auto a = original.Snapshot(), b = copy.Snapshot();
  EXPECT_EQ(a->generation(), b->generation());
  EXPECT_EQ(All(*a), All(*b));
  EXPECT_EQ(a->Decisions(), b->Decisions());
  for (const char* key : {"key", "other", "number"}) EXPECT_EQ(a->Setting(key), b->Setting(key));
  for (uint64_t since = 0; since <= a->generation(); ++since) {
    EXPECT_EQ(ChangesSince(*a, since), ChangesSince(*b, since)) << since;
  }
}

// The codes known to an index that follows the changes of a catalogue.
using Codes = std::map<uint64_t, std::vector<uint8_t>>;
void FollowChanges(const CatalogueSnapshot& snapshot, uint64_t since, Codes& codes) {
  const bool known = snapshot.ForEachChange(since, [&](uint64_t id, auto code) {
    if (code.empty()) {
      codes.erase(id);
    } else {
      codes[id].assign(code.begin(), code.end());
    }
  });
  if (known) return;
  codes.clear();
  for (const CataloguedPicture& picture : All(snapshot)) {
    if (!picture.code.empty()) codes[picture.id] = picture.code;
  }
}

// Changes of all kinds, drawn at random; after each the copy is the original, and its changes lead
// from the codes before to those after.
TEST_F(CatalogueReplicaTest, IsWhatTheOriginalIs) {
  Random random(5);
  const auto name = [&] { return fmt::format("p{}", random.Below(12)); };
  auto copy = Replica();
  Codes followed;
  uint64_t since = 0;
  for (int step = 0; step < 60; ++step) {
    const bool next = random.Below(8) == 0;
    const auto batch = original_->StartBatch(next ? PictureSet::kNext : PictureSet::kCurrent);
    for (uint64_t i = random.Below(5); i > 0; --i) {
      CataloguedPicture picture = MakePicture(name(), random.Below(3));
      if (random.Below(4) == 0) picture.code.clear();
      picture.width = static_cast<Index>(random.Below(3));
      batch->Put(picture);
    }
    batch->Remove(name());
    batch->Touch(name(), step);
    if (random.Below(3) == 0) batch->PutSetting("key", std::to_string(step));
    if (random.Below(5) == 0) batch->AddDecision({.kind = DecisionKind::kKeep});
    if (random.Below(9) == 0) batch->RemoveDecision(1 + random.Below(4));
    if (random.Below(9) == 0) batch->ForgetChanges(original_->Snapshot()->generation());
    if (next && random.Below(2) == 0) batch->SwitchToNext();
    batch->Commit();
    if (random.Below(3) == 0) continue;  // several at once
    if (random.Below(6) == 0) {
      copy.reset();
      copy = Replica();  // goes on with the same file
    }
    copy->Refresh();
    ExpectSame(*original_, *copy);
    const auto snapshot = copy->Snapshot();
    FollowChanges(*snapshot, since, followed);
    since = snapshot->generation();
    Codes codes;
    for (const CataloguedPicture& picture : All(*snapshot)) {
      if (!picture.code.empty()) codes[picture.id] = picture.code;
    }
    EXPECT_EQ(followed, codes) << step;
  }
}

// An index file that another machine has written in between has their codes.
TEST_F(CatalogueReplicaTest, KnowsOfPicturesThatCameAndWentWhileItWasAway) {
  PutOne(*original_, MakePicture("a"));
  Replica();
  const uint64_t gone = PutOne(*original_, MakePicture("b"));
  const uint64_t stays = PutOne(*original_, MakePicture("c"));
  const auto batch = original_->StartBatch(PictureSet::kCurrent);
  batch->Remove("b");
  const uint64_t generation = batch->Commit();
  const auto snapshot = Replica()->Snapshot();
  const std::vector<uint8_t> code = MakePicture("c").code;
  EXPECT_EQ(ChangesSince(*snapshot, generation - 1), (Changes{{gone, {}}}));
  EXPECT_EQ(ChangesSince(*snapshot, generation - 2), (Changes{{stays, code}, {gone, {}}}));
}

TEST_F(CatalogueReplicaTest, IsToldOfChanges) {
  const auto copy = Replica({.poll_ms = 1'000'000});
  PutOne(*original_, MakePicture("a"));
  while (copy->Snapshot()->Count() == 0) std::this_thread::yield();
  ExpectSame(*original_, *copy);
  ExpectError(ErrorCode::kInvalidArgument, {"reading only"},
              [&] { copy->StartBatch(PictureSet::kCurrent); });
}

TEST_F(CatalogueReplicaTest, AFileOfAnotherLibraryIsReplaced) {
  PutOne(*original_, MakePicture("a"));
  Replica();
  const std::string another = server_->MakeDatabase();
  const auto other = OpenCatalogue(another, CatalogueAccess::kCreate);
  PutOne(*other, MakePicture("b"));
  const auto copy = OpenCatalogueReplica(another, folder_ / "copy");
  ExpectSame(*other, *copy);
  std::ofstream(folder_ / "garbage") << "no database at all";
  ExpectSame(*original_, *OpenCatalogueReplica(address_, folder_ / "garbage"));
}

// Readers during a hundred publications, and while the server is killed in between: every snapshot
// is of one version, and there always is one.
TEST_F(CatalogueReplicaTest, AnswersAreOfOneVersionAlsoWhileTheDatabaseIsAway) {
  std::mutex mutex;
  std::vector<std::string> told;
  const auto copy = Replica({.poll_ms = 5000, .tell = [&](const std::string& what) {
                               const std::lock_guard lock(mutex);
                               told.push_back(what);
                             }});
  constexpr int kBatches = 100, kPictures = 10;
  std::atomic<bool> done = false;
  const auto read = [&] {
    uint64_t last = 0;
    while (!done) {
      const auto snapshot = copy->Snapshot();
      const uint64_t number = std::stoull(snapshot->Setting("number").value_or("0"));
      ASSERT_GE(number, last);
      last = number;
      const auto all = All(*snapshot);
      ASSERT_EQ(all.size(), number == 0 ? 0U : kPictures);
      for (const CataloguedPicture& picture : all) ASSERT_EQ(picture.size, 1000 + number);
    }
  };
  const auto publish = [&](int number) {
    std::vector<CataloguedPicture> pictures;
    for (int i = 0; i < kPictures; ++i) {
      pictures.push_back(MakePicture(std::to_string(i), static_cast<uint64_t>(number)));
    }
    const auto batch = original_->StartBatch(PictureSet::kCurrent);
    batch->PutAll(pictures);
    batch->PutSetting("number", std::to_string(number));
    batch->Commit();
  };
  {
    std::vector<std::jthread> readers;
    for (int i = 0; i < 2; ++i) readers.emplace_back(read);
    for (int number = 1; number <= kBatches; ++number) {
      if (number == kBatches / 2) {
        server_->Kill();
        EXPECT_THROW(publish(number), CatalogueAway);
        EXPECT_EQ(copy->Snapshot()->Count(), static_cast<uint64_t>(kPictures));
        server_->Restart();
      }
      publish(number);
    }
    while (copy->Snapshot()->Setting("number") != std::to_string(kBatches)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    done = true;
  }
  ExpectSame(*original_, *copy);
  const std::lock_guard lock(mutex);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("cannot be reached"), std::string::npos) << told[0];
  EXPECT_NE(told[1].find("is back"), std::string::npos) << told[1];
  for (const std::string& line : told) {
    EXPECT_EQ(line.find("very-secret"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace bitpool
