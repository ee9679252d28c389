#include "bitpool/image/decode.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "bitpool/base/random.h"
#include "bitpool/image/testing.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using namespace std::string_literals;
using ::testing::AnyOf;
using testing::Encoded;
using testing::ExpectError;
using testing::ImageOf;
using testing::MeanDifference;
using testing::SamePicture;
using testing::SmoothPicture;
using testing::ToBytes;
using testing::ToString;

using Bytes = std::vector<std::byte>;

Picture Decode(std::span<const std::byte> bytes) { return DecodePicture(bytes, {}); }

// --- What can be in a file -------------------------------------------------------------------

struct FormatCase {
  const char* suffix;
  const char* format;
  double tolerance;  // mean difference that the format may cost
  bool alpha;        // whether it keeps transparency
};

void PrintTo(const FormatCase& format, std::ostream* out) { *out << format.suffix; }

const FormatCase kFormats[] = {
    {".jpg[Q=95]", "jpeg", 2, false},
    {".jpg[Q=95,interlace]", "jpeg", 2, false},
    {".png", "png", 0, true},
    {".png[interlace]", "png", 0, true},
    {".webp[lossless]", "webp", 0, true},
    {".webp[Q=95]", "webp", 3, true},
    {".tif", "tiff", 0, true},
    {".tif[compression=lzw,tile,tile-width=16,tile-height=16]", "tiff", 0, true},
    {".tif[compression=deflate,bigtiff]", "tiff", 0, true},
    {".tif[compression=jpeg,Q=95]", "tiff", 2, false},
    {".gif", "gif", 6, false},
    {".heic[Q=95]", "heic", 3, true},
    {".avif[Q=95,speed=9]", "avif", 3, true},
};

