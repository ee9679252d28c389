#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "bitpool/serve/service_testing.h"

namespace bitpool {
namespace {

using nlohmann::json;
using testing::FakePicture;

class DuplicateRoutesTest : public testing::ServiceTest {
 protected:
  // Two exact copies, two with like codes, which have no pixels to compare, and a stranger.
  void SetUp() override {
    folder.Write("exact1.jpg", FakePicture(0xff00));
    folder.Write("copies/exact2.jpg", FakePicture(0xff00));
    folder.Write("edited1.jpg", FakePicture(0xaaaaaaaa00000000, 8, 6));
    folder.Write("edited2.jpg", FakePicture(0xaaaaaaab00000000, 4, 3));
    folder.Write("other.jpg", FakePicture(0x5555555555555555));
    folder.Update();
  }
  json Groups(const std::string& parameters = "") {
    return GetJson("/v1/libraries/photos/duplicates" + parameters)["groups"];
  }
  json Decide(const json& body) {
    const HttpResponse response = Post("/v1/libraries/photos/duplicates/decisions", body.dump());
    EXPECT_EQ(response.status, 200) << testing::BodyOf(response);
    return Json(response);
  }
  json Undo(const std::string& id) {
    return Json(
        Ask({.method = "DELETE", .target = "/v1/libraries/photos/duplicates/decisions/" + id}));
  }
  bool IsThere(const std::string& path) { return std::filesystem::exists(folder.root() / path); }
  uint64_t IdOf(const std::string& path) { return folder.Open().catalogue().FindByPath(path)->id; }
};

TEST_F(DuplicateRoutesTest, GroupsByKindWithTheOneToKeep) {
  Begin();
  const json answer = GetJson("/v1/libraries/photos/duplicates");
  ASSERT_EQ(answer["groups"].size(), 1U);
  const json& exact = answer["groups"][0];
  EXPECT_EQ(exact["kind"], "exact");
  EXPECT_EQ(exact["keep"], IdOf("exact1.jpg"));
  EXPECT_EQ(exact["members"][0]["keep"], true);
  EXPECT_TRUE(exact["members"][0]["kind"].is_null());
  EXPECT_EQ(exact["members"][1]["kind"], "exact");
  EXPECT_EQ(answer["summary"]["exact"]["pictures"], 1);
  EXPECT_EQ(answer["summary"]["edited"]["groups"], 0);
  const json similar = Groups("?kind=similar");
  ASSERT_EQ(similar.size(), 1U);
  EXPECT_EQ(similar[0]["keep"], IdOf("edited1.jpg"));
  EXPECT_EQ(similar[0]["members"][1]["kind"], "similar");
  EXPECT_EQ(Groups("?kind=part").size(), 0U);
}

TEST_F(DuplicateRoutesTest, RulesChooseTheOneToKeep) {
  Begin();
  EXPECT_EQ(Groups("?kind=exact&prefer_folder=copies")[0]["keep"], IdOf("copies/exact2.jpg"));
  EXPECT_EQ(Groups("?kind=similar&rule=oldest")[0]["keep"], IdOf("edited1.jpg"));
  ExpectProblem(Get("/v1/libraries/photos/duplicates?rule=best"), 400, "invalid_argument",
                "pixels");
}

// Whoever may read is not told what else there is on the machine.
TEST_F(DuplicateRoutesTest, PreferredFoldersAreThoseOfTheLibrary) {
  std::filesystem::create_directories(folder.base() / "elsewhere/inside");
  std::filesystem::create_directory_symlink(folder.base() / "elsewhere", folder.root() / "link");
  Begin();
  const std::string base = folder.base().string(), root = folder.root().string();
  for (const std::string& fine : {root, root + "/copies", std::string("copies/../copies/")}) {
    EXPECT_EQ(Groups("?kind=exact&prefer_folder=" + fine).size(), 1U) << fine;
  }
  EXPECT_EQ(Groups("?kind=exact&prefer_folder=" + root + "/copies")[0]["keep"],
            IdOf("copies/exact2.jpg"));
  for (const std::string& other :
       {base + "/elsewhere", base + "/nothing", base, std::string("../elsewhere"),
        std::string("../nothing"), std::string("link/inside"), std::string("link/nothing"),
        std::string("nothing"), std::string("other.jpg")}) {
    const std::string words = fmt::format("there is no folder \"{}\" in the library", other);
    ExpectProblem(Get("/v1/libraries/photos/duplicates?prefer_folder=" + other), 404, "not_found",
                  words);
    ExpectProblem(
        Post(
            "/v1/libraries/photos/duplicates/decisions",
            json{{"action", "keep_suggested"}, {"kind", "exact"}, {"prefer_folder", other}}.dump()),
        404, "not_found", words);
  }
}

// The description and the library must not drift apart.
TEST_F(DuplicateRoutesTest, EveryRuleOfTheDescriptionCanBeAskedFor) {
  Begin();
  const json description = GetJson("/openapi.json");
  std::set<std::string> described, known;
  for (const json& rule : description["components"]["schemas"]["Rule"]["enum"]) {
    const std::string& name = *described.insert(rule.get<std::string>()).first;
    EXPECT_EQ(Groups("?kind=exact&rule=" + name).size(), 1U) << name;
    const json suggested = Decide(
        {{"action", "keep_suggested"}, {"kind", "exact"}, {"rule", name}, {"preview", true}});
    EXPECT_EQ(suggested["gone"].size(), 1U) << name;
  }
  for (const KeepRule rule : KeepRulesToAskFor()) known.insert(NameOf(rule));
  EXPECT_EQ(known.erase("folder"), 1U);  // that is the parameter prefer_folder
  EXPECT_EQ(described, known);
  ExpectProblem(Get("/v1/libraries/photos/duplicates?rule=folder"), 400, "invalid_argument",
                "pixels, size, oldest, format, path");
}

TEST_F(DuplicateRoutesTest, PagesOfGroups) {
  folder.Write("more1.jpg", FakePicture(0xff0000));
  folder.Write("more2.jpg", FakePicture(0xff0000));
  folder.Update();
  Begin();
  const json first = GetJson("/v1/libraries/photos/duplicates?limit=1");
  EXPECT_EQ(first["total"], 2);
  EXPECT_EQ(first["groups"][0]["members"][0]["picture"]["path"], "exact1.jpg");
  const std::string next =
      "/v1/libraries/photos/duplicates?limit=1&cursor=" + first["next"].get<std::string>();
  const json second = GetJson(next);
  EXPECT_EQ(second["groups"][0]["members"][0]["picture"]["path"], "more1.jpg");
  EXPECT_TRUE(second["next"].is_null());
}

TEST_F(DuplicateRoutesTest, WithoutLeaveAScriptIsWritten) {
  Begin();
  const json decision = Decide({{"action", "keep"},
                                {"keep", {IdOf("exact1.jpg")}},
                                {"pictures", {IdOf("exact1.jpg"), IdOf("copies/exact2.jpg")}}});
  EXPECT_EQ(decision["moved"], false);
  EXPECT_TRUE(IsThere("copies/exact2.jpg"));
  EXPECT_EQ(Groups().size(), 0U);
  const std::string script = testing::BodyOf(Get("/v1/libraries/photos/duplicates/script"));
  EXPECT_NE(script.find("keep './exact1.jpg'\nmove './copies/exact2.jpg'"), std::string::npos);
  EXPECT_EQ(Undo(decision["id"])["undone"], true);
  EXPECT_EQ(Groups().size(), 1U);
  EXPECT_EQ(testing::BodyOf(Get("/v1/libraries/photos/duplicates/script")).find("\nkeep '"),
            std::string::npos);
}

TEST_F(DuplicateRoutesTest, WithLeaveTheyGoToTheTrashAndComeBack) {
  Begin({.allow_changes = true});
  const json decision =
      Decide({{"action", "keep_suggested"}, {"kind", "exact"}, {"rule", "pixels"}});
  EXPECT_EQ(decision["moved"], true);
  EXPECT_EQ(decision["failures"].size(), 0U);
  EXPECT_FALSE(IsThere("copies/exact2.jpg"));
  EXPECT_TRUE(IsThere("exact1.jpg"));
  EXPECT_TRUE(IsThere(".bitpool/trash/000001/copies/exact2.jpg"));
  EXPECT_EQ(GetJson("/v1/libraries/photos")["pictures"], 4);
  EXPECT_EQ(GetJson("/v1/libraries/photos")["trash"], 1);
  EXPECT_EQ(Groups().size(), 0U);
  // Also after a restart.
  Begin({.allow_changes = true});
  EXPECT_EQ(Undo(decision["id"])["undone"], true);
  EXPECT_TRUE(IsThere("copies/exact2.jpg"));
  EXPECT_EQ(GetJson("/v1/libraries/photos")["trash"], 0);
  ExpectProblem(Ask({.method = "DELETE", .target = "/v1/libraries/photos/duplicates/decisions/1"}),
                409, "conflict", "undone");
  service->Stop();
}

TEST_F(DuplicateRoutesTest, ThumbnailsGoWithTheirPictures) {
  Begin({.allow_changes = true});
  const LibraryThumbnails thumbnails(Env::Posix(), LibraryFolder(folder.library()));
  const uint64_t gone = IdOf("other.jpg");
  EXPECT_TRUE(std::ranges::binary_search(thumbnails.List(), gone));
  Decide({{"action", "trash"}, {"pictures", {gone}}});
  EXPECT_FALSE(std::ranges::binary_search(thumbnails.List(), gone));
  EXPECT_EQ(thumbnails.List().size(), 4U);
}

TEST_F(DuplicateRoutesTest, NothingIsReplacedWhenItComesBack) {
  Begin({.allow_changes = true});
  const json decision = Decide({{"action", "trash"}, {"pictures", {IdOf("other.jpg")}}});
  EXPECT_FALSE(IsThere("other.jpg"));
  folder.Write("other.jpg", "somebody put another one here");
  const json undone = Undo(decision["id"]);
  EXPECT_EQ(undone["undone"], false);
  EXPECT_EQ(undone["failures"][0]["path"], "other.jpg");
  EXPECT_TRUE(IsThere(".bitpool/trash/000001/other.jpg"));
  folder.Remove("other.jpg");
  EXPECT_EQ(Undo(decision["id"])["undone"], true);
  EXPECT_TRUE(IsThere("other.jpg"));
  service->Stop();
}

TEST_F(DuplicateRoutesTest, WithoutLeaveNothingIsMoved) {
  Begin();
  ExpectProblem(Post("/v1/libraries/photos/duplicates/decisions",
                     json{{"action", "trash"}, {"pictures", {IdOf("other.jpg")}}}.dump()),
                403, "changes_not_allowed");
  EXPECT_TRUE(IsThere("other.jpg"));
}

TEST_F(DuplicateRoutesTest, APreviewChangesNothing) {
  Begin({.allow_changes = true});
  const json preview = Decide({{"action", "keep_suggested"}, {"kind", "exact"}, {"preview", true}});
  EXPECT_EQ(preview["id"], "");
  EXPECT_EQ(preview["gone"].size(), 1U);
  EXPECT_EQ(preview["bytes"], FakePicture(0xff00).size());
  EXPECT_TRUE(IsThere("copies/exact2.jpg"));
  EXPECT_EQ(GetJson("/v1/libraries/photos/duplicates/decisions")["decisions"].size(), 0U);
}

TEST_F(DuplicateRoutesTest, NotDuplicatesStaysDecidedUntilItIsUndone) {
  Begin();
  const json decision = Decide(
      {{"action", "not_duplicates"}, {"pictures", {IdOf("edited1.jpg"), IdOf("edited2.jpg")}}});
  EXPECT_EQ(Groups("?kind=similar").size(), 0U);
  Begin();
  EXPECT_EQ(Groups("?kind=similar").size(), 0U);
  EXPECT_EQ(GetJson("/v1/libraries/photos/duplicates/decisions")["decisions"][0]["action"],
            "not_duplicates");
  Undo(decision["id"]);
  EXPECT_EQ(Groups("?kind=similar").size(), 1U);
}

TEST_F(DuplicateRoutesTest, ADecisionThatCannotBeNotedIsTakenBack) {
  Begin();
  folder.Write(".bitpool/decisions", "no folder");
  const json body = {{"action", "not_duplicates"},
                     {"pictures", {IdOf("edited1.jpg"), IdOf("edited2.jpg")}}};
  EXPECT_NE(Post("/v1/libraries/photos/duplicates/decisions", body.dump()).status, 200);
  EXPECT_TRUE(folder.Open().catalogue().Decisions().empty());
  EXPECT_EQ(Groups("?kind=similar").size(), 1U);
}

TEST_F(DuplicateRoutesTest, WhatTwoDecisionsSayIsForgottenWithTheSecond) {
  Begin();
  const json body = {{"action", "not_duplicates"},
                     {"pictures", {IdOf("edited1.jpg"), IdOf("edited2.jpg")}}};
  const json first = Decide(body), second = Decide(body);
  Undo(first["id"]);
  EXPECT_EQ(Groups("?kind=similar").size(), 0U);
  Undo(second["id"]);
  EXPECT_EQ(Groups("?kind=similar").size(), 1U);
}

TEST_F(DuplicateRoutesTest, WhatWasDecidedElsewhereStays) {
  const std::vector<uint64_t> ids = {IdOf("edited1.jpg"), IdOf("edited2.jpg")};
  PictureLibrary::Open(Env::Posix(), folder.library())->DecideNotDuplicates(ids);
  Begin();
  Undo(Decide({{"action", "not_duplicates"}, {"pictures", ids}})["id"]);
  EXPECT_EQ(folder.Open().catalogue().Decisions().size(), 1U);
}

// Whatever a file of a decision has become, the server starts and answers, and no file is replaced.
TEST_F(DuplicateRoutesTest, DamagedFilesOfDecisionsDoNoHarm) {
  Begin();
  Decide({{"action", "keep"},
          {"keep", {IdOf("exact1.jpg")}},
          {"pictures", {IdOf("exact1.jpg"), IdOf("copies/exact2.jpg")}}});
  const std::filesystem::path file = folder.library() / "decisions" / "000001.json";
  const std::string good = testing::ToString(Env::Posix().Read(file, 1 << 20));
  const auto expect_answers = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
    Begin();
    for (const char* what : {"", "/decisions", "/script"}) {
      EXPECT_EQ(Get(std::string("/v1/libraries/photos/duplicates") + what).status, 200) << content;
    }
  };
  for (size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ (i % 2 == 0 ? 0x01 : 0x10));
    expect_answers(damaged);
    if (i % 5 == 0) expect_answers(good.substr(0, i));
  }
  json stored = json::parse(good);
  stored["keeper"] = {999};  // the place of a picture that was kept
  expect_answers(stored.dump());
  stored["keeper"] = {0, 0, 0};
  expect_answers(stored.dump());
  EXPECT_EQ(Decide({{"action", "keep"},
                    {"keep", {IdOf("edited1.jpg")}},
                    {"pictures", {IdOf("edited1.jpg"), IdOf("edited2.jpg")}}})["id"],
            "2");
  EXPECT_EQ(testing::ToString(Env::Posix().Read(file, 1 << 20)), stored.dump());
}

TEST_F(DuplicateRoutesTest, BadDecisionsAreNamed) {
  Begin();
  const auto refused = [&](const json& body, const std::string& words) {
    ExpectProblem(Post("/v1/libraries/photos/duplicates/decisions", body.dump()), 400,
                  "invalid_argument", words);
  };
  refused({{"action", "delete"}}, "action");
  refused({{"action", 3}}, "type");
  refused({{"action", "keep"}, {"keep", {1}}}, "pictures");
  refused({{"action", "keep"}, {"keep", json::array()}, {"pictures", {1}}}, "keep");
  refused({{"action", "not_duplicates"}, {"pictures", {1}}}, "two or more");
  refused({{"action", "keep_suggested"}, {"kind", "all"}}, "kind");
  refused({{"action", "keep_suggested"}, {"kind", "exact"}, {"rule", "x"}}, "rule");
  refused(
      {{"action", "not_duplicates"}, {"pictures", {IdOf("exact1.jpg"), IdOf("copies/exact2.jpg")}}},
      "same");
  ExpectProblem(Post("/v1/libraries/photos/duplicates/decisions",
                     json{{"action", "trash"}, {"pictures", {999}}}.dump()),
                404, "not_found", "999");
}

}  // namespace
}  // namespace bitpool
