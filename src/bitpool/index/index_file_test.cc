#include "bitpool/index/index_file.h"

#include <nlohmann/json.hpp>
#include <numeric>

#include "bitpool/base/random.h"
#include "bitpool/index/testing.h"
#include "bitpool/io/container.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

BinaryCodes CodesOf32Bits(uint64_t seed, size_t count) {
  Random random(seed);
  std::vector<uint8_t> rows(count * 4);
  for (uint8_t& byte : rows) byte = static_cast<uint8_t>(random.Next());
  return {32, rows};
}

std::unique_ptr<CodeIndex> SmallIndex(int64_t step) {
  auto index = std::make_unique<CodeIndex>(IndexOptions{.bits = 32});
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < 100; ++i) ids.push_back(5 + i * step);
  index->Add(CodesOf32Bits(1, 100), ids);
  return index;
}

TEST(IndexFile, RoundTripsWithAndWithoutStoredIds) {
  for (const int64_t step : {1, 3}) {
    const TempFolder folder;
    const auto index = SmallIndex(step);
    index->Remove(5 + 99 * step);
    SaveIndex(Env::Posix(), folder / "a.bpi", index->Snapshot(), IfExists::kFail);
    const auto opened = OpenIndex(Env::Posix(), folder / "a.bpi", true, OneThread());
    EXPECT_EQ(opened->size(), 99);
    const BinaryCodes queries = CodesOf32Bits(2, 10);
    EXPECT_EQ(opened->Search(queries, 12, OneThread()).neighbours,
              index->Search(queries, 12, OneThread()).neighbours);
    // An opened index can be changed like any other.
    opened->Replace(5, queries.code(0));
    EXPECT_EQ(opened->Search(queries, 1, OneThread()).neighbours[0], (Neighbour{5, 0}));
  }
}

// What a change was to remove is still there after it failed, and after the next one.
TEST(IndexFile, AChangeThatFailsChangesNothing) {
  const TempFolder folder;
  SaveIndex(Env::Posix(), folder / "a.bpi", SmallIndex(1)->Snapshot(), IfExists::kFail);
  const auto index = OpenIndex(Env::Posix(), folder / "a.bpi", true, OneThread());
  std::filesystem::resize_file(folder / "a.bpi", 0);
  std::vector<int64_t> ids(60);
  std::iota(ids.begin(), ids.end(), int64_t{1000});
  ExpectError(ErrorCode::kIo, {"/a.bpi", "cut off"}, [&] {
    index->Change(std::vector<int64_t>{5, 6}, CodesOf32Bits(3, 60), ids);
  });
  EXPECT_TRUE(index->Remove(7));
  EXPECT_TRUE(index->Contains(5));
  EXPECT_FALSE(index->Contains(7));
  EXPECT_EQ(index->size(), 99);
}

TEST(IndexFile, TablesRoundTrip) {
  const TempFolder folder;
  CodeIndex index({.bits = 32, .kind = IndexKind::kMultiIndex});
  std::vector<int64_t> ids;
  BinaryCodes codes = CodesOf32Bits(1, 5000);
  for (Index i = 0; i < 3000; ++i) codes.Append(codes.code(i % 100));  // duplicates
  for (int64_t i = 0; i < 8000; ++i) ids.push_back(i * 2);
  index.Add(codes, ids);
  ASSERT_GT(index.table_bytes(), 0U);
  SaveIndex(Env::Posix(), folder / "a.bpi", index.Snapshot(), IfExists::kFail);
  const auto opened = OpenIndex(Env::Posix(), folder / "a.bpi", true, OneThread());
  EXPECT_GT(opened->table_bytes(), 0U);
  const BinaryCodes queries(32, {codes.rows().begin(), codes.rows().begin() + 400});
  EXPECT_EQ(opened->Search(queries, 40, OneThread()).neighbours,
            index.Search(queries, 40, OneThread()).neighbours);
  EXPECT_TRUE(opened->Remove(0));
}

TEST(IndexFile, DamageIsFoundInTheBackgroundOfASearch) {
  const TempFolder folder;
  SaveIndex(Env::Posix(), folder / "a.bpi", SmallIndex(1)->Snapshot(), IfExists::kFail);
  std::string bytes = testing::ToString(Env::Posix().Map(folder / "a.bpi")->bytes());
  bytes[64 + 3] ^= 1;  // inside the blocks
  WriteFile(Env::Posix(), folder / "a.bpi", testing::ToBytes(bytes), IfExists::kReplace);
  const auto opened = OpenIndex(Env::Posix(), folder / "a.bpi", false, OneThread());
  const BinaryCodes queries = CodesOf32Bits(2, 1);
  ExpectError(ErrorCode::kCorrupt, {"a.bpi", "\"blocks\""}, [&] {
    while (true) opened->Search(queries, 1, OneThread());
  });
  const auto again = OpenIndex(Env::Posix(), folder / "a.bpi", false, OneThread());
  const IndexSnapshot snapshot = again->Snapshot();
  for (int i = 0; i < 2; ++i) {
    ExpectError(ErrorCode::kCorrupt, {"a.bpi", "\"blocks\""}, [&] { snapshot.RequireVerified(); });
  }
}

