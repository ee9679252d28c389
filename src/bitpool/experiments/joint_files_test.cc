#include "bitpool/experiments/joint_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/testing.h"
#include "bitpool/reproduction/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;

void WriteFeatures(const std::filesystem::path& path, const FeatureSet& set,
                   const std::function<std::string(Index image)>& name) {
  FeatureFileWriter writer(Env::Posix(), path, set.dimension(), Precision::kSingle, IfExists::kFail,
                           set.images_per_picture());
  MatrixF descriptors;
  for (Index image = 0; image < set.size(); ++image) {
    set.Read(image, descriptors);
    writer.Append(name(image), descriptors);
  }
  writer.Commit({});
}

// Names as those of INRIA Holidays: six scenes of four pictures; views have that of their picture
// with a number.
std::string HolidaysName(Index picture, Index view) {
  const std::string name = fmt::format("{}.jpg", 100000 + 100 * (picture % 6) + picture / 6);
  return view == 0 ? name : fmt::format("{}#{}", name, view);
}

TEST(JointFiles, ViewsAreLearnedFromButNotSearched) {
  const TempFolder folder;
  constexpr Index kSearched = 24, kViews = 2;
  const MemoryFeatureSet training = WithSmallChanges(SmallScenes(60, 8, 6, 1), 60, kViews);
  const MemoryFeatureSet searched = SmallScenes(kSearched, 8, 6, 2);
  WriteFeatures(folder / "train.bpf", training, [&](Index image) { return training.name(image); });
  WriteFeatures(folder / "plain.bpf", searched, [](Index image) { return HolidaysName(image, 0); });
  WriteFeatures(folder / "views.bpf", WithSmallChanges(searched, kSearched, kViews),
                [](Index image) { return HolidaysName(image / 3, image % 3); });
  const auto run = [&](const char* database) {
    JointOptions options;
    options.bits = {8};
    options.methods = {"itq"};
    options.seeds = 1;
    options.constants["sav"].options["epochs"] = 4;
    return RunJointOnFiles(Env::Posix(), options,
                           {.training = folder / "train.bpf",
                            .database = folder / database,
                            .queries = {},
                            .holidays = true,
                            .truth = {},
                            .labels = {},
                            .query_labels = {},
                            .scratch = folder / "scratch"},
                           RunContext({.threads = 2}), [](const std::string&) {});
  };
  const Experiment plain = run("plain.bpf"), with_views = run("views.bpf");
  EXPECT_EQ(plain.data["database_images"], kSearched);
  EXPECT_EQ(plain.data["queries"], 6);
  EXPECT_EQ(plain.data["views"], kViews);
  EXPECT_EQ(with_views.data["database_images"], kSearched);
  ASSERT_EQ(plain.results.size(), 3U * 5) << "itq, and our own two";
  for (size_t i = 0; i < plain.results.size(); ++i) {
    if (plain.results[i].metric == "training_seconds") continue;
    EXPECT_EQ(plain.results[i].mean, with_views.results[i].mean) << plain.results[i].metric;
  }
}

}  // namespace
}  // namespace bitpool
