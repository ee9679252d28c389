#include "bitpool/serve/decision_log.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;

// The file of a decision tells where its pictures went: a new decision must not take its place,
// also when it cannot be read at the moment.
TEST(DecisionLog, ANumberIsNeverGivenTwice) {
  const TempFolder folder;
  Env& env = Env::Posix();
  const auto add = [&] {
    DecisionLog log(env, folder.path());
    return log.Add({.action = "not_duplicates"}, /*move=*/false, folder.path()).number;
  };
  EXPECT_EQ(add(), 1U);
  EXPECT_EQ(add(), 2U);
  const std::filesystem::path last = folder / "decisions/000002.json";
  WriteFile(env, last, ToBytes("cannot be read"), IfExists::kReplace);
  EXPECT_EQ(add(), 3U);
  EXPECT_EQ(ToString(env.Map(last)->bytes()), "cannot be read");
  const DecisionLog log(env, folder.path());
  EXPECT_EQ(log.List().size(), 2U);
}

}  // namespace
}  // namespace bitpool
