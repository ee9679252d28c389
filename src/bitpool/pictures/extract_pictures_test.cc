#include "bitpool/pictures/extract_pictures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bitpool/base/half.h"
#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::SpottedJpeg;
using testing::TempFolder;
using testing::UniformPicture;
using testing::WriteBytes;
using testing::WriteText;

PictureDescriber Describer(Index max_regions = 50) {
  ExtractorSettings settings;
  settings.max_side = 96;
  settings.hesaff.max_regions = max_regions;
  return {settings, {}, std::nullopt};
}

PictureExtraction Job(const TempFolder& folder) {
  PictureExtraction job;
  job.folder = folder / "pictures";
  job.output = folder / "out.bpf";
  job.part_size = 4;
  return job;
}

// Names that are not in the order they were written; the last is not UTF-8.
std::vector<std::string> WriteSpots(const TempFolder& folder) {
  std::vector<std::string> names;
  for (int i = 0; i < 9; ++i) {
    names.push_back((i % 2 == 0 ? "even/" : "odd/") + std::to_string(9 - i) + ".jpg");
  }
  names.emplace_back("\xff.JPG");
  for (size_t i = 0; i < names.size(); ++i) {
    WriteBytes(folder / ("pictures/" + names[i]), SpottedJpeg(i, 96, 72));
  }
  return names;
}

// The numbers as a file in half precision holds them.
MatrixF Rounded(MatrixF values) {
  for (float& value : values.reshaped()) value = HalfToFloat(FloatToHalf(value));
  return values;
}

std::vector<std::string> FilesIn(const TempFolder& folder) {
  return Env::Posix().List(folder.path());
}

std::string Content(const fs::path& path) {
  return testing::ToString(Env::Posix().Read(path, uint64_t{1} << 30));
}

// Asks to stop when this many pictures are done.
class StopAfter : public ProgressSink {
 public:
  StopAfter(std::stop_source& source, uint64_t pictures) : source_(source), pictures_(pictures) {}
  void Report(const ProgressUpdate& update) override {
    if (update.task == "describing" && update.done >= pictures_) source_.request_stop();
  }

 private:
  std::stop_source& source_;
  uint64_t pictures_;
};

void ExtractUntil(uint64_t pictures, const PictureExtraction& job) {
  std::stop_source stop;
  const RunContext context({.threads = 1,
                            .stop = stop.get_token(),
                            .progress = std::make_shared<StopAfter>(stop, pictures)});
  ExpectError(ErrorCode::kCancelled, {},
              [&] { ExtractPictures(Env::Posix(), Describer(), job, context); });
}

TEST(ExtractPictures, WritesWhatTheExtractorFindsInOrder) {
  const TempFolder folder;
  std::vector<std::string> names = WriteSpots(folder);
  std::ranges::sort(names);
  const ExtractedPictures result =
      ExtractPictures(Env::Posix(), Describer(), Job(folder), RunContext({.threads = 2}));
  EXPECT_EQ(result.pictures, 10);
  EXPECT_TRUE(result.failed.empty());
  EXPECT_THAT(FilesIn(folder), ::testing::ElementsAre("out.bpf", "pictures"));

  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder / "out.bpf");
  EXPECT_EQ(file.about().at("extractor").at("kind"), "hesaff");
  EXPECT_EQ(file.precision(), Precision::kHalf);
  ASSERT_EQ(file.size(), 10);
  HessianAffineOptions regions;
  regions.max_regions = 50;
  Index descriptors = 0;
  for (Index i = 0; i < 10; ++i) {
    const std::string& name = names[static_cast<size_t>(i)];
    EXPECT_EQ(file.name(i), name);
    const Picture picture =
        DecodePicture(Env::Posix().Read(folder / ("pictures/" + name), 1 << 20), {.max_side = 96});
    MatrixF stored;
    file.Read(i, stored);
    EXPECT_GT(stored.cols(), 5);
    EXPECT_TRUE(SameBits(stored, Rounded(HessianAffineSift(regions).Extract(picture))));
    descriptors += stored.cols();
  }
  EXPECT_EQ(result.descriptors, descriptors);
}

TEST(ExtractPictures, TheSameFileAtAnyNumberOfThreadsAndSizeOfParts) {
  const TempFolder folder;
  WriteSpots(folder);
  PictureExtraction job = Job(folder);
  ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 1}));
  const std::string expected = Content(job.output);
  job.if_exists = IfExists::kReplace;
  for (const Index part_size : {1, 3, 10, 1000}) {
    job.part_size = part_size;
    ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 2}));
    EXPECT_EQ(Content(job.output), expected);
  }
}

