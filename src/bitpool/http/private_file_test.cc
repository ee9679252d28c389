#include "bitpool/http/private_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using std::filesystem::perms;

perms RightsTo(const std::filesystem::path& file) {
  return std::filesystem::status(file).permissions();
}

TEST(PrivateFileTest, RightsOfOthersAreRefused) {
  const testing::TempFolder folder;
  const std::string file = (folder / "secret").string();
  std::ofstream(file) << "secret";
  std::filesystem::permissions(file, perms::owner_read | perms::owner_write);
  RequirePrivate(file, perms::others_all, "read");
  std::filesystem::permissions(file, perms::others_read, std::filesystem::perm_options::add);
  RequirePrivate(file, perms::others_write, "change");
  testing::ExpectError(ErrorCode::kInvalidArgument, {file, "can read it", "chmod 600"},
                       [&] { RequirePrivate(file, perms::others_all, "read"); });
  RequirePrivate((folder / "none").string(), perms::others_all, "read");
}

TEST(PrivateFileTest, NewFilesAreForTheirOwnerAsLongAsItIsAskedFor) {
  const testing::TempFolder folder;
  const mode_t before = umask(022);
  {
    const OnlyForOwner asked;
    std::ofstream(folder / "private") << "secret";
  }
  std::ofstream(folder / "public") << "text";
  umask(before);
  EXPECT_EQ(RightsTo(folder / "private"), perms::owner_read | perms::owner_write);
  EXPECT_EQ(RightsTo(folder / "public"),
            perms::owner_read | perms::owner_write | perms::group_read | perms::others_read);
}

}  // namespace
}  // namespace bitpool
