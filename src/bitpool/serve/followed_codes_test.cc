#include "bitpool/serve/followed_codes.h"

#include <gtest/gtest.h>

#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

using testing::FakePicture;

std::vector<std::vector<Neighbour>> AllWithin(const IndexSnapshot& index) {
  return index.RangeSearch(BinaryCodes::FromHex(64, {"0000000000000000"}), 64,
                           RunContext({.threads = 1}));
}

TEST(FollowedCodesTest, HasTheCodesOfTheLibraryAfterEveryChange) {
  testing::PictureFolder folder;
  FollowedCodes codes;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 20; ++i) {
      folder.Write(fmt::format("{}-{}.jpg", round, i),
                   FakePicture(0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(20 * round + i + 1)));
    }
    if (round > 0) folder.Remove(fmt::format("{}-3.jpg", round - 1));
    if (round > 1) folder.Write("0-5.jpg", FakePicture(static_cast<uint64_t>(round)));
    // In the fourth round the library forgets what changed: another coder takes over.
    folder.Update(folder.MakeUpdate(testing::FakeEncoding(round < 3 ? "fake 1" : "fake 2")),
                  RunContext({.threads = 1}));
    const LibrarySnapshot library = folder.Open();
    const IndexSnapshot followed = codes.BringTo(library);
    EXPECT_EQ(followed.size(), library.index().size());
    EXPECT_EQ(AllWithin(followed), AllWithin(library.index()));
    EXPECT_EQ(codes.BringTo(library).size(), library.index().size());
  }
}

}  // namespace
}  // namespace bitpool
