#include "bitpool/io/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace bitpool {
namespace {

std::string Nested(size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); }

TEST(JsonText, ReadsWhatIsJson) {
  EXPECT_EQ(ParseJson(R"({"a": [1, 2.5, "x"]})"), (nlohmann::json{{"a", {1, 2.5, "x"}}}));
  EXPECT_EQ(ParseJson(std::as_bytes(std::span<const char>("true", 4))), true);
}

TEST(JsonText, DiscardsWhatIsNot) {
  for (const std::string text :
       {"", "{", "[1,]", "nan", "1e999", "{\"a\": Infinity}", "\"\xff\"", "[1] 2"}) {
    EXPECT_TRUE(ParseJson(text).is_discarded()) << text;
  }
}

TEST(JsonText, DepthIsLimited) {
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth)).is_array());
  EXPECT_TRUE(ParseJson(Nested(kMaxJsonDepth + 1)).is_discarded());
  // So many would exhaust the stack of whoever copies or writes it.
  EXPECT_TRUE(ParseJson(Nested(1'000'000)).is_discarded());
  EXPECT_TRUE(ParseJson(std::string(1'000'000, '{')).is_discarded());
}

TEST(JsonText, BracketsInTextDoNotCount) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(ParseJson("\"" + brackets + "\""), brackets);
  EXPECT_EQ(ParseJson("[\"\\\"" + brackets + "\\\\\"]"),
            nlohmann::json::array({"\"" + brackets + "\\"}));
  std::string flat = "[";
  for (int i = 0; i < 1000; ++i) flat += "[],{},";
  EXPECT_EQ(ParseJson(flat + "1]").size(), 2001U);
}

}  // namespace
}  // namespace bitpool
