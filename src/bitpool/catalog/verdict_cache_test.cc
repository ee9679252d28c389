#include "bitpool/catalog/verdict_cache.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;

PairVerdict Verdict(uint64_t first, uint64_t second, bool mirrored = false) {
  return {.pair = {.first = first, .second = second, .mirrored = mirrored},
          .kind = static_cast<int>(first % 4),
          .first_is_part = second % 2 == 1,
          .agreement = 1.0 / static_cast<double>(second),
          .first_covered = 0.25,
          .second_covered = 1};
}

TEST(VerdictCache, KeepsWhatWasFound) {
  const TempFolder folder;
  {
    VerdictCache cache(folder / "verdicts", 1);
    EXPECT_EQ(cache.Find({.first = 1, .second = 3}), std::nullopt);
    cache.Put({});
    cache.Put(std::vector{Verdict(1, 3), Verdict(1, 3, true), Verdict(~uint64_t{1}, ~uint64_t{0})});
    EXPECT_EQ(cache.Count(), 3U);
  }
  VerdictCache cache(folder / "verdicts", 1);
  for (const PairVerdict& verdict :
       {Verdict(1, 3), Verdict(1, 3, true), Verdict(~uint64_t{1}, ~uint64_t{0})}) {
    EXPECT_EQ(cache.Find(verdict.pair), verdict);
  }
  EXPECT_EQ(cache.Find({.first = 3, .second = 1}), std::nullopt);
  PairVerdict again = Verdict(1, 3);
  again.kind = 7;
  cache.Put(std::vector{again});
  EXPECT_EQ(cache.Find(again.pair), again);
  EXPECT_EQ(cache.Count(), 3U);
}

TEST(VerdictCache, ForgetsPicturesThatAreGone) {
  const TempFolder folder;
  VerdictCache cache(folder / "verdicts", 1);
  cache.Put(std::vector{Verdict(1, 2), Verdict(1, 3), Verdict(2, 4), Verdict(5, 6)});
  for (int round = 0; round < 2; ++round) {
    cache.RemoveAllBut(std::vector<uint64_t>{4, 2, 1, 2});
    EXPECT_EQ(cache.Count(), 2U);
  }
  EXPECT_TRUE(cache.Find({.first = 2, .second = 4}).has_value());
  EXPECT_FALSE(cache.Find({.first = 1, .second = 3}).has_value());
}

TEST(VerdictCache, OfAnotherVersionOrDamagedItBeginsAnew) {
  const TempFolder folder;
  VerdictCache(folder / "verdicts", 1).Put(std::vector{Verdict(1, 2)});
  EXPECT_EQ(VerdictCache(folder / "verdicts", 2).Count(), 0U);
  VerdictCache(folder / "verdicts", 2).Put(std::vector{Verdict(1, 2)});
  EXPECT_EQ(VerdictCache(folder / "verdicts", 2).Count(), 1U);

  std::ofstream(folder / "verdicts") << "something else that is longer than the header of a "
                                        "database, which has a hundred bytes, all of them known";
  VerdictCache(folder / "verdicts", 2).Put(std::vector{Verdict(1, 2)});
  EXPECT_EQ(VerdictCache(folder / "verdicts", 2).Count(), 1U);

  testing::Tamper(folder / "verdicts",
                  "CREATE TRIGGER t AFTER INSERT ON verdicts BEGIN DELETE FROM verdicts; END");
  EXPECT_EQ(VerdictCache(folder / "verdicts", 2).Count(), 0U);
}

TEST(VerdictCache, WhereNothingCanBeWrittenThereIsNone) {
  const TempFolder folder;
  VerdictCache cache(folder / "missing" / "verdicts", 1);
  cache.Put(std::vector{Verdict(1, 2)});
  cache.RemoveAllBut({});
  EXPECT_EQ(cache.Find({.first = 1, .second = 2}), std::nullopt);
  EXPECT_EQ(cache.Count(), 0U);
  VerdictCache nowhere({}, 1);
  nowhere.Put(std::vector{Verdict(1, 2)});
  EXPECT_EQ(nowhere.Count(), 0U);
}

TEST(VerdictCache, TwoProcessesMayUseIt) {
  const TempFolder folder;
  VerdictCache one(folder / "verdicts", 1), other(folder / "verdicts", 1);
  one.Put(std::vector{Verdict(1, 2)});
  other.Put(std::vector{Verdict(3, 4)});
  EXPECT_EQ(one.Count(), 2U);
  EXPECT_EQ(other.Find({.first = 1, .second = 2}), Verdict(1, 2));
}

}  // namespace
}  // namespace bitpool
