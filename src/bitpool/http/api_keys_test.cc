#include "bitpool/http/api_keys.h"

#include <gtest/gtest.h>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

TEST(ApiKeysTest, KeysAreKnownByTheirHashes) {
  const NewKey reader = MakeApiKey(Access::kRead, "a reader");
  const NewKey writer = MakeApiKey(Access::kWrite, "two\nlines");
  EXPECT_NE(reader.key, writer.key);
  EXPECT_EQ(reader.line.find(reader.key), std::string::npos);
  const ApiKeys keys = ApiKeys::Parse("# keys\n\n" + reader.line + writer.line);
  EXPECT_EQ(keys.AccessOf(reader.key), Access::kRead);
  EXPECT_EQ(keys.AccessOf(writer.key), Access::kWrite);
  EXPECT_EQ(keys.AccessOf(reader.key + "x"), Access::kNone);
  EXPECT_EQ(keys.AccessOf(""), Access::kNone);
}

TEST(ApiKeysTest, TheHashIsSha256) {
  // printf abc | sha256sum
  const ApiKeys keys =
      ApiKeys::Parse("read ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad abc");
  EXPECT_EQ(keys.AccessOf("abc"), Access::kRead);
}

TEST(ApiKeysTest, DamagedLinesAreNamed) {
  for (const char* text : {"# fine\nadmin 00", "# fine\nread 00 short", "\nwrite"}) {
    testing::ExpectError(ErrorCode::kInvalidArgument, {"line 2", "expected"},
                         [&] { ApiKeys::Parse(text); });
  }
}

TEST(ApiKeysTest, SessionsEnd) {
  KeySessions sessions;
  const std::string token = sessions.Start(Access::kRead, 100);
  EXPECT_EQ(sessions.AccessOf(token, 100 + KeySessions::kSeconds), Access::kRead);
  EXPECT_EQ(sessions.AccessOf(token, 101 + KeySessions::kSeconds), Access::kNone);
  EXPECT_EQ(sessions.AccessOf("another", 100), Access::kNone);
  EXPECT_EQ(sessions.AccessOf("", 100), Access::kNone);
  sessions.End(token);
  EXPECT_EQ(sessions.AccessOf(token, 100), Access::kNone);
}

TEST(ApiKeysTest, TheOldestSessionGivesWay) {
  KeySessions sessions;
  const std::string oldest = sessions.Start(Access::kRead, 1);
  const std::string next = sessions.Start(Access::kRead, 2);
  for (size_t i = 2; i <= KeySessions::kMost; ++i) sessions.Start(Access::kRead, 3);
  EXPECT_EQ(sessions.AccessOf(oldest, 3), Access::kNone);
  EXPECT_EQ(sessions.AccessOf(next, 3), Access::kRead);
}

TEST(ApiKeysTest, KeysInHeaders) {
  const auto key = [](const char* value) {
    return std::string(
        BearerKey({.method = "GET", .target = "/", .headers = {{"Authorization", value}}}));
  };
  EXPECT_EQ(key("Bearer abc"), "abc");
  EXPECT_EQ(key("bearer abc"), "abc");
  EXPECT_EQ(key("Basic abc"), "");
  EXPECT_EQ(key(""), "");
  const HttpRequest request{
      .method = "GET", .target = "/", .headers = {{"Cookie", "a=1; session=x=y; sessions=2"}}};
  EXPECT_EQ(CookieValue(request, "session"), "x=y");
  EXPECT_EQ(CookieValue(request, "sessions"), "2");
  EXPECT_EQ(CookieValue(request, "b"), "");
}

}  // namespace
}  // namespace bitpool
