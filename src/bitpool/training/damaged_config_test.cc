#include <nlohmann/json.hpp>

#include "bitpool/io/damaged_files.h"
#include "bitpool/io/json_text.h"
#include "bitpool/io/testing.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/tune.h"

namespace bitpool {
namespace {

using testing::ExpectError;

MethodSettings Read(const std::string& text) {
  const MethodSettings settings = ReadConfig(ParseJson(text), {.method = "sah", .bits = 16});
  RequireValid(settings);
  return settings;
}

// What is read is valid, whatever the bytes. ReadConfig is given JSON and knows no file: the
// program's LoadConfig adds its name, which `tests/attacks/numbers` looks for.
TEST(DamagedConfig, EveryByteAndEveryLength) {
  const std::string good =
      R"({"method": "sah", "mu": 1e2, "gamma": 0.5, "iterations": 12, "chosen_by": {"score": 1}})";
  EXPECT_EQ(ValueOf(Read(good), "mu"), 100);
  testing::ExpectNoHarm(good, "" /*no file*/, [](const std::string& bytes) { Read(bytes); });
}

TEST(DamagedConfig, NumbersWithoutMeaningAreRefused) {
  for (const char* number : {"1e999", "-1", "NaN", "Infinity", "null", "\"1\"", "[]", "1e308"}) {
    ExpectError(ErrorCode::kInvalidArgument, {},
                [&] { Read(std::string(R"({"iterations": )") + number + "}"); });
  }
  ExpectError(ErrorCode::kInvalidArgument, {"iterations"}, [] { Read(R"({"iterations": 1.5})"); });
  ExpectError(ErrorCode::kInvalidArgument, {"iterations"}, [] { Read(R"({"iterations": 1e18})"); });
}

TEST(DamagedConfig, NestedWithoutEnd) {
  const std::string deep = R"({"method": )" + std::string(1'000'000, '[');
  ExpectError(ErrorCode::kInvalidArgument, {"JSON"}, [&] { Read(deep); });
  ExpectError(ErrorCode::kInvalidArgument, {"JSON"},
              [&] { Read(deep + std::string(1'000'000, ']') + "}"); });
}

}  // namespace
}  // namespace bitpool
