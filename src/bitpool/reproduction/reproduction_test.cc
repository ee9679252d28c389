#include "bitpool/reproduction/reproduction.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/experiments/paper_figures.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pictures/picture_testing.h"
#include "bitpool/report/markup_testing.h"
#include "bitpool/reproduction/plan.h"
#include "bitpool/reproduction/testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::ExpectError;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TempFolder;
using testing::WriteText;

class ReproductionTest : public ::testing::Test {
 protected:
  Reproduction Run(const std::vector<std::string>& names = {},
                   const RunContext& context = RunContext({.threads = 2})) {
    said_.clear();
    growing_.clear();
    return RunReproduction(
        Env::Posix(), catalogue_, names, Folder(), context,
        [&](const std::string& line) { said_.push_back(line); },
        [&](const Reproduction& so_far) { growing_.push_back(so_far); });
  }

  fs::path Folder() const { return folder_ / "out"; }

  // The one file of a run.
  fs::path FileOf(const std::string& run) const {
    return Folder() / "runs" / [&] {
      for (const auto& entry : fs::directory_iterator(Folder() / "runs")) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(run)) return name;
      }
      return std::string("none");
    }();
  }

  ReproductionCatalogue catalogue_ = SmallCatalogue();
  TempFolder folder_;
  std::vector<std::string> said_;
  std::vector<Reproduction> growing_;  // what was there after every run that was made
};

double FigureOf(const Experiment& experiment, const std::string& method, int bits,
                const std::string& metric = kMap) {
  for (const ExperimentResult& result : experiment.results) {
    if (result.method == method && result.bits == bits && result.metric == metric) {
      return result.mean;
    }
  }
  return std::nan("");
}

TEST_F(ReproductionTest, MakesWhatItCanAndSaysWhatIsMissing) {
  const Reproduction found = Run();
  EXPECT_THAT(found.entries, ElementsAre("time", "accuracy", "labels"));
  ASSERT_EQ(found.runs.size(), 3U);
  EXPECT_TRUE(found.runs.at("vectors").made);
  EXPECT_TRUE(found.runs.at("labels").experiment);
  EXPECT_FALSE(found.runs.at("craters").experiment);
  EXPECT_FALSE(found.failed()) << "missing data is no failure";
  EXPECT_THAT(found.runs.at("craters").problem, HasSubstr("The moon is not here: fly there"));
  ASSERT_EQ(found.claims.size(), 1U);
  EXPECT_NE(found.claims[0].verdict, Verdict::kNotRun);
  EXPECT_EQ(found.claims[0].contrasts.size(), 2U);
  EXPECT_EQ(found.claims[0].contrasts[0].seeds, 3);
}

TEST_F(ReproductionTest, OnlyWhatIsNamedAndWhatThatUses) {
  const Reproduction found = Run({"labels"});
  EXPECT_THAT(found.entries, ElementsAre("labels"));
  EXPECT_EQ(found.runs.size(), 2U) << "labels comes after vectors";
  EXPECT_TRUE(found.claims.empty()) << "its entry was not asked for";
  ExpectError(ErrorCode::kInvalidArgument, {"\"moon\"", "time, accuracy, labels"},
              [&] { Run({"moon"}); });
}

TEST_F(ReproductionTest, TheSecondTimeNothingIsMade) {
  const Reproduction first = Run(), second = Run();
  for (const char* run : {"vectors", "labels"}) {
    EXPECT_TRUE(first.runs.at(run).made);
    EXPECT_FALSE(second.runs.at(run).made);
    EXPECT_EQ(ToJson(*first.runs.at(run).experiment), ToJson(*second.runs.at(run).experiment));
  }
  EXPECT_EQ(ReproductionResults(catalogue_, first), ReproductionResults(catalogue_, second));
}

