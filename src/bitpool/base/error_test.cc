#include "bitpool/base/error.h"

#include <gtest/gtest.h>

#include <set>

#include "bitpool/base/version.h"

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
  int major = -1, minor = -1, patch = -1;
  EXPECT_EQ(std::sscanf(Version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

}  // namespace
}  // namespace bitpool