TEST(ExtractPictures, EmbedsWhereTheDescriberDoes) {
  const TempFolder folder;
  WriteSpots(folder);
  Random random(1);
  const MatrixF sample = random.NormalMatrix(128, 600);
  const TriangulationEmbedding embedding =
      TrainTriangulation({.anchors = 2}, MatrixColumns(sample), RunContext()).model;
  const PictureDescriber embedding_describer = Describer().WithEmbedding(embedding);
  EXPECT_NE(embedding_describer.digest(), Describer().digest());
  ExtractPictures(Env::Posix(), embedding_describer, Job(folder), RunContext());
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder / "out.bpf");
  EXPECT_EQ(file.about().at("embedded"), true);
  MatrixF stored;
  file.Read(0, stored);
  const Picture picture =
      Describer().Decode(Env::Posix().Read(folder / ("pictures/" + file.name(0)), 1 << 20));
  EXPECT_TRUE(SameBits(stored, Rounded(embedding.Apply(Describer().Describe(picture)))));
}

TEST(ExtractPictures, LeavesOutAndReportsWhatFails) {
  const TempFolder folder;
  WriteSpots(folder);
  const auto jpeg = SpottedJpeg(1);
  WriteBytes(folder / "pictures/cut.jpg", std::span(jpeg).first(jpeg.size() / 2));
  WriteText(folder / "pictures/even/text.jpg", "no picture");
  WriteText(folder / "pictures/a-empty.jpg", "");
  WriteBytes(folder / "pictures/odd/plain.jpg", EncodeJpeg(UniformPicture(96, 72), 90));
  fs::create_symlink("nowhere", folder / "pictures/link.jpg");
  const ExtractedPictures result =
      ExtractPictures(Env::Posix(), Describer(), Job(folder), RunContext());
  EXPECT_EQ(result.pictures, 10);
  std::vector<std::string> failed;
  for (const FailedPicture& picture : result.failed) {
    EXPECT_FALSE(picture.reason.empty());
    failed.push_back(picture.path.lexically_relative(folder / "pictures").string());
  }
  EXPECT_THAT(failed, ::testing::ElementsAre("link.jpg", "a-empty.jpg", "cut.jpg", "even/text.jpg",
                                             "odd/plain.jpg"));
  EXPECT_EQ(FeatureFile::Open(Env::Posix(), folder / "out.bpf").size(), 10);
}

TEST(ExtractPictures, GoesOnAfterAnInterruption) {
  const TempFolder folder;
  WriteSpots(folder);
  WriteText(folder / "pictures/even/0.jpg", "no picture");  // the first of all
  PictureExtraction job = Job(folder);
  ExtractPictures(Env::Posix(), Describer(), job, RunContext());
  const std::string expected = Content(job.output);
  fs::remove(job.output);

  ExtractUntil(7, job);
  EXPECT_THAT(FilesIn(folder), ::testing::ElementsAre("out.bpf.part-00000", "pictures"));
  job.resume = true;
  const ExtractedPictures result =
      ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 2}));
  EXPECT_EQ(result.resumed, 4);
  EXPECT_EQ(result.pictures, 10);
  ASSERT_EQ(result.failed.size(), 1U) << "failures of parts from before are reported too";
  EXPECT_EQ(result.failed[0].path, folder / "pictures/even/0.jpg");
  EXPECT_EQ(Content(job.output), expected);
  EXPECT_THAT(FilesIn(folder), ::testing::ElementsAre("out.bpf", "pictures"));
}

TEST(ExtractPictures, PartsOfOtherPicturesOrAnotherWayAreNotUsed) {
  const TempFolder folder;
  const std::vector<std::string> names = WriteSpots(folder);
  PictureExtraction job = Job(folder);
  const auto interrupt_then = [&](const auto& change, const PictureDescriber& describer) {
    if (fs::exists(job.output)) fs::remove(job.output);
    job.resume = false;
    ExtractUntil(8, job);
    job.resume = true;
    change();
    return ExtractPictures(Env::Posix(), describer, job, RunContext()).resumed;
  };
  const auto nothing = [] {};
  EXPECT_EQ(interrupt_then(nothing, Describer()), 8);
  EXPECT_EQ(interrupt_then(nothing, Describer(49)), 0);
  EXPECT_EQ(interrupt_then([&] { fs::remove(folder / ("pictures/" + names[7])); }, Describer()), 4);
  const auto touch = [&] {
    const fs::path first = folder / "pictures/even/1.jpg";
    fs::last_write_time(first, fs::last_write_time(first) + std::chrono::seconds(1));
  };
  EXPECT_EQ(interrupt_then(touch, Describer()), 4);
  const auto damage = [&] { WriteText(folder / "out.bpf.part-00001", "no features"); };
  EXPECT_EQ(interrupt_then(damage, Describer()), 4);
  EXPECT_EQ(interrupt_then([&] { job.resume = false; }, Describer()), 0);
}