TEST_F(ReproductionTest, TheReportGrowsWithEveryRun) {
  Run();
  ASSERT_EQ(growing_.size(), 2U) << "craters cannot be made";
  EXPECT_TRUE(growing_[0].runs.at("vectors").experiment);
  EXPECT_EQ(growing_[0].runs.at("labels").problem, "still to come");
  EXPECT_EQ(growing_[0].claims.size(), 1U);
  EXPECT_THAT(ReproductionReport(Env::Posix(), catalogue_, growing_[0], RunContext()),
              HasSubstr("Scenes: not run: still to come"));
  EXPECT_TRUE(growing_[1].runs.at("labels").experiment);
  EXPECT_TRUE(growing_[1].runs.at("labels").problem.empty());
  Run();
  EXPECT_TRUE(growing_.empty()) << "nothing was made";
  fs::remove(FileOf("vectors"));
  Run();
  ASSERT_EQ(growing_.size(), 1U);
  EXPECT_TRUE(growing_[0].runs.at("labels").experiment) << "it was complete all the time";
}

TEST_F(ReproductionTest, OnlyTheMissingRunIsMadeAnew) {
  Run();
  fs::remove(FileOf("labels"));
  const Reproduction found = Run();
  EXPECT_FALSE(found.runs.at("vectors").made);
  EXPECT_TRUE(found.runs.at("labels").made);
}

TEST_F(ReproductionTest, ADamagedRunIsMadeAnewAndThatIsSaid) {
  const Reproduction first = Run();
  fs::resize_file(FileOf("vectors"), 100);
  const Reproduction found = Run();
  EXPECT_TRUE(found.runs.at("vectors").made);
  EXPECT_FALSE(found.runs.at("labels").made);
  EXPECT_THAT(said_, ::testing::Contains(HasSubstr("started again")));
  EXPECT_EQ(FigureOf(*first.runs.at("vectors").experiment, "rba", 8),
            FigureOf(*found.runs.at("vectors").experiment, "rba", 8));
}

TEST_F(ReproductionTest, AnInterruptedRunGoesOn) {
  ExpectError(ErrorCode::kCancelled, {}, [&] { Run({}, StoppedContext("comparing", 5)); });
  nlohmann::json partial;
  std::ifstream(FileOf("vectors")) >> partial;
  EXPECT_FALSE(partial.contains("experiment"));
  EXPECT_GE(partial["figures"].size(), 5U) << "what was finished stays";
  EXPECT_LT(partial["figures"].size(), 18U);
  // A figure that no algorithm gives shows that it is not measured again.
  partial["figures"][0]["metrics"]["mAP"] = 77;
  WriteText(FileOf("vectors"), partial.dump());
  const Reproduction found = Run();
  const auto& figures = found.runs.at("vectors").figures;
  EXPECT_EQ(figures.size(), 18U);
  EXPECT_EQ(std::ranges::count_if(
                figures, [](const auto& one) { return one.second.metrics.at("mAP") == 77; }),
            1);
}

TEST_F(ReproductionTest, ARunThatFailsDoesNotStopTheOthers) {
  catalogue_.runs[1].make = [](const RunSite&) -> Experiment {
    throw Error(ErrorCode::kCorrupt, "the labels are torn");
  };
  const Reproduction found = Run();
  EXPECT_TRUE(found.runs.at("vectors").experiment);
  EXPECT_TRUE(found.failed());
  EXPECT_THAT(found.runs.at("labels").problem, HasSubstr("torn"));
  EXPECT_THAT(ReproductionReport(Env::Posix(), catalogue_, found, RunContext()), HasSubstr("torn"));
}

TEST_F(ReproductionTest, AFolderOfOtherThingsIsRefused) {
  fs::create_directories(Folder());
  Run({"time"});  // an empty folder is fine, and one of ours
  Run({"time"});
  WriteText(Folder() / "thesis.tex", "years of work");
  ExpectError(ErrorCode::kInvalidArgument, {"thesis.tex", "-o"}, [&] { Run({"time"}); });
}

TEST_F(ReproductionTest, ListsEntriesWithDataAndTime) {
  const auto before = ListEntries(Env::Posix(), catalogue_, Folder());
  ASSERT_EQ(before.size(), 3U);
  EXPECT_EQ(before[1].runs, 2);
  EXPECT_EQ(before[1].runnable, 1);
  EXPECT_EQ(before[1].minutes, 1) << "craters cannot be run";
  EXPECT_EQ(before[1].needs.size(), 2U);
  EXPECT_EQ(before[2].minutes, 3) << "its own and what it comes after";
  EXPECT_EQ(MinutesLeft(Env::Posix(), catalogue_, {}, Folder()), 3) << "each run once";
  Run({"time"});
  EXPECT_EQ(MinutesLeft(Env::Posix(), catalogue_, {}, Folder()), 2);
  EXPECT_EQ(ListEntries(Env::Posix(), catalogue_, Folder())[0].complete, 1);
}

