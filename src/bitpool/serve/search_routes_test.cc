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
