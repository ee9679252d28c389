#include "bitpool/serve/service.h"

#include <gmock/gmock.h>

#include <set>

#include "bitpool/index/index_file.h"
#include "bitpool/serve/service_testing.h"

namespace bitpool {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ServiceRoutesTest : public testing::ServiceTest {
 protected:
  void SetUp() override { Fill({1, 2, 3}); }
};

TEST_F(ServiceRoutesTest, EveryRouteIsDescribedAndEveryDescriptionIsARoute) {
  Begin();
  const json description = GetJson("/openapi.json");
  EXPECT_EQ(description["openapi"], "3.1.0");
  std::set<std::string> described, there = {"GET /openapi.json"};
  for (const auto& [path, methods] : description["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      if (method == "get") described.insert("GET " + path);
      if (method == "post") described.insert("POST " + path);
      if (method == "delete") described.insert("DELETE " + path);
    }
  }
  for (const Route& route : service->routes().routes()) {
    there.insert(route.method + " " + route.pattern);
  }
  EXPECT_EQ(described, there);
}

TEST_F(ServiceRoutesTest, KeysDecideWhoMayWhat) {
  const NewKey reader = MakeApiKey(Access::kRead, ""), writer = MakeApiKey(Access::kWrite, "");
  Begin({.keys = ApiKeys::Parse(reader.line + writer.line)});
  for (const Route& route : service->routes().routes()) {
    const auto status = [&](const std::string& key) {
      std::string target = route.pattern;
      for (size_t open = target.find('{'); open != std::string::npos; open = target.find('{')) {
        target.replace(open, target.find('}') - open + 1, "none");
      }
      HttpRequest request{.method = route.method,
                          .target = target,
                          .headers = {{"Host", "localhost"}, {"Content-Type", "application/json"}}};
      if (!key.empty()) request.headers.Add("Authorization", "Bearer " + key);
      const auto admitted = service->Admit(request);
      const auto* refusal = std::get_if<HttpResponse>(&admitted);
      return refusal == nullptr ? 200 : refusal->status;
    };
    const bool open = route.access == Access::kNone, writes = route.access == Access::kWrite;
    EXPECT_EQ(status(""), open ? 200 : 401) << route.pattern;
    EXPECT_EQ(status("wrong"), open ? 200 : 401) << route.pattern;
    EXPECT_EQ(status(reader.key), writes ? 403 : 200) << route.pattern;
    EXPECT_EQ(status(writer.key), 200) << route.pattern;
  }
}

TEST_F(ServiceRoutesTest, ACookieStandsForAKey) {
  const NewKey reader = MakeApiKey(Access::kRead, "");
  Begin({.keys = ApiKeys::Parse(reader.line)});
  const HttpResponse started = Ask({.method = "POST",
                                    .target = "/v1/session",
                                    .headers = {{"Authorization", "Bearer " + reader.key}}});
  EXPECT_EQ(started.status, 204);
  const std::string cookie(started.headers.Find("Set-Cookie"));
  EXPECT_THAT(cookie, HasSubstr("HttpOnly; SameSite=Strict"));
  const HttpHeaders with_cookie = {{"Cookie", cookie.substr(0, cookie.find(';'))}};
  EXPECT_EQ(Get("/v1/libraries", with_cookie).status, 200);
  EXPECT_EQ(Json(Get("/v1/server", with_cookie))["access"], "read");
  Ask({.method = "DELETE", .target = "/v1/session", .headers = with_cookie});
  EXPECT_EQ(Get("/v1/libraries", with_cookie).status, 401);
  EXPECT_EQ(Json(Get("/v1/server"))["access"], "none");
}

TEST_F(ServiceRoutesTest, ForeignPagesAndNamesAreTurnedAway) {
  Begin();
  ExpectProblem(Get("/v1/libraries", {{"Host", "evil.example"}}), 421, "misdirected", "--host");
  ExpectProblem(Get("/v1/libraries", {{"Origin", "https://evil.example"}}), 403, "foreign_origin");
}

TEST_F(ServiceRoutesTest, PathsAndMethodsThatAreNotThere) {
  Begin();
  ExpectProblem(Get("/v1/nothing"), 404, "not_found");
  ExpectProblem(Get("/etc/passwd"), 404, "not_found");
  ExpectProblem(Get("/../../etc/passwd"), 404, "not_found");
  ExpectProblem(Get("/v1/libraries/"), 404, "not_found");
  const HttpResponse wrong = Post("/v1/libraries", "{}");
  ExpectProblem(wrong, 405, "method_not_allowed");
  EXPECT_EQ(wrong.headers.Find("Allow"), "GET");
  ExpectProblem(Ask({.method = "BREW", .target = "/v1/libraries"}), 501, "not_implemented");
  EXPECT_EQ(Ask({.method = "HEAD", .target = "/v1/libraries"}).status, 200);
}

TEST_F(ServiceRoutesTest, MetricsCount) {
  Begin();
  Get("/v1/libraries");
  Get("/v1/libraries");
  Get("/v1/libraries/none");
  const std::string text = testing::BodyOf(Get("/metrics"));
  EXPECT_THAT(text,
              HasSubstr("bitpool_requests_total{route=\"GET /v1/libraries\",status=\"200\"} 2\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "bitpool_requests_total{route=\"GET /v1/libraries/{library}\",status=\"404\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("bitpool_request_seconds_count{route=\"GET /v1/libraries\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("bitpool_library_pictures{library=\"photos\"} 3\n"));
}

TEST_F(ServiceRoutesTest, ReadyUntilItEnds) {
  Begin();
  EXPECT_EQ(Get("/readyz").status, 200);
  EXPECT_EQ(Get("/livez").status, 200);
  service->Stop();
  ExpectProblem(Get("/readyz"), 503, "stopping");
  EXPECT_EQ(Get("/livez").status, 200);
  ExpectProblem(Post("/v1/libraries/photos/updates", "{}"), 503, "stopping");
}

TEST_F(ServiceRoutesTest, AFailedUpdateSaysWhy) {
  Begin();
  std::filesystem::remove_all(folder.root());
  const HttpResponse started = Post("/v1/libraries/photos/updates", "");
  EXPECT_EQ(started.status, 202);
  const std::string job(started.headers.Find("Location"));
  json state = json::object();
  for (int i = 0; i < 2000 && state.value("state", "running") == "running"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    state = GetJson(job);
  }
  EXPECT_EQ(state["state"], "failed") << state;
  EXPECT_FALSE(state["error"].is_null());
  const auto feed = std::get<std::shared_ptr<EventFeed>>(Get(job + "/events").body);
  EXPECT_THAT(feed->Take().value_or(""), HasSubstr("event: end\n"));
  EXPECT_EQ(feed->Take(), std::nullopt);
}

class IndexRoutesTest : public testing::ServiceTest {
 protected:
  void SetUp() override {
    file = folder.base() / "codes.bpi";
    const BinaryCodes codes = BinaryCodes::FromHex(16, {"0000", "0f00", "ffff"});
    SaveIndex(Env::Posix(), file, MakeIndex(codes, IndexKind::kAuto, RunContext())->Snapshot(),
              IfExists::kFail);
    service = std::make_unique<Service>(Env::Posix(), ServiceOptions());
    service->AddIndex("codes", file);
  }
  std::filesystem::path file;
};

TEST_F(IndexRoutesTest, SearchInJsonAndInBytes) {
  const json answer = Json(Post("/v1/indexes/codes/search?k=2", "{\"codes\": [\"0f01\"]}"));
  EXPECT_EQ(answer["results"], json::parse(R"([[{"id":1,"distance":1},{"id":0,"distance":5}]])"));
  const HttpResponse raw = PostRaw("/v1/indexes/codes/search?k=2", std::string("\x0f\x01", 2));
  EXPECT_EQ(raw.headers.Find("Bitpool-K"), "2");
  EXPECT_EQ(testing::BodyOf(raw), testing::Pack(int64_t{1}, int64_t{0}, int32_t{1}, int32_t{5}));
  const HttpResponse within =
      PostRaw("/v1/indexes/codes/search?radius=4", std::string("\x0f\x00\x00\x00", 4));
  EXPECT_EQ(testing::BodyOf(within), testing::Pack(int64_t{1}, int64_t{0}, int64_t{0}, int64_t{1},
                                                   int32_t{0}, int32_t{4}, int32_t{0}, int32_t{4}));
}

TEST_F(IndexRoutesTest, SearchByNumbers) {
  json values = json::array();
  for (int bit = 0; bit < 16; ++bit) values.push_back(bit < 4 ? 1.0 : -0.5);
  const json answer = Json(Post("/v1/indexes/codes/search?k=1", json{{"values", {values}}}.dump()));
  EXPECT_EQ(answer["results"][0][0]["id"], 1);
  EXPECT_EQ(answer["results"][0][0]["score"], 4 + 12 * 0.5);
}

TEST_F(IndexRoutesTest, CodesComeAndGoAndAreSaved) {
  const json added = Json(Post("/v1/indexes/codes/add", "{\"codes\": [\"00ff\", \"ff00\"]}"));
  EXPECT_EQ(added["first_id"], 3);
  EXPECT_EQ(added["codes"], 5);
  EXPECT_EQ(Json(PostRaw("/v1/indexes/codes/add?ids=leading",
                         testing::Pack(int64_t{70}, uint8_t{1}, uint8_t{2})))["added"],
            1);
  EXPECT_EQ(
      Json(PostRaw("/v1/indexes/codes/remove", testing::Pack(int64_t{0}, int64_t{99})))["removed"],
      1);
  EXPECT_EQ(GetJson("/v1/indexes/codes")["saved"], false);
  ExpectProblem(Post("/v1/indexes/codes/add", R"({"codes": ["0000"], "ids": [70]})"), 400,
                "invalid_argument", "70");
  EXPECT_EQ(Json(Post("/v1/indexes/codes/add?replace=true",
                      R"({"codes": ["0000"], "ids": [70]})"))["removed"],
            1);
  service->Stop();
  const auto saved = OpenIndex(Env::Posix(), file, true, RunContext());
  EXPECT_EQ(saved->size(), 5);
  EXPECT_TRUE(saved->Contains(70));
  EXPECT_FALSE(saved->Contains(0));
}

// The transport answers what was sent before it ends, and an answer is a promise.
TEST_F(IndexRoutesTest, WhatIsAcknowledgedWhileTheServerEndsIsSaved) {
  service->Stop(
      [&] { EXPECT_EQ(Post("/v1/indexes/codes/add", "{\"codes\": [\"00ff\"]}").status, 200); });
  EXPECT_EQ(OpenIndex(Env::Posix(), file, true, RunContext())->size(), 4);
}

TEST_F(IndexRoutesTest, AnIndexThatCannotBeSavedKeepsNoOtherFromIt) {
  const std::filesystem::path lost = folder.base() / "lost", other = folder.base() / "other.bpi";
  std::filesystem::create_directories(lost);
  for (const auto& copy : {lost / "first.bpi", lost / "second.bpi", other}) {
    std::filesystem::copy_file(file, copy);
  }
  std::vector<std::string> log;
  service = std::make_unique<Service>(Env::Posix(), ServiceOptions());
  service->set_log([&](const std::string& line) { log.push_back(line); });
  service->AddIndex("first", lost / "first.bpi");
  service->AddIndex("second", lost / "second.bpi");
  service->AddIndex("other", other);
  for (const char* name : {"first", "second", "other"}) {
    Post(fmt::format("/v1/indexes/{}/add", name), "{\"codes\": [\"00ff\"]}");
  }
  std::filesystem::remove_all(lost);
  testing::ExpectError(ErrorCode::kNotFound, {"lost"}, [&] { service->Stop(); });
  EXPECT_EQ(log.size(), 1U);
  EXPECT_EQ(OpenIndex(Env::Posix(), other, true, RunContext())->size(), 4);
}

TEST_F(IndexRoutesTest, IdsAreNotGivenTwice) {
  EXPECT_EQ(Json(Post("/v1/indexes/codes/add", "{\"codes\": [\"00ff\"]}"))["first_id"], 3);
  Post("/v1/indexes/codes/remove", "{\"ids\": [3]}");
  EXPECT_EQ(Json(Post("/v1/indexes/codes/add", "{\"codes\": [\"00ff\"]}"))["first_id"], 4);
}

TEST_F(IndexRoutesTest, IdsAtTheEndOfTheirRange) {
  const std::string base = "/v1/indexes/codes/";
  ExpectProblem(Post(base + "add", R"({"codes": ["0000"], "ids": [9223372036854775807]})"), 400,
                "invalid_argument", "9223372036854775807");
  EXPECT_EQ(Post(base + "add", R"({"codes": ["0000"], "ids": [9223372036854775806]})").status, 200);
  ExpectProblem(Post(base + "add", R"({"codes": ["0001"]})"), 400, "invalid_argument", "ids left");
  service->Stop();
  EXPECT_EQ(OpenIndex(Env::Posix(), file, true, RunContext())->max_id(), kMaxId);
}

// Numbers are taken as they are or not at all.
TEST_F(IndexRoutesTest, IdsAreWholeNumbers) {
  for (const char* ids : {"[1.5]", "[1e3]", "[true]", "[\"1\"]", "[18446744073709551615]", "7",
                          "[9223372036854775808]", "[null]", "{\"a\": 1}"}) {
    ExpectProblem(Post("/v1/indexes/codes/remove", fmt::format(R"({{"ids": {}}})", ids)), 400,
                  "invalid_argument", "ids");
  }
  EXPECT_EQ(GetJson("/v1/indexes/codes")["codes"], 3);
}

// A body of a few megabytes must not ask for the memory of the machine.
TEST_F(IndexRoutesTest, AnswersOfARequestAreLimited) {
  const std::string many(std::size_t{2} * 4'000'000, '\x0f');  // queries of 2 bytes
  ExpectProblem(PostRaw("/v1/indexes/codes/search?k=10000", many), 400, "invalid_argument",
                "4000000 queries");
  ExpectProblem(PostRaw("/v1/indexes/codes/search?radius=16", many), 400, "invalid_argument",
                "radius");
  const std::string few = many.substr(0, 20'000);
  EXPECT_EQ(PostRaw("/v1/indexes/codes/search?k=10000", few).status, 200);
  EXPECT_EQ(PostRaw("/v1/indexes/codes/search?radius=16", few).status, 200);
}

TEST_F(IndexRoutesTest, RadiusSearchesAreLimitedBeforeTheyTakeMemory) {
  const std::string found(std::size_t{2} * 5000, '\x33'), missed(found.size(), '\xcc');
  EXPECT_EQ(PostRaw("/v1/indexes/codes/add", found).status, 200);
  // One query finds 5,000 codes, and in bytes all others would take as much room.
  const std::string queries = found.substr(0, 2) + missed;
  ExpectProblem(PostRaw("/v1/indexes/codes/search?radius=0", queries), 400, "invalid_argument",
                "5001 queries of up to 5000 answers");
  EXPECT_EQ(Post("/v1/indexes/codes/search?radius=0", queries, "application/octet-stream").status,
            200);
  EXPECT_EQ(PostRaw("/v1/indexes/codes/search?radius=0&k=100", queries).status, 200);
  const std::string many(std::size_t{2} * 10'000'001, '\xcc');
  ExpectProblem(PostRaw("/v1/indexes/codes/search?radius=0", many), 400, "invalid_argument",
                "10000001 queries");
}

TEST_F(IndexRoutesTest, BodiesMayNotBeNestedWithoutEnd) {
  const std::string deep = "{\"codes\": " + std::string(1'000'000, '[');
  ExpectProblem(Post("/v1/indexes/codes/search", deep), 400, "invalid_request");
  ExpectProblem(Post("/v1/indexes/codes/search", deep + std::string(1'000'000, ']') + "}"), 400,
                "invalid_request");
}

TEST_F(IndexRoutesTest, BadBodiesAreNamed) {
  const std::string base = "/v1/indexes/codes/";
  ExpectProblem(Post(base + "search", "{\"codes\": [\"0f\"]}"), 400, "invalid_argument", "0f");
  ExpectProblem(Post(base + "search", "{\"codes\": 7}"), 400, "invalid_argument", "codes");
  ExpectProblem(Post(base + "search", "{}"), 400, "invalid_argument", "codes");
  ExpectProblem(Post(base + "search", "{\"values\": [[1,2]]}"), 400, "invalid_argument", "16");
  ExpectProblem(Post(base + "search?radius=1", "{\"values\": [[1,2]]}"), 400, "invalid_argument");
  ExpectProblem(PostRaw(base + "search", "abc"), 400, "invalid_argument");
  ExpectProblem(PostRaw(base + "search?values=true", "abc"), 400, "invalid_argument");
  ExpectProblem(PostRaw(base + "remove", "abc"), 400, "invalid_argument", "8 bytes");
  ExpectProblem(PostRaw(base + "add?ids=leading", "abc"), 400, "invalid_argument", "10 bytes");
  ExpectProblem(Post(base + "add", "{\"codes\": [\"0000\"], \"ids\": [-1]}"), 400,
                "invalid_argument");
  ExpectProblem(Post("/v1/indexes/none/search", "{}"), 404, "not_found");
}

}  // namespace
}  // namespace bitpool