PictureExtraction JobWithViews(const TempFolder& folder, Index count) {
  PictureExtraction job = Job(folder);
  job.views = {.count = count, .kind = ViewKind::kScenes, .seed = 3};
  return job;
}

TEST(ExtractPictures, WritesTheViewsBehindTheirPicture) {
  const TempFolder folder;
  std::vector<std::string> names = WriteSpots(folder);
  std::ranges::sort(names);
  const PictureExtraction job = JobWithViews(folder, 2);
  const ExtractedPictures result =
      ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 2}));
  EXPECT_EQ(result.pictures, 10);
  EXPECT_TRUE(result.failed.empty());
  const FeatureFile file = FeatureFile::Open(Env::Posix(), job.output);
  EXPECT_EQ(file.images_per_picture(), 3);
  EXPECT_EQ(file.pictures(), 10);
  EXPECT_EQ(
      file.about().at("views"),
      (nlohmann::json{{"count", 2}, {"kind", "scenes"}, {"seed", 3}, {"version", kViewsVersion}}));
  ASSERT_EQ(file.size(), 30);
  Index descriptors = 0;
  for (Index picture = 0; picture < 10; ++picture) {
    const std::string& name = names[static_cast<size_t>(picture)];
    std::vector<Picture> images = {
        Describer().Decode(Env::Posix().Read(folder / ("pictures/" + name), 1 << 20))};
    for (Picture& view : MakeViews(images[0], job.views)) images.push_back(std::move(view));
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(file.name(3 * picture + i), i == 0 ? name : name + "#" + std::to_string(i));
      MatrixF stored;
      file.Read(3 * picture + i, stored);
      EXPECT_GT(stored.cols(), 0);
      EXPECT_TRUE(SameBits(stored, Rounded(Describer().Describe(images[static_cast<size_t>(i)]))));
      descriptors += stored.cols();
    }
  }
  EXPECT_EQ(result.descriptors, descriptors);
}

TEST(ExtractPictures, WithViewsIsTheSameAtAnyNumberOfThreadsAndSizeOfParts) {
  const TempFolder folder;
  WriteSpots(folder);
  PictureExtraction job = JobWithViews(folder, 2);
  job.views.kind = ViewKind::kCopies;
  ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 1}));
  const std::string expected = Content(job.output);
  job.if_exists = IfExists::kReplace;
  job.part_size = 3;
  ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 4}));
  EXPECT_EQ(Content(job.output), expected);
}

TEST(ExtractPictures, PartsWithOtherViewsAreNotUsed) {
  const TempFolder folder;
  WriteSpots(folder);
  const auto resumed_with = [&](const ViewPlan& plan) {
    PictureExtraction job = JobWithViews(folder, 1);
    ExtractUntil(8, job);
    job.views = plan;
    job.resume = true;
    const Index resumed = ExtractPictures(Env::Posix(), Describer(), job, RunContext()).resumed;
    EXPECT_EQ(FeatureFile::Open(Env::Posix(), job.output).size(), 10 * (1 + plan.count));
    fs::remove(job.output);
    return resumed;
  };
  const ViewPlan plan = JobWithViews(folder, 1).views;
  EXPECT_EQ(resumed_with(plan), 8);
  EXPECT_EQ(resumed_with({.count = 2, .kind = plan.kind, .seed = plan.seed}), 0);
  EXPECT_EQ(resumed_with({.count = 0, .kind = plan.kind, .seed = plan.seed}), 0);
  EXPECT_EQ(resumed_with({.count = 1, .kind = ViewKind::kClasses, .seed = plan.seed}), 0);
  EXPECT_EQ(resumed_with({.count = 1, .kind = plan.kind, .seed = 4}), 0);
}

TEST(ExtractPictures, LeavesOutFailedPicturesWithTheirViews) {
  const TempFolder folder;
  WriteSpots(folder);
  WriteText(folder / "pictures/even/text.jpg", "no picture");
  WriteBytes(folder / "pictures/odd/plain.jpg", EncodeJpeg(UniformPicture(96, 72), 90));
  const PictureExtraction job = JobWithViews(folder, 2);
  const ExtractedPictures result = ExtractPictures(Env::Posix(), Describer(), job, RunContext());
  EXPECT_EQ(result.pictures, 10);
  EXPECT_EQ(result.failed.size(), 2U);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), job.output);
  ASSERT_EQ(file.size(), 30);
  for (Index image = 0; image < 30; ++image) {
    EXPECT_EQ(file.name(image).find("text"), std::string::npos);
    EXPECT_EQ(file.name(image).find("plain"), std::string::npos);
  }
}