TEST_F(ReproductionTest, ResultsHaveOursThePapersAndTheDifference) {
  const Reproduction found = Run();
  const nlohmann::json results = ReproductionResults(catalogue_, found);
  const nlohmann::json& part = results["entries"][2]["parts"][0];
  const double ours = FigureOf(*found.runs.at("labels").experiment, "sash", 8);
  bool compared = false;
  for (const nlohmann::json& one : part["differences_to_paper"]) {
    if (one["method"] != "sash") continue;
    EXPECT_DOUBLE_EQ(one["difference"].get<double>(), ours - 53.57);
    compared = true;
  }
  EXPECT_TRUE(compared);
  EXPECT_EQ(results["claims"][0]["name"], "rba-above-itq");
  const nlohmann::json& run = results["runs"]["labels"];
  EXPECT_TRUE(run["experiment"]["machine"].contains("cpu"));
  EXPECT_GT(run["seconds"], 0);
  EXPECT_EQ(run["single_runs"].size(), 6U);
  EXPECT_EQ(run["single_runs"][0]["model"].get<std::string>().size(), 32U);
  EXPECT_THAT(results["runs"]["craters"]["not_run"].get<std::string>(), HasSubstr("fly there"));
}

TEST_F(ReproductionTest, TheReportStandsAlone) {
  const Reproduction found = Run();
  WriteReproduction(Env::Posix(), catalogue_, found, Folder(), RunContext());
  std::ifstream file(Folder() / "report.html");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const auto elements = testing::ReadMarkup(page);
  for (const testing::MarkupElement& element : elements) {
    EXPECT_NE(element.name, "script");
    EXPECT_NE(element.name, "link");
    if (element.name == "a") {
      EXPECT_THAT(element.attributes.at("href"), ::testing::StartsWith("#"));
    }
    if (element.name != "img") continue;
    EXPECT_THAT(element.attributes.at("src"), HasSubstr("data:"));
  }
  EXPECT_GE(testing::Select(elements, "svg").size(), 3U);
  EXPECT_THAT(page, HasSubstr("RBA is above ITQ"));
  EXPECT_THAT(page, HasSubstr("Accuracy of &lt;RBA&gt; &amp; others"));
  EXPECT_THAT(page, HasSubstr("fly there"));
  EXPECT_THAT(page, HasSubstr("53.57")) << "the paper's figure";
  EXPECT_THAT(page, HasSubstr("asymmetric"));
}

// A part whose runs need a network is shown beside another reproduction; others are not.
TEST_F(ReproductionTest, ShowsWhatAnotherNetworkGave) {
  catalogue_.network = "first";
  catalogue_.data.push_back({.name = "network", .what = "A network", .here = true, .how = ""});
  const Reproduction found = Run();
  WriteReproduction(Env::Posix(), catalogue_, found, Folder(), RunContext());
  OtherNetwork other = ReadOtherNetwork(Env::Posix(), Folder());
  EXPECT_EQ(other.name, "first");
  const EntrySpec& labels = catalogue_.entry("labels");
  const std::vector<ExperimentResult>* figures = other.Find("labels", labels.parts[0].heading);
  ASSERT_NE(figures, nullptr);
  Experiment read;
  read.results = *figures;
  EXPECT_EQ(FigureOf(read, "sash", 8), FigureOf(*found.runs.at("labels").experiment, "sash", 8));
  EXPECT_EQ(other.Find("labels", "another heading"), nullptr);

  other.name = "second";
  catalogue_.beside = other;
  EXPECT_THAT(ReproductionReport(Env::Posix(), catalogue_, found, RunContext()),
              Not(HasSubstr("With second")))
      << "no run of these needs a network";
  catalogue_.runs[1].needs.emplace_back("network");
  const std::string page = ReproductionReport(Env::Posix(), catalogue_, found, RunContext());
  EXPECT_THAT(page, HasSubstr("With second"));
  EXPECT_THAT(page, HasSubstr("sash by network"));
  catalogue_.beside->name = "first";
  EXPECT_THAT(ReproductionReport(Env::Posix(), catalogue_, found, RunContext()),
              HasSubstr("With first, the other run"));
}

