#include "bitpool/index/tombstones.h"

#include <gtest/gtest.h>

#include <thread>

namespace bitpool {
namespace {

TEST(Tombstones, RemovalsCountFromTheirVersionOn) {
  Tombstones tombstones(130);
  EXPECT_FALSE(tombstones.Removed(129, 100));
  tombstones.Remove(129, 5);
  tombstones.Remove(0, 7);
  EXPECT_FALSE(tombstones.Removed(129, 4));
  EXPECT_TRUE(tombstones.Removed(129, 5));
  EXPECT_FALSE(tombstones.Removed(0, 6));
  EXPECT_TRUE(tombstones.Removed(0, 8));
  EXPECT_FALSE(tombstones.Removed(1, 8));
  EXPECT_EQ(tombstones.count(), 2U);
}

TEST(Tombstones, ARemovalThatIsTakenBackNeverWas) {
  Tombstones tombstones(130);
  tombstones.Remove(129, 5);
  tombstones.Restore(129);
  tombstones.Restore(3);  // was never removed
  EXPECT_FALSE(tombstones.Removed(129, 5));
  EXPECT_EQ(tombstones.count(), 0U);
  tombstones.Remove(129, 6);
  EXPECT_FALSE(tombstones.Removed(129, 5));
  EXPECT_TRUE(tombstones.Removed(129, 6));
}

TEST(Tombstones, AReaderSeesItsOwnMoment) {
  Tombstones tombstones(1000);
  std::thread writer([&] {
    for (size_t slot = 0; slot < 1000; ++slot) tombstones.Remove(slot, slot + 1);
  });
  for (int round = 0; round < 200; ++round) {
    for (size_t slot = 0; slot < 1000; slot += 37) EXPECT_FALSE(tombstones.Removed(slot, slot));
  }
  writer.join();
  for (size_t slot = 0; slot < 1000; ++slot) EXPECT_TRUE(tombstones.Removed(slot, slot + 1));
}

}  // namespace
}  // namespace bitpool
