#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bitpool/catalog/catalogue_testing.h"
#include "bitpool/serve/service_testing.h"

namespace bitpool {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using testing::FakePicture;
using ::testing::IsEmpty;

class PictureRoutesTest : public testing::ServiceTest {
 protected:
  // The paths of all pages of a listing, one after the other.
  std::vector<std::string> AllPaths(const std::string& parameters) {
    std::vector<std::string> paths;
    std::string cursor;
    do {
      const json page = GetJson("/v1/libraries/photos/pictures?limit=2" + parameters +
                                (cursor.empty() ? "" : "&cursor=" + PercentEncode(cursor)));
      for (const json& picture : page["pictures"]) paths.push_back(picture["path"]);
      cursor = page["next"].is_null() ? "" : page["next"];
    } while (!cursor.empty() && paths.size() < 100);
    return paths;
  }
  void FillFolders() {
    folder.Write("b.jpg", FakePicture(1));
    folder.Write("a/x.jpg", FakePicture(2));
    folder.Write("a/deep/Y.jpg", FakePicture(3));
    folder.Write("ab/z.jpg", "no picture");
    folder.Write("c.jpg", FakePicture(4));
    folder.Update();
    Begin();
  }
  uint64_t IdOf(const std::string& path) { return folder.Open().catalogue().FindByPath(path)->id; }
};

TEST_F(PictureRoutesTest, ALibraryWithoutPicturesIsEmpty) {
  PictureLibrary::Create(Env::Posix(), folder.library(), folder.root());
  Begin();
  const json library = GetJson("/v1/libraries/photos");
  EXPECT_EQ(library["indexed"], false);
  EXPECT_EQ(library["folder"], std::filesystem::canonical(folder.root()).string());
  EXPECT_THAT(AllPaths(""), IsEmpty());
  EXPECT_THAT(GetJson("/v1/libraries/photos/folders")["folders"], IsEmpty());
  EXPECT_THAT(GetJson("/v1/libraries/photos/dates")["months"], IsEmpty());
  ExpectProblem(Post("/v1/libraries/photos/search", "{\"picture\": 1}"), 409, "nothing_indexed");
  ExpectProblem(Get("/v1/libraries/photos/duplicates"), 409, "nothing_indexed");
}

TEST_F(PictureRoutesTest, APathThatLeadsOutOfTheLibraryIsNotFollowed) {
  FillFolders();
  const uint64_t id = IdOf("b.jpg");
  std::ofstream(folder.root().parent_path() / "secret.jpg") << "secret";
  testing::Tamper(LibraryFolder(folder.library()).catalogue(),
                  "UPDATE pictures SET path = CAST('a/../../secret.jpg' AS BLOB) "
                  "WHERE path = CAST('b.jpg' AS BLOB)");
  Begin();
  const std::string target = fmt::format("/v1/libraries/photos/pictures/{}/original", id);
  ExpectProblem(Get(target), 500, "internal", "leads out of the library");
}

TEST_F(PictureRoutesTest, PagesFollowEachOtherInEveryOrder) {
  FillFolders();
  EXPECT_THAT(AllPaths(""), ElementsAre("a/deep/Y.jpg", "a/x.jpg", "ab/z.jpg", "b.jpg", "c.jpg"));
  EXPECT_THAT(AllPaths("&sort=date"),
              ElementsAre("c.jpg", "ab/z.jpg", "a/deep/Y.jpg", "a/x.jpg", "b.jpg"));
  EXPECT_EQ(AllPaths("&sort=id").size(), 5U);
  EXPECT_THAT(AllPaths("&folder=a"), ElementsAre("a/deep/Y.jpg", "a/x.jpg"));
  EXPECT_THAT(AllPaths("&path=y.J"), ElementsAre("a/deep/Y.jpg"));
  EXPECT_THAT(AllPaths("&state=failed"), ElementsAre("ab/z.jpg"));
  EXPECT_EQ(AllPaths("&state=fine").size(), 4U);
}

TEST_F(PictureRoutesTest, PagesGoOnWhereTheyWereWhenThePictureIsGone) {
  FillFolders();
  const json first = GetJson("/v1/libraries/photos/pictures?limit=2");
  folder.Remove("a/x.jpg");
  folder.Write("a/a.jpg", FakePicture(9));
  folder.Update();
  const json second = GetJson("/v1/libraries/photos/pictures?limit=2&cursor=" +
                              PercentEncode(first["next"].get<std::string>()));
  EXPECT_EQ(second["pictures"][0]["path"], "ab/z.jpg");
}

TEST_F(PictureRoutesTest, OffsetsJump) {
  FillFolders();
  const json page = GetJson("/v1/libraries/photos/pictures?limit=2&offset=3");
  EXPECT_EQ(page["offset"], 3);
  EXPECT_EQ(page["total"], 5);
  EXPECT_EQ(page["pictures"][0]["path"], "b.jpg");
  EXPECT_TRUE(page["next"].is_null());
  EXPECT_THAT(GetJson("/v1/libraries/photos/pictures?offset=99")["pictures"], IsEmpty());
}

TEST_F(PictureRoutesTest, BadParametersAreNamed) {
  FillFolders();
  const std::string base = "/v1/libraries/photos/pictures?";
  ExpectProblem(Get(base + "limit=0"), 400, "invalid_argument", "limit");
  ExpectProblem(Get(base + "limit=501"), 400, "invalid_argument", "500");
  ExpectProblem(Get(base + "limit=x"), 400, "invalid_argument", "whole number");
  ExpectProblem(Get(base + "sort=size"), 400, "invalid_argument", "path, date, id");
  ExpectProblem(Get(base + "cursor=here"), 400, "invalid_argument", "cursor");
  ExpectProblem(Get(base + "limit=1&limit=2"), 400, "invalid_argument", "more than once");
  ExpectProblem(Get("/v1/libraries/none/pictures"), 404, "not_found", "none");
  ExpectProblem(Get("/v1/libraries/photos/pictures/99"), 404, "not_found", "99");
  ExpectProblem(Get("/v1/libraries/photos/pictures/..%2F1"), 404, "not_found");
}

TEST_F(PictureRoutesTest, FoldersAndMonths) {
  FillFolders();
  const json top = GetJson("/v1/libraries/photos/folders")["folders"];
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0],
            (json{{"path", "a"}, {"name", "a"}, {"pictures", 2}, {"failed", 0}, {"folders", 1}}));
  EXPECT_EQ(top[1]["failed"], 1);
  EXPECT_EQ(GetJson("/v1/libraries/photos/folders?parent=a")["folders"][0]["name"], "deep");
  const json months = GetJson("/v1/libraries/photos/dates")["months"];
  ASSERT_EQ(months.size(), 1U);
  EXPECT_EQ(months[0]["pictures"], 5);
}

