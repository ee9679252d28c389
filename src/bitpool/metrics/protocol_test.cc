#include "bitpool/metrics/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bitpool/linalg/testing.h"

namespace bitpool {
namespace {

using ::testing::HasSubstr;

TEST(Protocol, DescribesEverythingThatMakesADifference) {
  EXPECT_EQ(HashingProtocol().Describe(),
            "rectangular AP of all results, divided by the relevant items that exist, expected "
            "over ties");
  EXPECT_EQ(HashingAt(1000).Describe(),
            "rectangular AP of the first 1000 results, divided by the relevant items found, "
            "expected over "
            "ties");
  EXPECT_EQ(HolidaysProtocol().Describe(),
            "trapezoidal AP of all results, divided by the relevant items that exist, expected "
            "over ties");
  Protocol protocol = HashingProtocol();
  protocol.ap.divisor = ApDivisor::kReachable;
  protocol.ties = TiePolicy::kOptimistic;
  EXPECT_THAT(protocol.Describe(),
              HasSubstr("by the relevant items that can be reached, relevant first"));
  protocol.ties = TiePolicy::kPessimistic;
  EXPECT_THAT(protocol.Describe(), HasSubstr("relevant last in ties"));
  protocol.ties = TiePolicy::kInputOrder;
  EXPECT_THAT(protocol.Describe(), HasSubstr("ties in input order"));
}

TEST(Protocol, RefusesWhatHasNoMeaning) {
  EXPECT_THAT(RefusalOf([] { HashingAt(0); }), HasSubstr("first 0 results"));
  EXPECT_THAT(RefusalOf([] { Protocol{.at = {5, 0}}.Validate(); }), HasSubstr("at: expected 1"));
  EXPECT_THAT(RefusalOf([] { Protocol{.ap = {.cutoff = -2}}.Validate(); }), HasSubstr("got -2"));
}

}  // namespace
}  // namespace bitpool
