#include "bitpool/serve/named_path.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

NamedPath Parsed(const std::string& text) { return ParseNamedPath(Env::Posix(), text); }

TEST(NamedPathTest, ANameThatIsGivenIsTaken) {
  EXPECT_EQ(Parsed("photos=/data/my album").name, "photos");
  EXPECT_EQ(Parsed("photos=/data/my album").path, "/data/my album");
  EXPECT_EQ(Parsed("photos=a=b").path, "a=b");
  EXPECT_EQ(Parsed("photos=postgresql://host/base?x=y").path, "postgresql://host/base?x=y");
}

TEST(NamedPathTest, OtherwiseThePathHasOne) {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder / "album=1/.bitpool");
  std::ofstream(folder / "codes.bpi") << "";
  const auto name = [&](std::string_view path) {
    const NamedPath parsed = Parsed((folder / path).string());
    EXPECT_EQ(parsed.path, folder / path);  // as it was written
    return parsed.name;
  };
  EXPECT_EQ(name("codes.bpi"), "codes");
  EXPECT_EQ(name("album=1"), "album=1");
  EXPECT_EQ(name("album=1/.bitpool"), "album=1");
  EXPECT_EQ(name("album=1/.bitpool/../../codes.bpi"), "codes");
  EXPECT_EQ(name("not there"), "not there");  // whoever opens it says so
}

TEST(NamedPathTest, SharedLibrariesAreNamedByTheirDatabases) {
  EXPECT_EQ(Parsed("postgresql://ada:secret@host:5433/photos?connect_timeout=3").name, "photos");
  EXPECT_EQ(Parsed("postgresql://host/photos").path.string(), "postgresql://host/photos");
}

}  // namespace
}  // namespace bitpool
