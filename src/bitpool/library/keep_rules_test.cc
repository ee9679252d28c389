#include "bitpool/library/keep_rules.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using testing::ExpectError;

CataloguedPicture Make(const std::string& path, Index width, uint64_t size, int64_t time) {
  return {.path = path,
          .size = size,
          .modified_ns = time,
          .code = {},
          .width = width,
          .height = 10,
          .failure = ""};
}

const CataloguedPicture kWide = Make("new/wide.gif", 90, 10, 300);
const CataloguedPicture kLarge = Make("album/large.jpg", 40, 900, 200);
const CataloguedPicture kOld = Make("old.PNG", 40, 20, 100);

// The best of the three.
std::string Best(const KeepRules& rules) {
  const KeepOrder order(rules);
  const CataloguedPicture* best = &kOld;
  for (const CataloguedPicture* one : {&kWide, &kLarge}) {
    if (order.IsBetter({.picture = *one}, {.picture = *best})) best = one;
  }
  return best->path;
}

TEST(KeepOrder, TheFirstRuleThatTellsDecides) {
  EXPECT_EQ(Best({}), kWide.path);
  EXPECT_EQ(Best({.rules = {KeepRule::kFileSize}}), kLarge.path);
  EXPECT_EQ(Best({.rules = {KeepRule::kOldest}}), kOld.path);
  EXPECT_EQ(Best({.rules = {KeepRule::kFormat}}), kOld.path);
  EXPECT_EQ(Best({.rules = {KeepRule::kPath}}), kOld.path);
  EXPECT_EQ(Best({.rules = {}, .folders = {"album"}}), kLarge.path);
  EXPECT_EQ(Best({.rules = {}, .folders = {"alb"}}), kWide.path);  // no folder of that name
  EXPECT_EQ(Best({.rules = {}, .folders = {"nowhere", "new", "album"}}), kWide.path);
  // After the pixels, which already decide.
  EXPECT_EQ(Best({.rules = {KeepRule::kPixels, KeepRule::kFolder}, .folders = {"album"}}),
            kWide.path);
  const KeepOrder order({.rules = {KeepRule::kOldest}});
  EXPECT_TRUE(order.IsBetter({.picture = kWide, .marked = true}, {.picture = kOld}));
  EXPECT_FALSE(order.IsBetter({.picture = kOld}, {.picture = kOld}));
}

TEST(KeepOrder, GivesItsReason) {
  const auto reason = [](const KeepRules& rules, const CataloguedPicture& a,
                         const CataloguedPicture& b) {
    return KeepOrder(rules).ReasonFor({.picture = a}, {.picture = b});
  };
  EXPECT_EQ(reason({}, kWide, kLarge).rule, KeepRule::kPixels);
  EXPECT_EQ(reason({}, kWide, kLarge).words, "most pixels: 90 × 10, the next has 40 × 10");
  EXPECT_EQ(reason({}, kLarge, kOld).rule, KeepRule::kFileSize);
  EXPECT_EQ(reason({.rules = {KeepRule::kFormat}}, kOld, kLarge).words,
            "best format: png, the next is jpg");
  EXPECT_EQ(reason({.rules = {}, .folders = {"album"}}, kLarge, kWide).words,
            "in the preferred folder album");
  EXPECT_EQ(KeepOrder({}).ReasonFor({.picture = kOld, .marked = true}, {.picture = kWide}).rule,
            KeepRule::kMarked);
  const CataloguedPicture copy = Make("copy of old.PNG", 40, 20, 100);
  EXPECT_EQ(reason({}, kOld, copy).rule, KeepRule::kPath);
  EXPECT_EQ(reason({}, kOld, copy).words, "shortest path, otherwise equal");
  // They differ in pixels too, which nobody asked about.
  EXPECT_EQ(reason({.rules = {KeepRule::kPath}}, kOld, kWide).words, "shortest path");
  const CataloguedPicture twin = Make("pld.PNG", 90, 20, 100);
  EXPECT_EQ(reason({.rules = {KeepRule::kPath}}, kOld, twin).words, "first by its path");
}

TEST(FindKeepRule, KnowsTheNames) {
  EXPECT_THAT(KeepRulesToAskFor(),
              ElementsAre(KeepRule::kPixels, KeepRule::kFileSize, KeepRule::kOldest,
                          KeepRule::kFormat, KeepRule::kFolder, KeepRule::kPath));
  for (const KeepRule rule : KeepRulesToAskFor()) EXPECT_EQ(FindKeepRule(NameOf(rule)), rule);
  ExpectError(ErrorCode::kInvalidArgument,
              {"\"newest\"", "pixels, size, oldest, format, folder, path"},
              [] { FindKeepRule("newest"); });
  EXPECT_THROW(FindKeepRule("marked"), Error);  // not a rule to ask for
}

}  // namespace
}  // namespace bitpool