// Searches are shown with their pictures, the right answers framed.
TEST_F(ReproductionTest, ShowsThePicturesThatWereFound) {
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) {
    testing::WriteBytes(folder_ / "pictures" / name, testing::SpottedJpeg(name[0], 60, 40));
  }
  Reproduction found = Run();
  RunFigures& best = found.runs.at("vectors").figures.at({"rba", 8, 1});
  best.metrics[kMap] = 99;
  best.shown = {{.query = "a.jpg",
                 .results = {{.name = "b.jpg", .distance = 1, .right = true},
                             {.name = "c.jpg", .distance = 2, .right = false},
                             {.name = "gone.jpg", .distance = 3, .right = true}}}};
  catalogue_.entries[1].parts[0].pictures = folder_ / "pictures";
  const auto elements = testing::ReadMarkup(
      ReproductionReport(Env::Posix(), catalogue_, found, RunContext({.threads = 1})));
  EXPECT_EQ(testing::Select(elements, "img").size(), 3U) << "the picture that is gone is left out";
}

ReproductionData DataIn(const fs::path& public_sets, const fs::path& work) {
  ReproductionData data;
  data.public_sets = public_sets;
  data.work = work;
  return data;
}

// What research/deep measured: three methods, the paper's lengths, five splits of each set.
TEST(DeepRuns, HaveAFigureForEverySplit) {
  class Store : public FigureStore {};
  const RunContext context({.threads = 1});
  const std::function<void(const std::string&)> say = [](const std::string&) {};
  for (const RunSpec& run : DeepRuns()) {
    Store store;
    const Experiment experiment = run.make({Env::Posix(), context, store, say, {}});
    ASSERT_EQ(experiment.results.size(), 9U) << run.name;
    for (const ExperimentResult& result : experiment.results) EXPECT_EQ(result.seeds, 5);
    for (const char* method : {"dhn", "dqn", "dsdh"}) {
      for (const int bits : {24, 32, 48}) {
        for (const uint64_t seed : {1, 2, 3, 4, 5}) {
          ASSERT_TRUE(store.all().contains({method, bits, seed})) << run.name << method << bits;
          const double figure = store.all().at({method, bits, seed}).metrics.at(kMap);
          EXPECT_TRUE(figure > 34 && figure < 100) << "above chance with three classes";
        }
      }
    }
    EXPECT_EQ(experiment.machine["gpu"], "NVIDIA H200");
  }
}

// The catalogue of the paper: every table and figure once, and every part of it made of runs that
// exist.
TEST(ReproductionCatalogue, IsComplete) {
  const RunContext context({.threads = 1});
  const TempFolder folder;
  for (const bool quick : {false, true}) {
    const ReproductionCatalogue catalogue = MakeReproductionCatalogue(
        Env::Posix(), DataIn(folder.path(), folder.path()),
        quick ? ReproductionSizes::Quick() : ReproductionSizes(), context);
    std::set<std::string> labels;
    for (const EntrySpec& entry : catalogue.entries) {
      EXPECT_NE(
          entry.not_comparable.empty(),
          std::ranges::none_of(catalogue.claims,
                               [&](const ClaimSpec& claim) { return claim.entry == entry.name; }))
          << entry.name << ": every entry is judged, or says why it cannot be";
      EXPECT_FALSE(catalogue.RunsOf(entry).empty()) << entry.name;
      for (const std::string& run : catalogue.RunsOf(entry)) {
        const bool measured_elsewhere = run.starts_with("deep-");
        EXPECT_EQ(catalogue.Missing(catalogue.run(run)).empty(), measured_elsewhere)
            << "no data is here";
      }
      EXPECT_TRUE(entry.paper == kOurs || labels.insert(entry.paper).second) << entry.paper;
    }
    for (const char* label :
         {"fig:time-rba-ba", "fig:rba-soa", "fig:hyperparam", "fig:res_oxford5k", "fig:lph-soa",
          "fig:lph-soa_CNN", "fig:lph-soa_CNN_FC7", "tab:computation_time"}) {
      EXPECT_TRUE(labels.contains(label)) << label;
    }
    for (const PaperTable& table : PaperTables()) {
      EXPECT_TRUE(labels.contains(std::string(table.label))) << table.label;
    }
    const Reproduction found = RunReproduction(
        Env::Posix(), catalogue, {}, folder / (quick ? "quick" : "full"), context,
        [](const std::string&) {}, [](const Reproduction&) {});
    EXPECT_FALSE(found.failed());
    for (const JudgedClaim& claim : found.claims) EXPECT_EQ(claim.verdict, Verdict::kNotRun);
    testing::ReadMarkup(ReproductionReport(Env::Posix(), catalogue, found, context));
  }
}

