#include "bitpool/image/thumbnail.h"

#include "bitpool/image/decode.h"
#include "bitpool/image/testing.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::MeanDifference;
using testing::SamePicture;
using testing::SmoothPicture;

TEST(ScaleToFit, KeepsTheProportions) {
  const std::vector<std::array<Index, 5>> cases = {
      {640, 480, 128, 128, 96}, {480, 640, 128, 96, 128}, {100, 100, 99, 99, 99},
      {641, 3, 10, 10, 1},      {2, 1000, 500, 1, 500},   {333, 222, 100, 100, 67},
      {300, 200, 1, 1, 1},
  };
  for (const auto& [width, height, max_side, expected_width, expected_height] : cases) {
    const Picture small = ScaleToFit(SmoothPicture(width, height), max_side);
    EXPECT_EQ(small.width, expected_width);
    EXPECT_EQ(small.height, expected_height);
    EXPECT_EQ(small.pixels.size(), static_cast<size_t>(small.width * small.height * 3));
  }
}

TEST(ScaleToFit, NeverEnlarges) {
  const Picture picture = SmoothPicture(30, 20);
  EXPECT_TRUE(SamePicture(ScaleToFit(picture, 30), picture));
  EXPECT_TRUE(SamePicture(ScaleToFit(picture, 1000), picture));
}

// A smooth picture is the same at every size.
TEST(ScaleToFit, LooksTheSame) {
  EXPECT_LT(MeanDifference(ScaleToFit(SmoothPicture(600, 400), 60), SmoothPicture(60, 40)), 2.5);
  EXPECT_LT(MeanDifference(ScaleToFit(SmoothPicture(90, 60), 60), SmoothPicture(60, 40)), 2.5);
}

// Single black and white pixels become grey: every pixel counts, none is skipped.
TEST(ScaleToFit, Averages) {
  Picture picture = {.width = 64, .height = 64, .pixels = {}};
  for (Index i = 0; i < 64 * 64; ++i) {
    const bool white = (i + i / 64) % 2 == 0;
    picture.pixels.insert(picture.pixels.end(), 3, white ? 255 : 0);
  }
  for (const uint8_t value : ScaleToFit(picture, 16).pixels) EXPECT_NEAR(value, 127.5, 2);
}

TEST(EncodeJpeg, IsReadBack) {
  const Picture picture = SmoothPicture(96, 64);
  const std::vector<std::byte> bytes = EncodeJpeg(picture, 90);
  EXPECT_LT(MeanDifference(DecodePicture(bytes, {}), picture), 2);
  EXPECT_EQ(InspectPicture(bytes, {}).format, "jpeg");
  EXPECT_EQ(testing::ToString(bytes).find("Exif"), std::string::npos);
  EXPECT_EQ(EncodeJpeg(picture, 90), bytes);
  EXPECT_LT(EncodeJpeg(picture, 10).size(), bytes.size());
}

TEST(EncodeJpeg, RefusesWhatMakesNoSense) {
  const Picture picture = SmoothPicture(4, 4);
  ExpectError(ErrorCode::kInvalidArgument, {"quality", "101"}, [&] { EncodeJpeg(picture, 101); });
  ExpectError(ErrorCode::kInvalidArgument, {"quality", "0"}, [&] { EncodeJpeg(picture, 0); });
  ExpectError(ErrorCode::kInvalidArgument, {"0×0"}, [&] { EncodeJpeg({}, 80); });
  ExpectError(ErrorCode::kInvalidArgument, {"5×4", "48 bytes"},
              [&] { EncodeJpeg({.width = 5, .height = 4, .pixels = picture.pixels}, 80); });
  ExpectError(ErrorCode::kInvalidArgument, {"65500", "65501×1"},
              [&] { EncodeJpeg(SmoothPicture(65501, 1), 80); });
  ExpectError(ErrorCode::kInvalidArgument, {"max_side", "0"}, [&] { ScaleToFit(picture, 0); });
  ExpectError(ErrorCode::kInvalidArgument, {"0×0"}, [&] { ScaleToFit({}, 5); });
}

}  // namespace
}  // namespace bitpool
