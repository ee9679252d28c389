#include "bitpool/reproduction/other_network.h"

#include <gtest/gtest.h>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

TEST(OtherNetwork, RefusesWhatIsNoReproduction) {
  const testing::TempFolder folder;
  const auto read = [&] { ReadOtherNetwork(Env::Posix(), folder / "other"); };
  testing::ExpectError(ErrorCode::kNotFound, {"results.json"}, read);
  for (const char* text :
       {"", "[]", "{}", R"({"network": 3, "entries": []})",
        R"({"network": "a", "entries": [{"name": "b"}]})",
        R"({"network": "a", "entries": [{"name": "b", "parts": [{"heading": "c"}]}]})"}) {
    testing::WriteText(folder / "other" / "results.json", text);
    testing::ExpectError(ErrorCode::kCorrupt, {"results.json", "name of its network"}, read);
  }
}

TEST(OtherNetwork, HasNothingWhereNothingWasMeasured) {
  const testing::TempFolder folder;
  testing::WriteText(folder / "results.json",
                     R"({"network": "a", "entries": [{"name": "b", "parts": [
                         {"heading": "empty", "results": []},
                         {"heading": "full", "results": [{"method": "itq", "bits": 8,
                          "metric": "mAP", "mean": 12.5, "spread": null, "seeds": 2}]}]}]})");
  const OtherNetwork other = ReadOtherNetwork(Env::Posix(), folder / "");
  EXPECT_EQ(other.name, "a");
  EXPECT_EQ(other.Find("b", "empty"), nullptr);
  EXPECT_EQ(other.Find("c", "full"), nullptr);
  ASSERT_NE(other.Find("b", "full"), nullptr);
  EXPECT_EQ(other.Find("b", "full")->at(0).mean, 12.5);
}

}  // namespace
}  // namespace bitpool
