#include "bitpool/experiments/retrieval_experiment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bitpool/image/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using testing::ExpectError;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::SpottedPicture;
using testing::TempFolder;
using testing::WriteBytes;
using testing::WriteText;

constexpr Index kWidth = 160, kHeight = 120;  // of a scene

Picture Scene(uint64_t seed) { return SpottedPicture(2 * kWidth, 2 * kHeight, seed); }
Picture SmallScene(uint64_t seed) { return ScaleToFit(Scene(seed), kWidth); }

// Four pictures of one size in one: the first two above, the others below.
Picture FourInOne(const std::vector<Picture>& parts) {
  const Index width = parts[0].width, height = parts[0].height;
  Picture all = {.width = 2 * width, .height = 2 * height, .pixels = {}};
  for (Index y = 0; y < all.height; ++y) {
    for (size_t side = 0; side < 2; ++side) {
      const Picture& part = parts[y < height ? side : 2 + side];
      const auto row = part.pixels.begin() + 3 * (y % height) * width;
      all.pixels.insert(all.pixels.end(), row, row + 3 * width);
    }
  }
  return all;
}

// As a camera that was held sideways stores it: lying, with a note that it is to be turned.
std::vector<std::byte> LyingJpeg(const Picture& upright) {
  const auto image = testing::ImageOf(upright);
  VipsImage* lying = nullptr;
  CheckVips(vips_rot(image.get(), &lying, VIPS_ANGLE_D270, nullptr));
  const VipsImagePtr owner(lying);
  vips_image_set_int(lying, VIPS_META_ORIENTATION, 6);
  return testing::Encoded(lying, ".jpg[Q=90]");
}

class RetrievalExperimentTest : public ::testing::Test {
 protected:
  RetrievalExperimentTest() {
    for (uint64_t i = 0; i < 20; ++i) {
      WriteBytes(folder_ / fmt::format("training/{}.jpg", i), Jpeg(SmallScene(100 + i), 90));
    }
    set_.pictures = folder_ / "pictures";
    set_.training = folder_ / "training";
    options_.work = folder_ / "work";
    options_.extractor.kind = "dense";
    options_.extractor.dense.step = 8;
    options_.extractor.dense.bin_sizes = {4};
    options_.embedding.anchors = 2;
    options_.joint.bits = {8};
    options_.joint.methods = {"itq"};
    options_.joint.seeds = 1;
  }

  static std::vector<std::byte> Jpeg(const Picture& picture, int quality) {
    return EncodeJpeg(picture, quality);
  }
  void AddPicture(const std::string& name, std::span<const std::byte> bytes) {
    WriteBytes(set_.pictures / name, bytes);
  }

  Experiment Run() {
    said_.clear();
    return RunRetrievalExperiment(Env::Posix(), options_, set_, RunContext({.threads = 2}),
                                  [&](const std::string& line) { said_.push_back(line); });
  }
  double CosineMap() { return Run().data["gmp_cosine_mAP"].get<double>(); }

  // A set like Oxford: one picture of four scenes, each with its box as a query. Each scene is
  // there once more as it is, which is to be ignored, and once badly saved, which is right.
  void MakeOxford(std::span<const std::byte> four_in_one, double scene_width, double scene_height) {
    set_.name = "oxford5k";
    set_.truth = folder_ / "truth";
    AddPicture("four.jpg", four_in_one);
    for (int i = 0; i < 4; ++i) {
      AddPicture(fmt::format("same_{}.jpg", i), Jpeg(SmallScene(i), 95));
      AddPicture(fmt::format("bad_{}.jpg", i), Jpeg(SmallScene(i), 15));
      WriteBox(i, i % 2 * scene_width, i / 2 * scene_height, scene_width, scene_height);
      WriteTruth(fmt::format("scene_{}_good.txt", i), fmt::format("bad_{}\n", i));
      WriteTruth(fmt::format("scene_{}_ok.txt", i), "");
      WriteTruth(fmt::format("scene_{}_junk.txt", i), fmt::format("same_{}\nfour\n", i));
    }
  }
  void WriteBox(int query, double left, double top, double width, double height) {
    WriteTruth(fmt::format("scene_{}_query.txt", query),
               fmt::format("oxc1_four {} {} {} {}\n", left, top, left + width, top + height));
  }
  void WriteTruth(const std::string& name, const std::string& text) {
    WriteText(set_.truth / name, text);
  }