class EveryFormat : public ::testing::TestWithParam<FormatCase> {
 protected:
  // Skips formats the installed libvips cannot write.
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    if (GetParam().format == "heic"s || GetParam().format == "avif"s)
      GTEST_SKIP() << "libheif is not built for the thread sanitizer";
#endif
    const VipsImagePtr image = ImageOf(SmoothPicture(16, 16));
    try {
      Encoded(image.get(), GetParam().suffix);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  void ExpectDecodes(VipsImage* image, const Picture& expected, double extra = 0) {
    const Bytes bytes = Encoded(image, GetParam().suffix);
    EXPECT_LE(MeanDifference(Decode(bytes), expected), GetParam().tolerance + extra);
    const PictureFacts facts = InspectPicture(bytes, {});
    EXPECT_EQ(facts.format, GetParam().format);
    EXPECT_EQ(facts.pages, 1);
    EXPECT_EQ(facts.width, expected.width);
    EXPECT_EQ(facts.height, expected.height);
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, EveryFormat, ::testing::ValuesIn(kFormats));

TEST_P(EveryFormat, Colours8Bits) {
  const Picture picture = SmoothPicture(80, 64);
  ExpectDecodes(ImageOf(picture).get(), picture);
}

TEST_P(EveryFormat, Colours16Bits) {
  const Picture picture = SmoothPicture(80, 64);
  std::vector<uint16_t> values;
  for (const uint8_t value : picture.pixels) values.push_back(static_cast<uint16_t>(value * 257));
  ExpectDecodes(ImageOf(values, 80, 64, VIPS_INTERPRETATION_RGB16).get(), picture, 0.5);
}

TEST_P(EveryFormat, Grey) {
  Picture picture = {.width = 80, .height = 64, .pixels = {}};
  std::vector<uint8_t> values;
  std::vector<uint16_t> wide_values;
  for (Index i = 0; i < 80 * 64; ++i) {
    values.push_back(static_cast<uint8_t>(10 + i % 80 * 3));
    wide_values.push_back(static_cast<uint16_t>(values.back() * 257));
    picture.pixels.insert(picture.pixels.end(), 3, values.back());
  }
  ExpectDecodes(ImageOf(values, 80, 64, VIPS_INTERPRETATION_B_W).get(), picture);
  ExpectDecodes(ImageOf(wide_values, 80, 64, VIPS_INTERPRETATION_GREY16).get(), picture, 0.5);
}

TEST_P(EveryFormat, TransparentPartsAreWhite) {
  if (!GetParam().alpha) GTEST_SKIP() << "the format has no alpha";
  const Picture picture = SmoothPicture(80, 64);
  Picture expected = picture;
  std::vector<uint8_t> values;
  for (size_t i = 0; i < 80 * 64; ++i) {
    const int alpha = i % 80 < 40 ? 255 : i % 80 < 60 ? 102 : 0;
    for (size_t band = 0; band < 3; ++band) {
      const int value = picture.pixels[3 * i + band];
      values.push_back(static_cast<uint8_t>(value));
      expected.pixels[3 * i + band] =
          static_cast<uint8_t>((value * alpha + 255 * (255 - alpha)) / 255);
    }
    values.push_back(static_cast<uint8_t>(alpha));
  }
  ExpectDecodes(ImageOf(values, 80, 64, VIPS_INTERPRETATION_sRGB).get(), expected, 0.5);
}

TEST_P(EveryFormat, OnePixel) {
  const Picture picture = {.width = 1, .height = 1, .pixels = {200, 100, 50}};
  ExpectDecodes(ImageOf(picture).get(), picture, 3);
}

TEST_P(EveryFormat, ScalesDown) {
  const Bytes bytes = Encoded(ImageOf(SmoothPicture(640, 400)).get(), GetParam().suffix);
  const Picture small = DecodePicture(bytes, {.max_side = 80});
  EXPECT_LE(MeanDifference(small, SmoothPicture(80, 50)), GetParam().tolerance + 2.5);
  EXPECT_EQ(InspectPicture(bytes, {.max_side = 80}).width, 640);
}

// A truncated file is an error, unless only what no pixel needs was cut off.
TEST_P(EveryFormat, TruncatedIsAnErrorOrWhole) {
  const Picture picture = SmoothPicture(61, 47);
  const Bytes bytes = Encoded(ImageOf(picture).get(), GetParam().suffix);
  const Picture whole = Decode(bytes);
  const size_t step = std::max<size_t>(1, bytes.size() / 150);
  size_t refused = 0;
  size_t cuts = 0;
  for (size_t length = 0; length < bytes.size(); length += length < 32 ? 1 : step, ++cuts) {
    try {
      EXPECT_TRUE(SamePicture(Decode(std::span(bytes).first(length)), whole))
          << length << " of " << bytes.size() << " bytes gave another picture";
    } catch (const Error& error) {
      EXPECT_THAT(error.code(), AnyOf(ErrorCode::kCorrupt, ErrorCode::kUnsupported))
          << error.what();
      EXPECT_STRNE(error.what(), "libvips gives no reason") << length;
      ++refused;
    }
  }
  EXPECT_GT(refused, cuts * 3 / 4);
}

// Damage may go unnoticed, but must not do worse than that.
TEST_P(EveryFormat, DamagedNeverCrashes) {
  const Bytes bytes = Encoded(ImageOf(SmoothPicture(61, 47)).get(), GetParam().suffix);
  Random random(5);
  for (int round = 0; round < 150; ++round) {
    Bytes damaged = bytes;
    for (uint64_t changes = 1 + random.Below(4); changes > 0; --changes) {
      // Most damage goes where the headers are.
      const uint64_t end =
          random.Below(2) == 0 ? std::min<size_t>(300, bytes.size()) : bytes.size();
      damaged[random.Below(end)] = static_cast<std::byte>(random.Below(256));
    }
    try {
      const Picture picture =
          DecodePicture(damaged, {.max_pixels = 1'000'000, .max_side = round % 2 == 0 ? 0 : 20});
      EXPECT_EQ(picture.pixels.size(), static_cast<size_t>(picture.width * picture.height * 3));
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    }
  }
}

// --- Colours ---------------------------------------------------------------------------------

TEST(DecodePicture, Cmyk) {
  // White, black, cyan and yellow in stripes of 32 pixels.
  std::vector<uint8_t> values;
  const std::array<std::array<uint8_t, 4>, 4> stripes = {
      {{0, 0, 0, 0}, {0, 0, 0, 255}, {255, 0, 0, 0}, {0, 0, 255, 0}}};
  for (int y = 0; y < 32; ++y) {
    for (int x = 0; x < 128; ++x) {
      values.insert(values.end(), stripes[x / 32].begin(), stripes[x / 32].end());
    }
  }
  const VipsImagePtr image = ImageOf(values, 128, 32, VIPS_INTERPRETATION_CMYK);
  for (const char* suffix : {".jpg[Q=100]", ".tif"}) {
    const Picture picture = Decode(Encoded(image.get(), suffix));
    const auto pixel = [&](int stripe) {
      return &picture.pixels[3 * (128 * 16 + 32 * stripe + 16)];
    };
    for (int band = 0; band < 3; ++band) {
      EXPECT_GT(pixel(0)[band], 240) << suffix;
      EXPECT_LT(pixel(1)[band], 70) << suffix;
    }
    EXPECT_GT(pixel(2)[2], pixel(2)[0] + 100) << suffix;  // cyan: blue, not red
    EXPECT_GT(pixel(3)[0], pixel(3)[2] + 100) << suffix;  // yellow: red, not blue
  }
}

double ToLinear(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

double FromLinear(double value) {
  return value <= 0.0031308 ? value * 12.92 : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

// Display P3 has sRGB's curve and white and other primaries, so that linear sRGB is a product with
// the matrix that is published with CSS Color 4.
TEST(DecodePicture, FollowsTheEmbeddedProfile) {
  const std::array<std::array<double, 3>, 3> to_srgb = {
      {{1.2249401763, -0.2249401763, 0},
       {-0.0420569547, 1.0420569547, 0},
       {-0.0196375546, -0.0786360456, 1.0982736001}}};
  const std::array<double, 3> p3 = {100, 150, 60};
  Picture picture = {.width = 32, .height = 32, .pixels = {}};
  for (int i = 0; i < 32 * 32; ++i) picture.pixels.insert(picture.pixels.end(), {100, 150, 60});
  const VipsImagePtr image = ImageOf(picture);
  VipsBlob* profile = nullptr;
  ASSERT_EQ(vips_profile_load("p3", &profile, nullptr), 0);
  size_t size = 0;
  const void* data = vips_blob_get(profile, &size);
  vips_image_set_blob_copy(image.get(), VIPS_META_ICC_NAME, data, size);
  vips_area_unref(VIPS_AREA(profile));
  for (const char* suffix : {".png", ".jpg[Q=100]", ".webp[lossless]", ".tif"}) {
    const Picture decoded = Decode(Encoded(image.get(), suffix));
    for (size_t band = 0; band < 3; ++band) {
      double linear = 0;
      for (size_t i = 0; i < 3; ++i) linear += to_srgb[band][i] * ToLinear(p3[i] / 255);
      EXPECT_NEAR(decoded.pixels[3 * 500 + band], 255 * FromLinear(linear), 2) << suffix << band;
    }
  }
}

TEST(DecodePicture, ABadProfileIsNoReasonToRefuse) {
  const Picture picture = SmoothPicture(20, 10);
  const VipsImagePtr image = ImageOf(picture);
  const std::string junk(200, 'x');
  vips_image_set_blob_copy(image.get(), VIPS_META_ICC_NAME, junk.data(), junk.size());
  EXPECT_TRUE(SamePicture(Decode(Encoded(image.get(), ".tif")), picture));
}

TEST(DecodePicture, RefusesChannelsWithoutAMeaning) {
  const std::vector<uint8_t> values(8 * 8 * 7, 100);
  const VipsImagePtr image = ImageOf(values, 8, 8, VIPS_INTERPRETATION_MULTIBAND);
  const Bytes bytes = Encoded(image.get(), ".tif");
  try {
    const Picture picture = Decode(bytes);
    EXPECT_EQ(picture.pixels.size(), 8U * 8 * 3);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
  }
}

// --- Orientation, frames and pages ------------------------------------------------------------

// Where a stored pixel stands upright, from the names of the sides in the EXIF standard: 6 means
// that row 0 is the right side and column 0 the top.
Picture TurnedBySides(const Picture& stored, int orientation) {
  const bool quarter = orientation >= 5;
  Picture upright = stored;
  if (quarter) std::swap(upright.width, upright.height);
  for (Index row = 0; row < stored.height; ++row) {
    for (Index column = 0; column < stored.width; ++column) {
      // Distances from the top and the left of the upright picture.
      Index top = quarter ? column : row;
      Index left = quarter ? row : column;
      if (orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8)
        top = upright.height - 1 - top;
      if (orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7)
        left = upright.width - 1 - left;
      for (Index band = 0; band < 3; ++band) {
        upright.pixels[3 * (top * upright.width + left) + band] =
            stored.pixels[3 * (row * stored.width + column) + band];
      }
    }
  }
  return upright;
}

TEST(DecodePicture, IsUpright) {
  const Picture stored = SmoothPicture(96, 64);
  for (int orientation = 1; orientation <= 8; ++orientation) {
    const VipsImagePtr image = ImageOf(stored);
    vips_image_set_int(image.get(), VIPS_META_ORIENTATION, orientation);
    const Picture expected = TurnedBySides(stored, orientation);
    for (const char* suffix : {".tif", ".webp[lossless]", ".jpg[Q=98]"}) {
      const Bytes bytes = Encoded(image.get(), suffix);
      EXPECT_LE(MeanDifference(Decode(bytes), expected), suffix == ".jpg[Q=98]"s ? 2 : 0)
          << suffix << " orientation " << orientation;
      EXPECT_EQ(InspectPicture(bytes, {}).width, expected.width);
      EXPECT_EQ(InspectPicture(bytes, {}).height, expected.height);
      const Picture small = DecodePicture(bytes, {.max_side = 24});
      EXPECT_LE(MeanDifference(small, ScaleToFit(expected, 24)), 2) << suffix << orientation;
    }
  }
}

TEST(DecodePicture, TheFirstFrameAndTheFirstPage) {
  // Two pictures one above the other, which savers of several pages cut.
  const Picture first = SmoothPicture(40, 30);
  Picture both = first;
  both.height = 60;
  both.pixels.resize(2 * first.pixels.size(), 7);
  const VipsImagePtr image = ImageOf(both);
  vips_image_set_int(image.get(), VIPS_META_PAGE_HEIGHT, 30);
  for (const auto& [suffix, tolerance] : std::vector<std::pair<const char*, double>>{
           {".gif", 6}, {".webp[lossless]", 0}, {".tif", 0}}) {
    const Bytes bytes = Encoded(image.get(), suffix);
    EXPECT_LE(MeanDifference(Decode(bytes), first), tolerance) << suffix;
    EXPECT_EQ(InspectPicture(bytes, {}).height, 30) << suffix;
    EXPECT_EQ(InspectPicture(bytes, {}).pages, 2) << suffix;
  }
}

// --- Limits ----------------------------------------------------------------------------------

std::string BigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

std::string PngChunk(const std::string& content) {  // with its type in front
  uint32_t crc = 0xffffffff;
  for (const char c : content) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc % 2 == 1 ? 0xedb88320 : 0);
  }
  return BigEndian(static_cast<uint32_t>(content.size() - 4)) + content + BigEndian(~crc);
}

std::string HugePng() {
  return "\x89PNG\r\n\x1a\n" +
         PngChunk("IHDR" + BigEndian(50000) + BigEndian(50000) + "\x08\x02\0\0\0"s) +
         PngChunk("IDATx") + PngChunk("IEND");
}

// The sides, twice: of the canvas and of the first frame.
std::string HugeGif() {
  return "GIF89a\x30\x75\x30\x75\x80\0\0\0\0\0\xff\xff\xff"s +
         "\x2c\0\0\0\0\x30\x75\x30\x75\0\x02\x02\x44\x01\0;"s;
}

// A small picture whose header says 16383×16383, in each of the three forms of WebP.
std::vector<std::string> HugeWebps() {
  const VipsImagePtr image = ImageOf(SmoothPicture(40, 60));
  const auto simple = [&](const std::string& suffix, const std::string& chunk) {
    const std::string file = ToString(Encoded(image.get(), suffix));
    const std::string content = "WEBP" + file.substr(file.find(chunk));
    return "RIFF" + testing::Pack(static_cast<uint32_t>(content.size())) + content;
  };
  std::string lossy = simple(".webp", "VP8 ");
  lossy.replace(26, 4, "\xff\x3f\xff\x3f");
  std::string lossless = simple(".webp[lossless]", "VP8L");
  lossless.replace(21, 4, testing::Pack(uint32_t{16382 << 14 | 16382}));
  vips_image_set_int(image.get(), VIPS_META_PAGE_HEIGHT, 30);
  std::string animated = ToString(Encoded(image.get(), ".webp"));
  animated.replace(24, 6, "\xfe\x3f\0\xfe\x3f\0"s);
  return {lossy, lossless, animated};
}

std::string HugeTiff() {
  const auto entry = [](uint16_t tag, uint32_t value) {
    return testing::Pack(tag, uint16_t{4}, uint32_t{1}, value);
  };
  return "II*\0\x08\0\0\0"s + testing::Pack(uint16_t{8}) + entry(256, 50000) + entry(257, 50000) +
         entry(258, 8) + entry(259, 1) + entry(262, 1) + entry(273, 8) + entry(277, 1) +
         entry(278, 50000) + testing::Pack(uint32_t{0});
}

TEST(DecodePicture, RefusesHugePicturesByTheirHeader) {
  VipsLibrary::Instance();
  std::vector<std::pair<std::string, std::string>> files = {
      {HugePng(), "50000×50000 are 2500000000 pixels"},
      {HugeGif(), "30000×30000 are 900000000 pixels"},
      {HugeTiff(), "50000×50000"},
  };
  for (const std::string& webp : HugeWebps()) files.emplace_back(webp, "16383×16383");
  const size_t before = vips_tracked_get_mem_highwater();
  for (const auto& [file, sizes] : files) {
    ExpectError(ErrorCode::kResources, {sizes, "the limit is 200000000"},
                [&bytes = file] { Decode(ToBytes(bytes)); });
    ExpectError(ErrorCode::kResources, {sizes},
                [&bytes = file] { InspectPicture(ToBytes(bytes), {}); });
  }
  EXPECT_LT(vips_tracked_get_mem_highwater(), before + 1'000'000);
}

TEST(DecodePicture, LimitsAreTheLastAllowed) {
  const Bytes bytes = Encoded(ImageOf(SmoothPicture(40, 30)).get(), ".png");
  EXPECT_EQ(DecodePicture(bytes, {.max_bytes = bytes.size(), .max_pixels = 1200}).width, 40);
  ExpectError(ErrorCode::kResources, {"40×30 are 1200 pixels", "1199"},
              [&] { DecodePicture(bytes, {.max_pixels = 1199}); });
  ExpectError(ErrorCode::kResources, {std::to_string(bytes.size()) + " bytes"},
              [&] { DecodePicture(bytes, {.max_bytes = bytes.size() - 1}); });
  EXPECT_EQ(DecodePicture(bytes, {.max_side = 40}).width, 40);
  EXPECT_EQ(DecodePicture(bytes, {.max_side = 39}).width, 39);
  ExpectError(ErrorCode::kInvalidArgument, {"max_side", "-1"},
              [&] { DecodePicture(bytes, {.max_side = -1}); });
}

TEST(DecodePicture, RefusesWhatIsNoPicture) {
  ExpectError(ErrorCode::kCorrupt, {"empty file"}, [&] { Decode({}); });
  ExpectError(ErrorCode::kUnsupported, {"PDF"}, [&] { Decode(ToBytes("%PDF-1.4 ...")); });
  ExpectError(ErrorCode::kUnsupported, {"SVG"}, [&] { Decode(ToBytes("<svg/>")); });
  ExpectError(ErrorCode::kUnsupported, {"text"},
              [&] { InspectPicture(ToBytes("notes about pictures"), {}); });
  ExpectError(ErrorCode::kCorrupt, {"VipsJpeg", "marker"},
              [&] { Decode(ToBytes("\xff\xd8\xff" + std::string(500, 'x'))); });
}

// libjpeg shrinks while it decodes; the result is close to shrinking the whole picture.
TEST(DecodePicture, ShrinkingOnLoadLooksTheSame) {
  const Bytes bytes = Encoded(ImageOf(SmoothPicture(1603, 1201)).get(), ".jpg[Q=95]");
  const Picture whole = Decode(bytes);
  for (const Index max_side : {50, 100, 190, 300, 799, 1602}) {
    const Picture small = DecodePicture(bytes, {.max_side = max_side});
    EXPECT_EQ(small.width, max_side);
    EXPECT_LT(MeanDifference(small, ScaleToFit(whole, max_side)), 1.5) << max_side;
  }
}

// --- Many threads ----------------------------------------------------------------------------

std::string Outcome(const Bytes& bytes, Index max_side) {
  try {
    const Picture picture = DecodePicture(bytes, {.max_side = max_side});
    return {picture.pixels.begin(), picture.pixels.end()};
  } catch (const Error& error) {
    return error.what();
  }
}

// Pixels and reasons are each picture's own, whatever is decoded at the same time.
TEST(DecodePicture, IsTheSameOnManyThreads) {
  std::vector<Bytes> files;
  for (const FormatCase& format : kFormats) {
    if (format.format == "heic"s || format.format == "avif"s) continue;
    files.push_back(Encoded(ImageOf(SmoothPicture(150, 90)).get(), format.suffix));
    files.push_back(files.back());
    files.back().resize(files.back().size() / 2);
  }
  std::vector<std::string> expected;
  for (const Bytes& file : files) expected.push_back(Outcome(file, 64));
  std::atomic<int> differences = 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < 5 * files.size(); ++i) {
        const size_t file = (i + 3 * thread) % files.size();
        if (Outcome(files[file], 64) != expected[file]) ++differences;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differences, 0);
}

TEST(DecodePicture, PrintsNothing) {
  ::testing::internal::CaptureStderr();
  const Bytes bytes = Encoded(ImageOf(SmoothPicture(90, 60)).get(), ".jpg");
  EXPECT_THROW(Decode(std::span(bytes).first(bytes.size() / 2)), Error);
  EXPECT_THROW(Decode(ToBytes(HugeTiff().substr(0, 60))), Error);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// libjpeg can divide the sides while it decodes; one that is shorter than the divisor would be
// gone, and libvips ends the process over such a picture.
TEST(DecodePicture, AThinJpegIsScaledDown) {
  for (const Index thin : {1, 2, 3, 5, 7, 8, 9}) {
    const std::vector<std::byte> tall = EncodeJpeg(
        {.width = thin, .height = 3000, .pixels = std::vector<uint8_t>(9000 * thin, 200)}, 90);
    for (const Index max_side : {1, 20, 100, 700, 2999}) {
      const Picture small = DecodePicture(tall, {.max_side = max_side});
      EXPECT_EQ(small.height, max_side) << thin;
      const auto width = std::lround(static_cast<double>(thin * max_side) / 3000);
      EXPECT_EQ(small.width, std::max<Index>(1, width)) << thin << " " << max_side;
    }
  }
}

}  // namespace
}  // namespace bitpool
