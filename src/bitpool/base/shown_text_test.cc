#include "bitpool/base/shown_text.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

TEST(ShownName, IsAlwaysText) {
  EXPECT_EQ(ShownName(""), "");
  EXPECT_EQ(ShownName("a ä € \xF0\x9F\x93\xB7"), "a ä € \xF0\x9F\x93\xB7");
  EXPECT_EQ(ShownName("\n\x7F\t"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ShownName("\xC2\x9B"), "\uFFFD");  // the other escape of terminals
  EXPECT_EQ(ShownName("\xC2\xA0"), "\xC2\xA0");
  EXPECT_EQ(ShownName("a\xC3"), "a\uFFFD");          // cut off
  EXPECT_EQ(ShownName("\xC0\xAF"), "\uFFFD\uFFFD");  // overlong
  EXPECT_EQ(ShownName("\xE0\x80\xAF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(ShownName("\xF0\x80\x80\xAF").size(), 12U);
  EXPECT_EQ(ShownName("\xED\xA0\x80").size(), 9U);       // half a surrogate pair
  EXPECT_EQ(ShownName("\xF4\x90\x80\x80").size(), 12U);  // beyond the last character
  EXPECT_EQ(ShownName("\xF5\x80\x80\x80").size(), 12U);
  EXPECT_EQ(ShownName("\x80g"), "\uFFFDg");
}

TEST(ShownName, DoesNotPretendToBeAnother) {
  EXPECT_EQ(ShownName("photo\u202Egpj.sh"), "photo\uFFFDgpj.sh");  // "photohs.jpg" to the eye
  for (const char* turning : {"\u202A", "\u202B", "\u202C", "\u202D", "\u2066", "\u2069"}) {
    EXPECT_EQ(ShownName(turning), "\uFFFD");
  }
  EXPECT_EQ(ShownName("\u2028a\u2029"), "\uFFFDa\uFFFD");
  EXPECT_EQ(ShownName("\u2027\u202F\u2065\u206A"), "\u2027\u202F\u2065\u206A");
  EXPECT_EQ(ShownName("\u05E9\u200F\u05DC"), "\u05E9\u200F\u05DC");  // Hebrew as it is written
}

TEST(ShownText, KeepsItsLinesAndNothingElse) {
  EXPECT_EQ(ShownText("a\tb\n"), "a\tb\n");
  EXPECT_EQ(ShownText("\x1b[2J\r\v\xC2\x9B\xFF"), "\uFFFD[2J\uFFFD\uFFFD\uFFFD\uFFFD");
}

}  // namespace
}  // namespace bitpool
