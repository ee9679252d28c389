#include "bitpool/base/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "bitpool/version.h"

namespace bitpool {
namespace {

TEST(Error, CarriesCodeAndMessage) {
  const Error error(ErrorCode::kNotFound, "a.npy: no such file");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_STREQ(error.what(), "a.npy: no such file");
}

TEST(Error, EveryCodeHasItsOwnName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    names.insert(ErrorCodeName(static_cast<ErrorCode>(code)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(ErrorCode::kInternal) + 1);
}

TEST(Version, HasThreeNumbers) {
  const std::string version = Version();
  EXPECT_EQ(std::count(version.begin(), version.end(), '.'), 2);
  EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos);
}

}  // namespace
}  // namespace bitpool