// All there is to see stands in a corner, which a cut may miss.
TEST(ExtractPictures, AViewWithoutFeaturesHasThoseOfItsPicture) {
  const TempFolder folder;
  Picture picture = UniformPicture(96, 72);
  const Picture spots = testing::SpottedPicture(22, 22, 5);
  for (Index y = 0; y < 22; ++y) {
    std::copy_n(spots.pixels.begin() + 3 * 22 * y, 3 * 22, picture.pixels.begin() + 3 * 96 * y);
  }
  WriteBytes(folder / "pictures/corner.png", EncodeJpeg(picture, 95));
  const PictureExtraction job = JobWithViews(folder, 24);
  ExtractPictures(Env::Posix(), Describer(), job, RunContext());
  const Picture decoded =
      Describer().Decode(Env::Posix().Read(folder / "pictures/corner.png", 1 << 20));
  const MatrixF own = Rounded(Describer().Describe(decoded));
  ASSERT_GT(own.cols(), 0);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), job.output);
  ASSERT_EQ(file.size(), 25);
  int without = 0, with = 0;
  const std::vector<Picture> views = MakeViews(decoded, job.views);
  for (Index i = 0; i < 24; ++i) {
    const MatrixF features = Describer().Describe(views[static_cast<size_t>(i)]);
    MatrixF stored;
    file.Read(1 + i, stored);
    EXPECT_TRUE(SameBits(stored, features.cols() == 0 ? own : Rounded(features)));
    ++(features.cols() == 0 ? without : with);
  }
  EXPECT_GT(without, 0) << "for the test to mean something";
  EXPECT_GT(with, 0);
}

TEST(ExtractPictures, AnyFailureOfTheDiskLeavesNoOutput) {
  const TempFolder folder;
  WriteSpots(folder);
  PictureExtraction job = Job(folder);
  testing::FaultyEnv counting(0);
  ExtractPictures(counting, Describer(), job, RunContext({.threads = 1}));
  const std::string expected = Content(job.output);
  fs::remove(job.output);
  job.resume = true;
  for (int failing = 1; failing <= counting.operations(); ++failing) {
    testing::FaultyEnv env(failing);
    bool all_read = true;
    try {
      // A picture that cannot be found or read is reported, and the others are written.
      all_read = ExtractPictures(env, Describer(), job, RunContext({.threads = 1})).failed.empty();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
    }
    if (fs::exists(job.output)) {
      EXPECT_EQ(Content(job.output) == expected, all_read) << failing;
      fs::remove(job.output);
    }
  }
  ExtractPictures(Env::Posix(), Describer(), job, RunContext({.threads = 1}));
  EXPECT_EQ(Content(job.output), expected);
}

TEST(ExtractPictures, TheEdges) {
  const TempFolder folder;
  PictureExtraction job = Job(folder);
  const auto extract = [&] {
    return ExtractPictures(Env::Posix(), Describer(), job, RunContext());
  };
  ExpectError(ErrorCode::kNotFound, {"pictures"}, extract);
  fs::create_directory(job.folder);
  ExpectError(ErrorCode::kNotFound, {"pictures", "no pictures here"}, extract);
  EXPECT_FALSE(fs::exists(job.output));
  WriteText(job.folder / "text.jpg", "no picture");
  EXPECT_EQ(extract().pictures, 0);
  EXPECT_EQ(FeatureFile::Open(Env::Posix(), job.output).size(), 0);
  ExpectError(ErrorCode::kInvalidArgument, {"out.bpf", "exists"}, extract);
  fs::remove(job.folder / "text.jpg");
  WriteSpots(folder);
  job.if_exists = IfExists::kReplace;
  job.limit = 3;
  EXPECT_EQ(extract().pictures, 3);
  job.limit = 11;
  EXPECT_EQ(extract().pictures, 10);
  job.limit = -1;
  ExpectError(ErrorCode::kInvalidArgument, {"limit"}, extract);
  job.limit = 0;
  for (const Index views : {-1, 65}) {
    job.views.count = views;
    ExpectError(ErrorCode::kInvalidArgument, {"views: expected 0 to 64"}, extract);
  }
  job.views.count = 0;
  extract();
  EXPECT_FALSE(FeatureFile::Open(Env::Posix(), job.output).about().contains("views"));
  job.part_size = 0;
  ExpectError(ErrorCode::kInvalidArgument, {"part_size"}, extract);
}

}  // namespace
}  // namespace bitpool
