#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {
namespace {

// A coder from its bytes, all of which are read when it is opened.
TEST(DamagedCoder, EveryByteAndEveryLength) {
  const auto golden = std::filesystem::path(BITPOOL_SOURCE_DIR) / "tests/golden/coder-16.bpc";
  const std::string good = testing::ToString(Env::Posix().Map(golden)->bytes());
  const PictureCoder coder = ParseCoder(Container::Parse(testing::View(good)));
  EXPECT_EQ(coder.bits(), 16);
  testing::ExpectEveryDamageIsRejected(good, [&](const std::shared_ptr<const FileView>& view) {
    ParseCoder(Container::Parse(view));
  });
}

}  // namespace
}  // namespace bitpool
