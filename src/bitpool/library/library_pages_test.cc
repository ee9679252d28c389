#include "bitpool/library/library_pages.h"

#include <gmock/gmock.h>

#include "bitpool/base/shown_text.h"
#include "bitpool/library/library_testing.h"
#include "bitpool/report/markup_testing.h"

namespace bitpool {
namespace {

using testing::FakeEncode;
using testing::FakePicture;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::PictureFolder;
using testing::ReadMarkup;
using testing::Select;
using testing::ToBytes;

constexpr const char* kHostile = "</p><script>&\"' \xFF\n\x1B[31m.jpg";
constexpr const char* kHostileShown = "</p><script>&\"' \uFFFD\uFFFD\uFFFD[31m.jpg";

// A library whose pictures have hostile names.
void Fill(PictureFolder& pictures) {
  pictures.Write(std::string("<b>/") + &kHostile[4], FakePicture(1, 40, 30));
  pictures.Write("b c%.jpg", FakePicture(3, 4000, 3000));
  pictures.Write("copy.jpg", FakePicture(3, 4000, 3000));
  pictures.Write("far.jpg", FakePicture(0xFFFF));
  pictures.Update();
}

void ExpectStandsAlone(const std::string& html) {
  for (const char* word : {"http", "<script", "<link", "@import", "url("}) {
    EXPECT_THAT(html, Not(HasSubstr(word)));
  }
  EXPECT_THAT(html, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(html, HasSubstr("width=device-width"));
  std::string text = html;
  std::erase(text, '\n');
  EXPECT_EQ(ShownName(text), text);  // nothing but UTF-8
}

TEST(QueryPage, ShowsThePicturesInside) {
  PictureFolder pictures;
  Fill(pictures);
  const LibrarySnapshot library = pictures.Open();
  const auto matches = QueryLibrary(library, FakeEncode(ToBytes(FakePicture(1))),
                                    {.k = 3, .order = QueryOrder::kScore}, RunContext());
  ASSERT_EQ(matches.size(), 3U);
  const std::string html =
      QueryPage(library, {.name = kHostile, .thumbnail = ToBytes("ab")}, matches);
  ExpectStandsAlone(html);
  const auto page = ReadMarkup(html);
  EXPECT_EQ(Select(page, "h1")[0].text, std::string("Pictures like ") + kHostileShown);
  const auto images = Select(page, "img");
  ASSERT_EQ(images.size(), 4U);
  EXPECT_EQ(images[0].attributes.at("src"), "data:image/jpeg;base64,YWI=");
  EXPECT_EQ(images[0].attributes.at("alt"), kHostileShown);
  const auto links = Select(page, "a", "frame");
  ASSERT_EQ(links.size(), 3U);
  EXPECT_THAT(links[0].attributes.at("href"), HasSubstr("file:///"));
  EXPECT_THAT(links[0].attributes.at("href"), HasSubstr("/pictures/%3Cb%3E/"));
  EXPECT_THAT(links[0].attributes.at("href"), HasSubstr("%FF%0A%1B%5B31m.jpg"));
  EXPECT_THAT(links[1].attributes.at("href"), HasSubstr("/b%20c%25.jpg"));
  const auto about = Select(page, "p", "about");
  ASSERT_EQ(about.size(), 6U);
  EXPECT_EQ(about[0].text, "distance 0, score 260.000");
  EXPECT_EQ(about[1].text, "40 × 30, 23 B");
  EXPECT_EQ(about[2].text, "distance 1, score 259.500");
  EXPECT_THAT(Select(page, "p", "subtitle")[0].text, HasSubstr("3 of 4 pictures"));
}

TEST(QueryPage, BytesAreInBase64) {
  PictureFolder pictures;
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const std::pair<std::string, std::string> cases[] = {
      // RFC 4648, 10
      {"f", "Zg=="},         {"fo", "Zm8="},         {"foo", "Zm9v"},         {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}, {"\xFB\xFF\xFE", "+//+"}};
  for (const auto& [bytes, text] : cases) {
    EXPECT_THAT(QueryPage(library, {.name = "q", .thumbnail = ToBytes(bytes)}, {}),
                HasSubstr("base64," + text + "\""));
  }
  const std::string html = QueryPage(library, {.name = "q", .thumbnail = {}}, {});
  EXPECT_THAT(html, HasSubstr("no preview"));
  EXPECT_THAT(html, HasSubstr("The library has no pictures."));
}

TEST(DuplicatesPage, ShowsGroups) {
  PictureFolder pictures;
  Fill(pictures);
  const LibrarySnapshot library = pictures.Open();
  const auto groups = FindDuplicates(library, {.radius = 1, .similar = true}, {}, RunContext());
  ASSERT_EQ(groups.size(), 1U);
  const std::string html = DuplicatesPage(library, groups, 1);
  ExpectStandsAlone(html);
  const auto page = ReadMarkup(html);
  EXPECT_EQ(Select(page, "h2").size(), 1U);
  EXPECT_EQ(Select(page, "img").size(), 3U);
  EXPECT_EQ(Select(page, "li", "best").size(), 1U);
  const auto tags = Select(page, "p", "tag");
  ASSERT_EQ(tags.size(), 3U);
  EXPECT_THAT(tags[0].text, HasSubstr("suggested to keep: "));
  EXPECT_THAT(html, HasSubstr("the same file"));
  EXPECT_THAT(html, HasSubstr("only similar"));
  EXPECT_THAT(html, HasSubstr("1 bit differs"));
  EXPECT_THAT(html, HasSubstr("1 group, looked at within 1 bit; 2 pictures could go"));
}

TEST(DuplicatesPage, SaysWhatItLeavesOut) {
  PictureFolder pictures;
  for (int i = 0; i < 12; ++i) {
    pictures.Write(fmt::format("{}.jpg", i), FakePicture(uint64_t{0xFF} << (i / 4 * 8)));
  }
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const auto groups = FindDuplicates(library, {.radius = 0, .similar = true}, {}, RunContext());
  const std::string html = DuplicatesPage(library, groups, 0, {.groups = 2, .pictures = 3});
  EXPECT_EQ(Select(ReadMarkup(html), "img").size(), 6U);
  EXPECT_THAT(html, HasSubstr("1 more group not shown."));
  EXPECT_THAT(html, HasSubstr("1 more picture of this group not shown."));
  EXPECT_THAT(DuplicatesPage(library, {}, 0), HasSubstr("There are none."));
}

}  // namespace
}  // namespace bitpool
