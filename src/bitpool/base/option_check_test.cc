#include "bitpool/base/option_check.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace bitpool {
namespace {

// What is said of an option; empty when it is good.
template <class Check>
std::string Complaint(const Check& check) {
  try {
    check();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "";
}

TEST(OptionCheck, SaysWhatWasExpected) {
  EXPECT_EQ(Complaint([] { RequireOption(false, "lambda", "0 or more", -1.5); }),
            "lambda: expected 0 or more, got -1.5");
  EXPECT_EQ(Complaint([] { RequireOption(true, "lambda", "0 or more", 1.5); }), "");
}

TEST(OptionCheck, PositiveNumbersAreFinite) {
  EXPECT_EQ(Complaint([] { RequirePositive(1e-300, "mu"); }), "");
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                           std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_NE(Complaint([&] { RequirePositive(bad, "mu"); }), "") << bad;
  }
}

TEST(OptionCheck, TheLeastIsAllowed) {
  EXPECT_EQ(Complaint([] { RequireAtLeast(2, int64_t{2}, "batch"); }), "");
  EXPECT_EQ(Complaint([] { RequireAtLeast(2, int64_t{1}, "batch"); }),
            "batch: expected 2 or more, got 1");
}

}  // namespace
}  // namespace bitpool
