#include "bitpool/report/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;

TEST(ReportText, EscapesWhatMarkupReserves) {
  EXPECT_EQ(EscapeMarkup("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(EscapeMarkup("β ± 1\n"), "β ± 1\n");
  EXPECT_EQ(EscapeMarkup(std::string_view("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(EscapeMarkup(""), "");
}

TEST(ReportText, FormatsNumbers) {
  EXPECT_EQ(FormatNumber("{:.3f}", 0.12345), "0.123");
  EXPECT_EQ(FormatNumber("{:.1f} s", -2), "−2.0 s");
  EXPECT_EQ(FormatNumber("{:.1f}", std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(FormatNumber("{:.1f}", -std::numeric_limits<double>::infinity()), "–");
  for (const char* bad : {"{:d}", "{", "{} {}", "{:.3f", "{:s}"}) {
    EXPECT_THROW(FormatNumber(bad, 1), Error) << bad;
  }
}

TEST(ReportText, CountsCharactersNotBytes) {
  EXPECT_EQ(CharacterCount("β ± 1"), 5U);
  EXPECT_EQ(CharacterCount(""), 0U);
  EXPECT_EQ(Shortened("ββββ", 4), "ββββ");
  EXPECT_EQ(Shortened("βγδε", 3), "βγ…");
  EXPECT_EQ(Shortened("abc", 1), "…");
}

TEST(ReportText, WrapsBetweenWords) {
  EXPECT_THAT(WrapWords("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapWords("one two", 7), ElementsAre("one two"));
  EXPECT_THAT(WrapWords("ββββββ γ", 4), ElementsAre("ββββ", "ββ γ"));
  EXPECT_THAT(WrapWords("", 4), ElementsAre(""));
  EXPECT_THAT(WrapWords(" aaaaa", 3), ElementsAre(" aa", "aaa"));
}

}  // namespace
}  // namespace bitpool
