#include "bitpool/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <set>
#include <type_traits>

#include "bitpool/version.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Error, CarriesCodeAndMessage) {
  const Error error(ErrorCode::kNotFound, "a.npy: no such file");
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_STREQ(error.what(), "a.npy: no such file");
}

TEST(Error, HasNoContextUnlessGivenOne) {
  const Error error(ErrorCode::kIo, "a.npy: looks like a context");
  EXPECT_THAT(error.context(), IsEmpty());
  EXPECT_EQ(error.reason(), "a.npy: looks like a context");
}

TEST(Error, GathersContextOnTheWayOut) {
  const Error inner(ErrorCode::kCorrupt, "section \"ids\"", "expected 3, got 4");
  EXPECT_STREQ(inner.what(), "section \"ids\": expected 3, got 4");
  const Error outer = inner.In("photos.bpi");
  EXPECT_EQ(outer.code(), ErrorCode::kCorrupt);
  EXPECT_THAT(outer.context(), ElementsAre("photos.bpi", "section \"ids\""));
  EXPECT_EQ(outer.reason(), "expected 3, got 4");
  EXPECT_STREQ(outer.what(), "photos.bpi: section \"ids\": expected 3, got 4");
}

TEST(Error, NamesTheSameOutermostContextOnce) {
  const Error error = Error(ErrorCode::kIo, "a", "cannot open").In("a");
  EXPECT_STREQ(error.what(), "a: cannot open");
  // Further in, the same name may stand for something else.
  EXPECT_STREQ(error.In("b").In("a").what(), "a: b: a: cannot open");
}

TEST(Error, LeavesOutAContextTheReaderKnows) {
  const Error error = Error(ErrorCode::kIo, "page 2", "cannot decode").In("a/b.tif");
  EXPECT_EQ(error.MessageWithin("a/b.tif"), "page 2: cannot decode");
  EXPECT_EQ(error.MessageWithin("b.tif"), "a/b.tif: page 2: cannot decode");
  EXPECT_EQ(error.MessageWithin("page 2"), "a/b.tif: page 2: cannot decode");
  EXPECT_EQ(Error(ErrorCode::kIo, "a/b.tif: gone").MessageWithin("a/b.tif"), "a/b.tif: gone");
}

TEST(Error, CanBeSaidInOtherTerms) {
  const Error error = Error(ErrorCode::kInvalidArgument, "codes", "too long").With("record 3");
  EXPECT_STREQ(error.what(), "codes: too long (record 3)");
  const Error other = error.As(ErrorCode::kCorrupt);
  EXPECT_EQ(other.code(), ErrorCode::kCorrupt);
  EXPECT_THAT(other.context(), ElementsAre("codes"));
  EXPECT_STREQ(other.what(), "codes: too long (record 3)");
  EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
}

TEST(Error, CopiesWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<Error>);
  static_assert(std::is_nothrow_copy_assignable_v<Error>);
}

TEST(InContext, GivesTheResultOrNamesWhatItWasAbout) {
  int value = 5;
  EXPECT_EQ(&InContext("a", [&]() -> int& { return value; }), &value);
  try {
    InContext("a.npy", [] { throw Error(ErrorCode::kNotFound, "no such file"); });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
    EXPECT_THAT(error.context(), ElementsAre("a.npy"));
  }
  EXPECT_THROW(InContext("a", [] { throw std::bad_alloc(); }), std::bad_alloc);
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
