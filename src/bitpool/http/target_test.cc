#include "bitpool/http/target.h"

#include <gmock/gmock.h>

#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(TargetTest, SegmentsAndQueryAreDecoded) {
  const RequestTarget target = ParseTarget("/v1/my%20photos/a%2Fb?k=5&path=caf%C3%A9+au+lait&flag");
  EXPECT_THAT(target.segments, ElementsAre("v1", "my photos", "a/b"));
  EXPECT_THAT(target.query,
              ElementsAre(Pair("k", "5"), Pair("path", "café au lait"), Pair("flag", "")));
  EXPECT_EQ(target.Parameter("k"), "5");
  EXPECT_EQ(target.Parameter("none"), std::nullopt);
}

TEST(TargetTest, EmptyPartsStay) {
  EXPECT_THAT(ParseTarget("/").segments, IsEmpty());
  EXPECT_THAT(ParseTarget("/?").query, IsEmpty());
  EXPECT_THAT(ParseTarget("//a/").segments, ElementsAre("", "a", ""));
  EXPECT_THAT(ParseTarget("/a/../b").segments, ElementsAre("a", "..", "b"));
}

TEST(TargetTest, WhatHasNoMeaningIsRefused) {
  for (const char* target : {"", "*", "http://host/", "/%", "/%4", "/%zz", "/%00", "/a?x=%0g"}) {
    EXPECT_THROW(ParseTarget(target), ProblemError) << target;
  }
  EXPECT_THROW((void)ParseTarget("/?k=1&k=2").Parameter("k"), ProblemError);
}

TEST(TargetTest, EveryByteSurvivesEncoding) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::string encoded = PercentEncode(all);
  EXPECT_EQ(encoded.find_first_of("/?&# \n"), std::string::npos);
  EXPECT_EQ(PercentDecode(encoded, false), all);
}

}  // namespace
}  // namespace bitpool