  const TempFolder folder_;
  RetrievalSet set_;
  RetrievalOptions options_;
  std::vector<std::string> said_;
};

// --- Holidays -----------------------------------------------------------------------------------

TEST_F(RetrievalExperimentTest, HolidaysFindsTheOtherPicturesOfAGroup) {
  for (const int group : {1000, 1001, 1002}) {
    const Picture scene = SmallScene(static_cast<uint64_t>(group));
    AddPicture(fmt::format("{}00.jpg", group), Jpeg(scene, 95));
    AddPicture(fmt::format("{}01.jpg", group), Jpeg(scene, 30));
  }
  AddPicture("100300.jpg", Jpeg(SmallScene(7), 90));  // alone in its group: not a query
  WriteText(set_.pictures / "100400.jpg", "no picture");
  const Experiment experiment = Run();
  EXPECT_NEAR(experiment.data["gmp_cosine_mAP"].get<double>(), 100, 1e-6);
  EXPECT_EQ(experiment.data["set"], "holidays");
  EXPECT_EQ(experiment.data["database_images"], 7);
  EXPECT_EQ(experiment.data["queries"], 3);
  EXPECT_EQ(experiment.data["training_images"], 20);
  EXPECT_THAT(said_, Contains(AllOf(HasSubstr("100400.jpg"), HasSubstr("text; expected"))));
}

// --- Oxford -------------------------------------------------------------------------------------

TEST_F(RetrievalExperimentTest, OxfordAsksForWhatIsInTheBox) {
  std::vector<Picture> scenes;
  for (int i = 0; i < 4; ++i) scenes.push_back(SmallScene(i));
  MakeOxford(Jpeg(FourInOne(scenes), 90), kWidth, kHeight);
  EXPECT_NEAR(CosineMap(), 100, 1e-6);

  // What was cut out decides: with every box on the scene beside its own, nothing is right first.
  for (int i = 0; i < 4; ++i) {
    const int other = i ^ 1;
    WriteBox(i, other % 2 * kWidth, other / 2 * kHeight, kWidth, kHeight);
  }
  EXPECT_LT(CosineMap(), 50);
}

// A junk picture that counted would stand before the right one.
TEST_F(RetrievalExperimentTest, OxfordIgnoresJunk) {
  std::vector<Picture> scenes;
  for (int i = 0; i < 4; ++i) scenes.push_back(SmallScene(i));
  MakeOxford(Jpeg(FourInOne(scenes), 90), kWidth, kHeight);
  for (int i = 0; i < 4; ++i) WriteTruth(fmt::format("scene_{}_junk.txt", i), "");
  EXPECT_LT(CosineMap(), 60);
}

// The boxes are in pixels of the file; the picture is seen at half its size.
TEST_F(RetrievalExperimentTest, BoxesFollowAPictureThatIsScaledDown) {
  std::vector<Picture> scenes;
  for (int i = 0; i < 4; ++i) scenes.push_back(Scene(i));
  MakeOxford(Jpeg(FourInOne(scenes), 90), 2 * kWidth, 2 * kHeight);
  options_.extractor.max_side = 2 * kWidth;
  EXPECT_NEAR(CosineMap(), 100, 1e-6);
}

// The boxes are in pixels of the upright picture.
TEST_F(RetrievalExperimentTest, BoxesAreOfTheUprightPicture) {
  std::vector<Picture> scenes;
  for (int i = 0; i < 4; ++i) scenes.push_back(Scene(i));
  MakeOxford(LyingJpeg(FourInOne(scenes)), 2 * kWidth, 2 * kHeight);
  options_.extractor.max_side = 2 * kWidth;
  EXPECT_NEAR(CosineMap(), 100, 1e-6);
}

TEST_F(RetrievalExperimentTest, AnEmptyBoxIsNamed) {
  std::vector<Picture> parts(4, testing::UniformPicture(kWidth, kHeight));
  parts[0] = SmallScene(0);
  MakeOxford(Jpeg(FourInOne(parts), 90), kWidth, kHeight);
  ExpectError(ErrorCode::kInvalidArgument, {"scene_1", "no local features"}, [&] { Run(); });
}

// --- Features that are kept ---------------------------------------------------------------------