// Only the named entries of the catalogue, on made-up data in the files that a user would name.
Reproduction RunSmall(const ReproductionData& data, const ReproductionSizes& sizes,
                      const std::vector<std::string>& names, const fs::path& folder) {
  const RunContext context({.threads = 2});
  const ReproductionCatalogue catalogue =
      MakeReproductionCatalogue(Env::Posix(), data, sizes, context);
  return RunReproduction(
      Env::Posix(), catalogue, names, folder, context, [](const std::string&) {},
      [](const Reproduction&) {});
}

TEST(ReproductionOfGivenData, Sift1M) {
  const TempFolder folder;
  ReproductionData data = DataIn(folder.path(), folder.path());
  data.sift1m = folder / "sift";
  fs::create_directories(data.sift1m);
  for (const char* name : {"sift_learn.fvecs", "sift_base.fvecs", "sift_query.fvecs"}) {
    const MatrixF vectors = ClusteredSamples(16, 300, 1);
    const auto writer =
        CreateSamples(Env::Posix(), data.sift1m / name, DType::kF4, {16}, IfExists::kFail);
    writer->Append<float>({vectors.data(), static_cast<size_t>(vectors.size())});
    writer->Commit();
  }
  ReproductionSizes sizes = ReproductionSizes::Quick();
  sizes.vector_bits = {8};
  sizes.vector_queries = 20;
  sizes.tune = true;
  const Reproduction found = RunSmall(data, sizes, {"rba-time"}, folder / "out");
  ASSERT_TRUE(found.runs.at("unsupervised-sift").experiment)
      << found.runs.at("unsupervised-sift").problem;
  const Experiment& sift = *found.runs.at("unsupervised-sift").experiment;
  EXPECT_EQ(sift.data["set"], "sift1m");
  EXPECT_GT(FigureOf(sift, "rba", 8), 4) << "chance is 1";
  const nlohmann::json best = found.runs.at("constants-sift").experiment->data["best"];
  EXPECT_EQ(sift.settings["constants"]["rba"]["lambda"], best["lambda"]);
}

TEST(ReproductionOfGivenData, NusWide) {
  const TempFolder folder;
  ReproductionData data = DataIn(folder.path(), folder.path());
  data.nus_wide = folder / "nus.bpf";
  data.nus_wide_labels = folder / "nus.txt";
  constexpr Index kImages = 460;
  constexpr int kClasses = 23;  // the two that are rarest are left out
  const MemoryFeatureSet images = SmallScenes(kImages, 8, kClasses, 1);
  FeatureFileWriter writer(Env::Posix(), data.nus_wide, 8, Precision::kHalf, IfExists::kFail);
  std::string labels;
  MatrixF descriptors;
  for (Index image = 0; image < kImages; ++image) {
    images.Read(image, descriptors);
    writer.Append(images.name(image), descriptors);
    labels += std::to_string(image % kClasses) + (image % 5 == 0 ? " 0" : "") + "\n";
  }
  writer.Commit({});
  WriteText(data.nus_wide_labels, labels);
  ReproductionSizes sizes = ReproductionSizes::Quick();
  sizes.supervised_bits = {8};
  sizes.queries_per_class = 2;
  sizes.training_per_class = 10;
  const Reproduction found =
      RunSmall(data, sizes, {"sash-nus-wide", "sash-nus-wide-unseen"}, folder / "out");
  for (const char* run : {"sash-nus-wide-traditional", "sash-nus-wide-unseen"}) {
    ASSERT_TRUE(found.runs.at(run).experiment) << found.runs.at(run).problem;
    for (const char* method : {"sash", "sdh", "ksh", "bre", "cca-itq"}) {
      EXPECT_GT(FigureOf(*found.runs.at(run).experiment, method, 8), 10) << run << " " << method;
    }
  }
}

