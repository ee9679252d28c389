#include <gmock/gmock.h>

#include "bitpool/serve/service_testing.h"

namespace bitpool {
namespace {

using nlohmann::json;

class SearchRoutesTest : public testing::ServiceTest {
 protected:
  json Search(const std::string& parameters, const std::string& body) {
    const HttpResponse response = Post("/v1/libraries/photos/search" + parameters, body);
    EXPECT_EQ(response.status, 200) << testing::BodyOf(response);
    return Json(response);
  }
  static std::vector<std::pair<int, int>> Found(const json& answer) {
    std::vector<std::pair<int, int>> found;
    for (const json& match : answer["matches"]) {
      found.emplace_back(match.contains("id") ? match["id"] : match["picture"]["id"],
                         match["distance"]);
    }
    return found;
  }
};

TEST_F(SearchRoutesTest, IdsAloneAreThoseOfTheFullAnswer) {
  Fill({0b0, 0b1, 0b11, 0b111, 0b1111, 0b0, 0b11111});
  Begin();
  for (const char* parameters :
       {"?k=3", "?k=100", "?radius=2", "?k=1&radius=0", "?order=hamming"}) {
    for (int id = 1; id <= 7; ++id) {
      const std::string body = json{{"picture", id}}.dump();
      const json full = Search(parameters, body);
      const json ids = Search(std::string(parameters) + "&detail=ids", body);
      EXPECT_EQ(Found(full), Found(ids)) << parameters << " " << id;
      EXPECT_EQ(full["bits"], ids["bits"]);
      EXPECT_EQ(full["generation"], ids["generation"]);
    }
  }
  EXPECT_EQ(Found(Search("?k=2", "{\"picture\": 1}")),
            (std::vector<std::pair<int, int>>{{6, 0}, {2, 1}}));
}

// Whole numbers are written with digits alone, and have limits.
TEST_F(SearchRoutesTest, NumbersWithoutMeaningAreNamed) {
  Fill({7, 8});
  Begin();
  const std::vector<std::string> none = {"",
                                         "%20",
                                         "x",
                                         "nan",
                                         "inf",
                                         "1.5",
                                         "1e3",
                                         "0x1",
                                         "-1",
                                         "+1",
                                         "1 ",
                                         "-0.0",
                                         "9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         std::string(1000, '9')};
  for (const std::string& number : none) {
    for (const std::string name : {"k", "radius"}) {
      ExpectProblem(Post("/v1/libraries/photos/search?" + name + "=" + number, "{\"picture\": 1}"),
                    400, "invalid_argument", name);
    }
    ExpectProblem(Get("/v1/libraries/photos/pictures?limit=" + number), 400, "invalid_argument",
                  "limit");
    EXPECT_EQ(Get("/v1/libraries/photos/pictures/" + number).status, 404) << number;
    for (const std::string& box : {number + ",0,1,1", "0,0,1," + number}) {
      if (number == "-0.0") continue;
      ExpectProblem(Post("/v1/libraries/photos/search?box=" + box, "{\"picture\": 1}"), 400,
                    "invalid_argument", "box");
    }
    if (number == "1 ") continue;  // in JSON a space means nothing
    const std::string body = "{\"picture\": " + number + "}";
    EXPECT_GE(Post("/v1/libraries/photos/search", body).status, 400) << number;
    EXPECT_LT(Post("/v1/libraries/photos/search", body).status, 500) << number;
  }
  EXPECT_EQ(Post("/v1/libraries/photos/search?k=10000&radius=4096", "{\"picture\": 1}").status,
            200);
  for (const char* beyond : {"k=0", "k=10001", "radius=4097", "k=9223372036854775807"}) {
    ExpectProblem(Post(std::string("/v1/libraries/photos/search?") + beyond, "{\"picture\": 1}"),
                  400, "invalid_argument");
  }
  ExpectProblem(Post("/v1/libraries/photos/search", "{\"picture\": 18446744073709551615}"), 404,
                "not_found");
}

TEST_F(SearchRoutesTest, APictureAloneHasNoNeighbours) {
  Fill({7});
  Begin();
  EXPECT_TRUE(Found(Search("", "{\"picture\": 1}")).empty());
  EXPECT_TRUE(Found(Search("?detail=ids", "{\"picture\": 1}")).empty());
}

TEST_F(SearchRoutesTest, BadQuestionsAreNamed) {
  Fill({1, 2});
  Begin();
  const std::string base = "/v1/libraries/photos/search";
  ExpectProblem(Post(base, "{\"picture\": 99}"), 404, "not_found", "99");
  ExpectProblem(Post(base + "?detail=ids", "{\"picture\": 99}"), 404, "not_found", "99");
  ExpectProblem(Post(base, "{\"picture\": \"1\"}"), 400, "invalid_argument", "picture");
  ExpectProblem(Post(base, "{\"picture\": -1}"), 400, "invalid_argument", "picture");
  ExpectProblem(Post(base, "[1]"), 400, "invalid_request", "object");
  ExpectProblem(Post(base, "{"), 400, "invalid_request", "JSON");
  ExpectProblem(Post(base + "?k=0", "{\"picture\": 1}"), 400, "invalid_argument", "k");
  ExpectProblem(Post(base + "?box=0,0,1", "{\"picture\": 1}"), 400, "invalid_argument", "box");
  ExpectProblem(Post(base + "?box=0.5,0,0.6,1", "{\"picture\": 1}"), 400, "invalid_argument",
                "box");
  ExpectProblem(Post(base + "?box=0,0,1,1,1", "{\"picture\": 1}"), 400, "invalid_argument", "box");
  ExpectProblem(Post(base + "?box=0,nan,1,1", "{\"picture\": 1}"), 400, "invalid_argument", "box");
  ExpectProblem(Post(base, "hello", "text/plain"), 415, "unsupported_media_type", "image/*");
  ExpectProblem(Post(base, "hello", "image/jpeg"), 422, "unsupported_picture");
  ExpectProblem(Post(base, "", "image/jpeg"), 422, "damaged_picture");
}

}  // namespace
}  // namespace bitpool