TEST_F(RetrievalExperimentTest, FeaturesAreExtractedOnce) {
  for (const int number : {100000, 100001}) {
    AddPicture(fmt::format("{}.jpg", number), Jpeg(SmallScene(5), 90));
  }
  AddPicture("100100.jpg", Jpeg(SmallScene(6), 90));
  const double first = CosineMap();
  EXPECT_THAT(said_, Contains(HasSubstr("describing the pictures of")).Times(2));
  EXPECT_EQ(CosineMap(), first);
  EXPECT_THAT(said_, Each(Not(HasSubstr("describing"))));

  // One folder changed, then the way of describing, which concerns both.
  AddPicture("100101.jpg", Jpeg(SmallScene(6), 60));
  Run();
  EXPECT_THAT(said_, Contains(HasSubstr("describing the pictures of")).Times(1));
  options_.extractor.dense.step = 6;
  Run();
  EXPECT_THAT(said_, Contains(HasSubstr("describing the pictures of")).Times(2));
}

// --- Views --------------------------------------------------------------------------------------

TEST_F(RetrievalExperimentTest, WithViewsOurOwnMethodsJoinAndTheOthersStayAsTheyWere) {
  for (const int group : {1000, 1001, 1002}) {
    const Picture scene = SmallScene(static_cast<uint64_t>(group));
    AddPicture(fmt::format("{}00.jpg", group), Jpeg(scene, 95));
    AddPicture(fmt::format("{}01.jpg", group), Jpeg(scene, 30));
  }
  const auto map_of = [](const Experiment& experiment, const std::string& method) {
    for (const ExperimentResult& result : experiment.results) {
      if (result.method == method && result.metric == kMap) return result.mean;
    }
    return -1.0;
  };
  options_.embedding.dropped = 224;  // of 256 dimensions: twenty pictures tell no more
  const Experiment plain = Run();
  options_.views.count = 2;
  options_.joint.constants["sav"].options["epochs"] = 4;
  const Experiment experiment = Run();
  EXPECT_THAT(said_, Contains(HasSubstr("describing the pictures of")).Times(1)) << "with views";
  EXPECT_EQ(experiment.data["training_images"], 20);
  EXPECT_EQ(experiment.data["pictures_with_views"], 20);
  EXPECT_EQ(experiment.data["views"], 2);
  EXPECT_EQ(experiment.data["view_plan"]["kind"], "scenes");
  EXPECT_EQ(map_of(experiment, "itq"), map_of(plain, "itq"));
  EXPECT_EQ(experiment.data["gmp_cosine_mAP"], plain.data["gmp_cosine_mAP"]);
  EXPECT_GT(map_of(experiment, "itq+views"), 0);
  EXPECT_GT(map_of(experiment, "sav"), 0);
}

// --- What is refused ----------------------------------------------------------------------------

TEST_F(RetrievalExperimentTest, RefusesWhatMakesNoSense) {
  set_.truth = folder_ / "truth";
  ExpectError(ErrorCode::kInvalidArgument, {"none for holidays"}, [&] { Run(); });
  set_.truth.clear();
  set_.name = "paris6k";
  ExpectError(ErrorCode::kInvalidArgument, {"ground-truth files"}, [&] { Run(); });
  set_.name = "holidays";
  ExpectError(ErrorCode::kNotFound, {"pictures"}, [&] { Run(); });
  AddPicture("cat.jpg", Jpeg(SmallScene(1), 90));
  ExpectError(ErrorCode::kInvalidArgument, {"cat"}, [&] { Run(); });
  fs::rename(set_.pictures / "cat.jpg", set_.pictures / "100000.jpg");
  ExpectError(ErrorCode::kInvalidArgument, {"quer"}, [&] { Run(); });  // there are no queries
  options_.sample = 0;
  ExpectError(ErrorCode::kInvalidArgument, {"at least one descriptor"}, [&] { Run(); });
  options_.sample = 1000;
  options_.joint.methods = {"best"};
  ExpectError(ErrorCode::kInvalidArgument, {"best"}, [&] { Run(); });
}

TEST_F(RetrievalExperimentTest, RefusesTrainingPicturesWithoutFeatures) {
  AddPicture("100000.jpg", Jpeg(SmallScene(5), 90));
  AddPicture("100001.jpg", Jpeg(SmallScene(5), 60));
  set_.training = folder_ / "uniform";
  WriteBytes(set_.training / "grey.jpg", Jpeg(testing::UniformPicture(64, 64), 90));
  ExpectError(ErrorCode::kInvalidArgument, {"uniform"}, [&] { Run(); });
}

}  // namespace
}  // namespace bitpool
