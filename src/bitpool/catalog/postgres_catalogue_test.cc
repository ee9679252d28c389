#include "bitpool/catalog/postgres_catalogue.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/catalog/postgres_testing.h"
#include "bitpool/io/testing.h"

// What a catalogue in PostgreSQL does beyond the contract.
namespace bitpool {
namespace {

using testing::All;
using testing::ExpectError;
using testing::MakePicture;
using testing::PutOne;

TEST(PostgresAddress, IsShownWithoutSecrets) {
  EXPECT_TRUE(IsPostgresAddress("postgresql://x"));
  EXPECT_TRUE(IsPostgresAddress("postgres://x"));
  EXPECT_FALSE(IsPostgresAddress("/home/postgresql://x"));
  EXPECT_FALSE(IsPostgresAddress("postgresql"));
  EXPECT_EQ(ShownAddress("postgresql://ada:pass@db.example:5433/photos?sslpassword=secret"),
            "postgresql://db.example:5433/photos");
  EXPECT_EQ(ShownAddress("postgres:///photos"), "postgresql:///photos");
  EXPECT_EQ(ShownAddress("postgresql://"), "postgresql:///");
  try {
    ShownAddress("postgresql://ada:sec%ret@db/photos");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(std::string(error.what()).find("sec%"), std::string::npos) << error.what();
  }
}

TEST(PostgresBits, AreInTheOrderOfTheCode) {
  EXPECT_EQ(ReverseBitsOfBytes(std::vector<uint8_t>{0x01, 0x80, 0x0F, 0x00}),
            (std::vector<uint8_t>{0x80, 0x01, 0xF0, 0x00}));
}

class PostgresCatalogueTest : public testing::PostgresTest {
 protected:
  std::unique_ptr<Catalogue> Create() const {
    return OpenCatalogue(address_, CatalogueAccess::kCreate);
  }
  void Tamper(const std::string& sql) const { PostgresDatabase(address_).Execute(sql); }
};

TEST_F(PostgresCatalogueTest, OnlyWhatIsThereIsOpened) {
  ExpectError(ErrorCode::kNotFound, {"no catalogue"},
              [&] { OpenCatalogue(address_, CatalogueAccess::kRead); });
  ExpectError(ErrorCode::kNotFound, {"no catalogue"},
              [&] { OpenCatalogue(address_, CatalogueAccess::kWrite); });
  PutOne(*Create(), MakePicture("a"));
  EXPECT_EQ(All(*Create()).size(), 1U);  // not made again
  Tamper("UPDATE bitpool_state SET catalogue_version = 99");
  ExpectError(ErrorCode::kUnsupported, {"newer", "99"},
              [&] { OpenCatalogue(address_, CatalogueAccess::kWrite); });
  Tamper("UPDATE bitpool_state SET catalogue_version = 1; ALTER TABLE bitpool_pictures DROP code");
  const auto catalogue = OpenCatalogue(address_, CatalogueAccess::kRead);
  ExpectError(ErrorCode::kCorrupt, {"code"}, [&] { All(*catalogue); });
}

TEST_F(PostgresCatalogueTest, ErrorsHaveNoPasswordInThem) {
  const std::string wrong = [&] {
    std::string address = address_;
    return address.replace(address.find("very-secret"), 11, "wrong-secret");
  }();
  const std::string away =
      "postgresql://tester:very-secret@/postgres?host=/nowhere/at/all&sslpassword=other-secret";
  for (const std::string& address : {wrong, away}) {
    try {
      OpenCatalogue(address, CatalogueAccess::kRead);
      FAIL();
    } catch (const CatalogueAway& error) {
      EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos) << error.what();
    }
  }
}

TEST_F(PostgresCatalogueTest, CodesCanBeSearchedInSql) {
  const auto catalogue = Create();
  CataloguedPicture near = MakePicture("near"), far = MakePicture("far"),
                    none = MakePicture("none");
  near.code = {0x01, 0x00, 0x00, 0x80};
  far.code = {0xFF, 0xFF, 0x00, 0x80};
  none.code.clear();
  for (const CataloguedPicture& picture : {far, near, none}) PutOne(*catalogue, picture);
  PostgresDatabase database(address_);
  const PostgresResult found = database.QueryOnce(
      "SELECT convert_from(path, 'UTF8'), bit_count(code # B'10000000000000000000000000000000'), "
      "code::text FROM bitpool_pictures WHERE code IS NOT NULL ORDER BY 2 LIMIT 10");
  ASSERT_EQ(found.rows(), 2);
  EXPECT_EQ(found.Bytes(0, 0), "near");
  EXPECT_EQ(found.Number(0, 1), 1);
  EXPECT_EQ(found.Bytes(0, 2), "10000000000000000000000000000001");
  EXPECT_EQ(found.Bytes(1, 0), "far");
  EXPECT_EQ(found.Number(1, 1), 16);
}

// One writer at a time: the second waits, and is told when that takes too long.
TEST_F(PostgresCatalogueTest, BatchesOfTwoProcessesFollowEachOther) {
  const auto first = Create();
  const auto second = OpenPostgresCatalogue(address_, CatalogueAccess::kWrite, {.wait_ms = 50});
  {
    const auto batch = first->StartBatch(PictureSet::kCurrent);
    batch->Put(MakePicture("a"));
    ExpectError(ErrorCode::kResources, {"another process"},
                [&] { second->StartBatch(PictureSet::kCurrent); });
    batch->Commit();
  }
  const auto batch = second->StartBatch(PictureSet::kCurrent);
  EXPECT_EQ(batch->Put(MakePicture("a")).id, 1U);
  EXPECT_EQ(batch->Put(MakePicture("b")).id, 2U);
  batch->Commit();
}

// Ids name files beside the database, so they are not given again even after a batch that was not
// committed.
TEST_F(PostgresCatalogueTest, IdsOfADroppedBatchAreNotGivenAgain) {
  const auto catalogue = Create();
  catalogue->StartBatch(PictureSet::kCurrent)->Put(MakePicture("dropped"));
  EXPECT_EQ(PutOne(*catalogue, MakePicture("a")), 2U);
}

// Whoever has waited for the other sees what that has committed, whatever the database's default.
TEST_F(PostgresCatalogueTest, ABatchThatHadToWaitGoesOn) {
  const auto first = Create();
  const auto second =
      OpenPostgresCatalogue(address_ + "&options=-cdefault_transaction_isolation%3Dserializable",
                            CatalogueAccess::kWrite);
  auto batch = first->StartBatch(PictureSet::kCurrent);
  batch->Put(MakePicture("a"));
  auto later = std::async(std::launch::async, [&] { return PutOne(*second, MakePicture("a")); });
  PostgresDatabase watching(address_);
  while (watching.ReadNumber("SELECT count(*) FROM pg_stat_activity WHERE "
                             "datname = current_database() AND wait_event_type = 'Lock'") == 0) {
    std::this_thread::yield();
  }
  batch->Commit();
  EXPECT_EQ(later.get(), 1U);
}

using Paths = std::vector<std::string>;

TEST_F(PostgresCatalogueTest, WorkIsUnderWayWhileSomeoneTakesPartOrSomethingIsLeft) {
  const auto catalogue = Create();
  const auto under_way = [&] {
    return catalogue->StartBatch(PictureSet::kCurrent)->IsWorkUnderWay();
  };
  EXPECT_FALSE(under_way());
  for (const PictureSet set : {PictureSet::kCurrent, PictureSet::kNext}) {
    const auto claims = catalogue->Claims(set);
    EXPECT_TRUE(under_way());
    claims->Offer(Paths{"a"});
    claims->Release();
    EXPECT_TRUE(under_way());
    const auto batch = catalogue->StartBatch(set);
    batch->Settle(Paths{"a"});
    EXPECT_FALSE(batch->IsWorkUnderWay());
    batch->Commit();
  }
  EXPECT_FALSE(under_way());
}

TEST_F(PostgresCatalogueTest, AClaimIsOneProcesss) {
  const auto catalogue = Create();
  const auto ada = catalogue->Claims(PictureSet::kCurrent);
  const auto bob = catalogue->Claims(PictureSet::kCurrent);
  ada->Offer(Paths{"c", "a", "b"});
  bob->Offer(Paths{"b", "d\xff", "e"});
  EXPECT_EQ(ada->Count(), 5U);
  EXPECT_EQ(ada->Claim(2), (Paths{"a", "b"}));
  EXPECT_EQ(bob->Claim(2), (Paths{"c", "d\xff"}));
  EXPECT_EQ(bob->Claim(9), (Paths{"e"}));
  EXPECT_EQ(ada->Claim(9), Paths());
  EXPECT_TRUE(catalogue->Claims(PictureSet::kNext)->Claim(9).empty());
  bob->Release();
  EXPECT_EQ(ada->Claim(1), (Paths{"c"}));
  {
    const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
    batch->Settle(Paths{"a", "b", "nothing"});
  }  // not committed
  EXPECT_EQ(ada->Count(), 5U);
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  batch->Settle(Paths{"a", "c", "nothing"});
  batch->Commit();
  EXPECT_EQ(ada->Count(), 3U);
}

// Without a call of Release: the session of the claim ended, as that of a killed process does.
TEST_F(PostgresCatalogueTest, AStaleClaimComesFree) {
  const auto catalogue = Create();
  auto dead = catalogue->Claims(PictureSet::kCurrent);
  dead->Offer(Paths{"a", "b"});
  EXPECT_EQ(dead->Claim(1), (Paths{"a"}));
  const auto alive = catalogue->Claims(PictureSet::kCurrent);
  EXPECT_EQ(alive->Claim(9), (Paths{"b"}));
  dead.reset();
  Paths claimed;
  while (claimed.empty()) claimed = alive->Claim(9);  // the server notices in a moment
  EXPECT_EQ(claimed, (Paths{"a"}));
}

TEST_F(PostgresCatalogueTest, GoesOnAfterTheServerWasKilled) {
  const auto catalogue = Create();
  const auto claims = catalogue->Claims(PictureSet::kCurrent);
  claims->Offer(Paths{"a"});
  EXPECT_EQ(claims->Claim(1), (Paths{"a"}));
  PutOne(*catalogue, MakePicture("a"));
  const auto snapshot = catalogue->Snapshot();
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  batch->Put(MakePicture("half"));
  server_->Kill();
  EXPECT_THROW(batch->Commit(), CatalogueAway);
  EXPECT_THROW(snapshot->Count(), CatalogueAway);
  EXPECT_THROW(catalogue->Snapshot(), CatalogueAway);
  EXPECT_THROW(catalogue->StartBatch(PictureSet::kNext), Error);
  EXPECT_THROW(claims->Claim(1), CatalogueAway);
  server_->Restart();
  EXPECT_THROW(batch->Commit(), Error);
  EXPECT_EQ(All(*catalogue->Snapshot()).size(), 1U);
  EXPECT_EQ(claims->Claim(1), (Paths{"a"}));  // as another worker: the first died with the server
}

}  // namespace
}  // namespace bitpool