TEST(ReproductionOfGivenData, Oxford5k) {
  const TempFolder folder;
  ReproductionData data = DataIn(folder.path(), folder / "work");
  data.oxford = folder / "oxford";
  data.oxford_truth = folder / "truth";
  data.paris = folder / "paris";
  for (uint64_t i = 0; i < 30; ++i) {
    testing::WriteBytes(data.paris / fmt::format("{}.jpg", i), testing::SpottedJpeg(100 + i));
  }
  for (uint64_t i = 0; i < 5; ++i) {
    const std::vector<std::byte> picture = testing::SpottedJpeg(i);
    testing::WriteBytes(data.oxford / fmt::format("asking_{}.jpg", i), picture);
    testing::WriteBytes(data.oxford / fmt::format("answer_{}.jpg", i), picture);
    const auto write = [&](const char* list, const std::string& text) {
      WriteText(data.oxford_truth / fmt::format("spots_{}_{}.txt", i, list), text);
    };
    write("query", fmt::format("oxc1_asking_{} 0 0 160 120\n", i));
    write("good", fmt::format("answer_{}\n", i));
    write("ok", "");
    write("junk", fmt::format("asking_{}\n", i));
  }
  ReproductionSizes sizes = ReproductionSizes::Quick();
  sizes.picture_bits = {16};
  const Reproduction found = RunSmall(data, sizes, {"sah-sift"}, folder / "out");
  ASSERT_TRUE(found.runs.at("oxford5k-sift").experiment) << found.runs.at("oxford5k-sift").problem;
  const Experiment& oxford = *found.runs.at("oxford5k-sift").experiment;
  EXPECT_EQ(oxford.data["queries"], 5);
  EXPECT_EQ(oxford.data["training_images"], 30);
  for (const char* method : {"sah", "rba", "itq"}) {
    EXPECT_GT(FigureOf(oxford, method, 16), 80) << method << ": the answers are the same pictures";
  }
}

// Real data where it is in the cache: a slice of MNIST through the catalogue itself.
TEST(ReproductionOnRealData, MnistSlice) {
  const fs::path data = DefaultDataFolder();
  if (!IsComplete(Env::Posix(), FindPublicSet("mnist"), data)) {
    GTEST_SKIP() << "MNIST is not here: bitpool data get mnist";
  }
  const TempFolder folder;
  const RunContext context({.threads = 2});
  ReproductionSizes sizes = ReproductionSizes::Quick();
  sizes.vectors = 1000;
  sizes.vector_queries = 50;
  sizes.vector_bits = {16};
  ReproductionCatalogue catalogue =
      MakeReproductionCatalogue(Env::Posix(), DataIn(data, folder.path()), sizes, context);
  std::erase_if(catalogue.entries,
                [](const EntrySpec& entry) { return entry.name != "rba-accuracy"; });
  catalogue.entries[0].parts = {catalogue.entries[0].parts[1]};
  const Reproduction found = RunReproduction(
      Env::Posix(), catalogue, {}, folder / "out", context, [](const std::string&) {},
      [](const Reproduction&) {});
  ASSERT_TRUE(found.runs.at("unsupervised-mnist").experiment);
  const Experiment& mnist = *found.runs.at("unsupervised-mnist").experiment;
  EXPECT_NEAR(FigureOf(mnist, "rba", 16), 54.03, 1.5);
  EXPECT_NEAR(FigureOf(mnist, "itq", 16), 55.30, 1.5);
  EXPECT_NEAR(FigureOf(mnist, "sph", 16), 35.60, 1.5);
}

}  // namespace
}  // namespace bitpool
