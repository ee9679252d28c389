#include "bitpool/io/memory_file.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;

void SaveText(Env& env, const std::filesystem::path& path, IfExists if_exists) {
  AtomicFile file(env, path, if_exists);
  file.Append(ToBytes("?"));
  file.Append(ToBytes(std::string(400000, 'x')));
  file.Append(ToBytes("end"));
  file.WriteAt(0, ToBytes("!"));
  file.Commit();
}

TEST(MemoryFile, HasTheBytesOfTheFile) {
  const TempFolder folder;
  for (const IfExists if_exists : {IfExists::kFail, IfExists::kReplace}) {
    SaveText(Env::Posix(), folder / "a", IfExists::kReplace);
    const auto bytes = WriteToMemory(
        [&](Env& env, const std::filesystem::path& path) { SaveText(env, path, if_exists); });
    EXPECT_EQ(ToString(bytes), ToString(Env::Posix().Map(folder / "a")->bytes()));
  }
}

TEST(MemoryFile, WithoutACommitThereIsNothing) {
  EXPECT_TRUE(WriteToMemory([](Env& env, const std::filesystem::path& path) {
                AtomicFile(env, path, IfExists::kFail).Append(ToBytes("abc"));
              }).empty());
}

TEST(MemoryFile, IsOnlyWritten) {
  ExpectError(ErrorCode::kInternal, {"only be written"}, [] {
    WriteToMemory([](Env& env, const std::filesystem::path& path) { env.Map(path); });
  });
}

}  // namespace
}  // namespace bitpool
