#include "bitpool/report/data_uri.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

std::string Encoded(std::string_view text) {
  return DataUri("text/plain", std::as_bytes(std::span(text)));
}

// The examples of RFC 4648, section 10, and the last two digits of the alphabet.
TEST(DataUri, IsBase64) {
  EXPECT_EQ(Encoded(""), "data:text/plain;base64,");
  EXPECT_EQ(Encoded("f"), "data:text/plain;base64,Zg==");
  EXPECT_EQ(Encoded("fo"), "data:text/plain;base64,Zm8=");
  EXPECT_EQ(Encoded("foo"), "data:text/plain;base64,Zm9v");
  EXPECT_EQ(Encoded("foob"), "data:text/plain;base64,Zm9vYg==");
  EXPECT_EQ(Encoded("foobar"), "data:text/plain;base64,Zm9vYmFy");
  EXPECT_EQ(Encoded("\xfb\xef\xff"), "data:text/plain;base64,++//");
}

}  // namespace
}  // namespace bitpool