// Its checksums would be made from the damaged codes, and nobody could tell any more.
TEST(IndexFile, ADamagedIndexIsNotSavedAsAGoodOne) {
  const TempFolder folder;
  SaveIndex(Env::Posix(), folder / "a.bpi", SmallIndex(1)->Snapshot(), IfExists::kFail);
  std::string bytes = testing::ToString(Env::Posix().Map(folder / "a.bpi")->bytes());
  bytes[64 + 3] ^= 1;  // inside the blocks
  WriteFile(Env::Posix(), folder / "a.bpi", testing::ToBytes(bytes), IfExists::kReplace);
  const auto opened = OpenIndex(Env::Posix(), folder / "a.bpi", false, OneThread());
  opened->Add(CodesOf32Bits(2, 1), std::vector<int64_t>{1000});
  ExpectError(ErrorCode::kCorrupt, {"a.bpi", "\"blocks\""}, [&] {
    SaveIndex(Env::Posix(), folder / "b.bpi", opened->Snapshot(), IfExists::kFail);
  });
  EXPECT_FALSE(Env::Posix().Exists(folder / "b.bpi"));
}

TEST(IndexFile, TheDigestTellsContentsApart) {
  const TempFolder folder;
  const auto digest_of = [&](const IndexSnapshot& index) {
    SaveIndex(Env::Posix(), folder / "a.bpi", index, IfExists::kReplace);
    return IndexFile::Open(Env::Posix(), folder / "a.bpi").digest();
  };
  const auto index = SmallIndex(1);
  const std::string digest = digest_of(index->Snapshot());
  EXPECT_EQ(digest_of(SmallIndex(1)->Snapshot()), digest);
  EXPECT_NE(digest_of(SmallIndex(2)->Snapshot()), digest);
  const IndexSnapshot before = index->Snapshot();
  std::vector<uint8_t> code(BytesPerCode(index->bits()));
  const int64_t id = index->Snapshot().Compacted()->first_id();
  ASSERT_TRUE(before.CopyCode(id, code));
  code[0] ^= 1;
  index->Replace(id, code);
  EXPECT_NE(digest_of(index->Snapshot()), digest);
  EXPECT_EQ(digest_of(before), digest);
  OpenIndex(Env::Posix(), folder / "a.bpi", false, OneThread())->Snapshot().RequireVerified();
}

TEST(IndexFile, AnEmptyIndexCanBeSaved) {
  const TempFolder folder;
  SaveIndex(Env::Posix(), folder / "a.bpi", CodeIndex({.bits = 64}).Snapshot(), IfExists::kFail);
  EXPECT_EQ(OpenIndex(Env::Posix(), folder / "a.bpi", true, OneThread())->size(), 0);
}

TEST(IndexFile, EveryDamageIsRejected) {
  const TempFolder folder;
  const auto index = std::make_unique<CodeIndex>(IndexOptions{.bits = 8});
  index->Add(BinaryCodes(8, {1, 2, 3}), std::vector<int64_t>{2, 7, 9});
  SaveIndex(Env::Posix(), folder / "a.bpi", index->Snapshot(), IfExists::kFail);
  const std::string good = testing::ToString(Env::Posix().Map(folder / "a.bpi")->bytes());
  testing::ExpectEveryDamageIsRejected(good, [&](const std::shared_ptr<const FileView>& view) {
    WriteFile(Env::Posix(), folder / "b.bpi", view->bytes(), IfExists::kReplace);
    OpenIndex(Env::Posix(), folder / "b.bpi", true, OneThread());
  });
}

// A container whose checksums are right and whose content is not.
void WriteForged(const std::filesystem::path& path, uint64_t blocks, const nlohmann::json& metadata,
                 const std::vector<int64_t>& ids) {
  ContainerWriter writer(Env::Posix(), path, "index", IfExists::kReplace);
  writer.Add<uint8_t>("blocks", {blocks, 64}, std::vector<uint8_t>(blocks * 64));
  if (!ids.empty()) writer.Add<int64_t>("ids", {ids.size()}, ids);
  writer.Commit(metadata);
}

TEST(IndexFile, LiesAreRejected) {
  const TempFolder folder;
  const auto open = [&](uint64_t blocks, const nlohmann::json& metadata,
                        const std::vector<int64_t>& ids) {
    WriteForged(folder / "a.bpi", blocks, metadata, ids);
    return [&] { OpenIndex(Env::Posix(), folder / "a.bpi", false, OneThread()); };
  };
  open(1, {{"bits", 8}, {"codes", 2}, {"first_id", 0}}, {})();
  for (const nlohmann::json& metadata :
       {nlohmann::json{{"codes", 2}, {"first_id", 0}},
        nlohmann::json{{"bits", 0}, {"codes", 2}, {"first_id", 0}},
        nlohmann::json{{"bits", 5000}, {"codes", 2}, {"first_id", 0}},
        nlohmann::json{{"bits", 9}, {"codes", 2}, {"first_id", 0}},
        nlohmann::json{{"bits", 8}, {"codes", 65}, {"first_id", 0}},
        nlohmann::json{{"bits", 8}, {"codes", -1}, {"first_id", 0}},
        nlohmann::json{{"bits", 8}, {"codes", 2}, {"first_id", -4}},
        nlohmann::json{{"bits", 8}, {"codes", "2"}, {"first_id", 0}},
        nlohmann::json{{"bits", 8}, {"codes", 2}, {"first_id", INT64_MAX}}}) {
    ExpectError(ErrorCode::kCorrupt, {"a.bpi", "section"}, open(1, metadata, {}));
  }
  const nlohmann::json fine = {{"bits", 8}, {"codes", 2}, {"first_id", 0}};
  ExpectError(ErrorCode::kCorrupt, {"\"ids\"", "3 ids for 2"}, open(1, fine, {1, 2, 3}));
  ExpectError(ErrorCode::kCorrupt, {"\"ids\""}, open(1, fine, {2, 2}));
  ExpectError(ErrorCode::kCorrupt, {"\"ids\""}, open(1, fine, {-1, 2}));
}

}  // namespace
}  // namespace bitpool
