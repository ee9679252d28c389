#include "bitpool/image/picture_format.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using namespace std::string_literals;
using testing::ExpectError;
using testing::ToBytes;

std::string NameOf(const std::string& begin) { return SniffFormat(ToBytes(begin)).name; }

TEST(SniffFormat, KnowsByTheFirstBytes) {
  EXPECT_EQ(NameOf("\xff\xd8\xff\xe0"), "jpeg");
  EXPECT_EQ(NameOf("\x89PNG\r\n\x1a\n..."), "png");
  EXPECT_EQ(NameOf("GIF87a"), "gif");
  EXPECT_EQ(NameOf("GIF89a.."), "gif");
  EXPECT_EQ(NameOf("II*\0.."s), "tiff");
  EXPECT_EQ(NameOf("MM\0*.."s), "tiff");
  EXPECT_EQ(NameOf("II+\0.."s), "tiff");
  EXPECT_EQ(NameOf("RIFF....WEBPVP8 "), "webp");
}

TEST(SniffFormat, ReadsTheBrandsOfHeif) {
  EXPECT_EQ(NameOf("\0\0\0\x18"s + "ftypheic\0\0\0\0mif1heic"s), "heic");
  EXPECT_EQ(NameOf("\0\0\0\x1c"s + "ftypavif\0\0\0\0avifmif1miaf"s), "avif");
  EXPECT_EQ(NameOf("\0\0\0\x18"s + "ftypmif1\0\0\0\0mif1heic"s), "heic");
  EXPECT_EQ(NameOf("\0\0\0\x18"s + "ftypmif1\0\0\0\0miafavif"s), "avif");
  // The brand is after the end of the box, or in the place of the version.
  for (const std::string& other :
       {"\0\0\0\x14"s + "ftypmif1\0\0\0\0miafavif"s, "\0\0\0\x14"s + "ftypisomavifmp41"s}) {
    ExpectError(ErrorCode::kUnsupported, {"video"}, [&] { NameOf(other); });
  }
}

TEST(SniffFormat, RefusesEverythingElseAndSaysWhatItIs) {
  const std::vector<std::pair<std::string, std::string>> others = {
      {"%PDF-1.7\n", "a PDF document"},
      {"<?xml version=\"1.0\"?>\n<!-- \xc3\xa9 -->\n<svg width=\"1\"/>", "an SVG drawing"},
      {"  <svg xmlns=\"http://www.w3.org/2000/svg\"></svg>", "an SVG drawing"},
      {"<html>no picture</html>", "text"},
      {"P1\n1 1\n1\n", "text"},
      {"BM\x10\0\0"s, "a BMP picture"},
      {"8BPS\0\1"s, "a Photoshop document"},
      {"\xff\x0a\0"s, "a JPEG XL picture"},
      {"\0\0\0\x0cjP  \r\n"s, "a JPEG 2000 picture"},
      {"PK\x03\x04zip", "a ZIP archive"},
      {"RIFF....WAVEfmt ", "a RIFF file other than WebP"},
      {"\0\0\0\x18"s + "ftypisom\0\0\0\0"s, "a video"},
      {"\x7f"
       "ELF\x02\x01\0"s,
       "begins with 7f 45 4c 46 02 01 00"},
      {"\xff\xd8", "begins with ff d8"},
      {std::string(20, '\0'), "begins with 00 00 00 00 00 00 00 00"},
  };
  for (const auto& [begin, what] : others) {
    ExpectError(ErrorCode::kUnsupported, {what, "expected a JPEG, PNG"},
                [&bytes = begin] { NameOf(bytes); });
  }
}

TEST(SniffFormat, EmptyIsDamaged) {
  ExpectError(ErrorCode::kCorrupt, {"empty file"}, [&] { SniffFormat({}); });
}

}  // namespace
}  // namespace bitpool