TEST_F(PictureRoutesTest, NamesThatAreNoText) {
  folder.Write("caf\xe9.jpg", FakePicture(1));
  folder.Update();
  Begin();
  const json picture = GetJson("/v1/libraries/photos/pictures")["pictures"][0];
  EXPECT_EQ(picture["name"], "caf\xef\xbf\xbd.jpg");
  EXPECT_EQ(testing::BodyOf(Get(picture["original"])), FakePicture(1));
}

TEST_F(PictureRoutesTest, ThumbnailsCanBeKept) {
  FillFolders();
  const json picture = GetJson(fmt::format("/v1/libraries/photos/pictures/{}", IdOf("b.jpg")));
  const HttpResponse response = Get(picture["thumbnail"]);
  EXPECT_EQ(testing::BodyOf(response), "small " + FakePicture(1));
  EXPECT_NE(response.headers.Find("Cache-Control").find("immutable"), std::string_view::npos);
  const std::string tag(response.headers.Find("ETag"));
  EXPECT_EQ(Get(picture["thumbnail"], {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(Get(picture["thumbnail"], {{"If-None-Match", "\"x\""}}).status, 200);
  ExpectProblem(Get(fmt::format("/v1/libraries/photos/pictures/{}/thumbnail", IdOf("ab/z.jpg"))),
                404, "not_found");
}

TEST_F(PictureRoutesTest, OriginalsInRanges) {
  FillFolders();
  const std::string target =
      fmt::format("/v1/libraries/photos/pictures/{}/original", IdOf("b.jpg"));
  const std::string whole = FakePicture(1);
  EXPECT_EQ(testing::BodyOf(Get(target)), whole);
  const HttpResponse part = Get(target, {{"Range", "bytes=2-5"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(testing::BodyOf(part), whole.substr(2, 4));
  EXPECT_EQ(part.headers.Find("Content-Range"), fmt::format("bytes 2-5/{}", whole.size()));
  ExpectProblem(Get(target, {{"Range", "bytes=999-"}}), 416, "range_not_satisfiable");
  folder.Remove("b.jpg");
  ExpectProblem(Get(target), 404, "not_found", "b.jpg");
}

// Someone who may write into the folder, but not read what the server can, puts links there.
TEST_F(PictureRoutesTest, AStrangersLinkServesNothing) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives files to others";
  FillFolders();
  const testing::TempFolder elsewhere;
  std::ofstream(elsewhere / "x.jpg") << "secret";
  const std::filesystem::path link = folder.root() / "b.jpg";
  folder.Remove("b.jpg");
  std::filesystem::create_symlink(elsewhere / "x.jpg", link);
  const std::string target = fmt::format("/v1/libraries/photos/pictures/{}/", IdOf("b.jpg"));
  EXPECT_EQ(testing::BodyOf(Get(target + "original")), "secret");  // a link of our own
  constexpr uid_t kStranger = 4712;
  ASSERT_EQ(lchown(link.c_str(), kStranger, kStranger), 0);
  for (const char* way : {"original", "preview"}) {
    ExpectProblem(Get(target + way), 500, "internal", "belongs to another user");
  }
  // The same by a folder that became a link.
  const std::string other = fmt::format("/v1/libraries/photos/pictures/{}/", IdOf("a/x.jpg"));
  std::filesystem::remove_all(folder.root() / "a");
  std::filesystem::create_symlink(elsewhere.path(), folder.root() / "a");
  ASSERT_EQ(lchown((folder.root() / "a").c_str(), kStranger, kStranger), 0);
  ExpectProblem(Get(other + "original"), 500, "internal", "belongs to another user");
  folder.Update();
  const json now = GetJson(target.substr(0, target.size() - 1));
  EXPECT_EQ(now.dump().find("secret"), std::string::npos) << now;
}

TEST_F(PictureRoutesTest, ChangesOfOthersAreSeen) {
  FillFolders();
  folder.Write("new.jpg", FakePicture(77));
  folder.Update();
  EXPECT_EQ(GetJson("/v1/libraries/photos")["pictures"], 6);
  EXPECT_EQ(AllPaths("").size(), 6U);
}

}  // namespace
}  // namespace bitpool
