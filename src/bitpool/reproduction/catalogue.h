#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/experiments/cnn_features.h"
#include "bitpool/experiments/run_figures.h"
#include "bitpool/experiments/vector_sets.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/reproduction/claims.h"
#include "bitpool/reproduction/other_network.h"

// What the reproduction of the paper consists of: data, runs that measure, entries that show, and
// claims that are judged.
namespace bitpool {

// Where the data is. An empty path: it is not here.
struct ReproductionData {
  std::filesystem::path public_sets;  // what `data get` brings
  CnnPaths network;
  std::string network_name;
  NetworkUse scenes, classes;               // of Holidays and its like, and of CIFAR-10
  std::string global_layer = "pool_final";  // the stand-in for a fully-connected layer
  std::filesystem::path pictures;           // a folder with holidays/ and train/
  std::filesystem::path oxford, oxford_truth, paris;
  std::filesystem::path sift1m;
  std::filesystem::path nus_wide, nus_wide_labels;  // features (.bpf) and labels
  std::filesystem::path work;                       // where features of pictures are kept
};

// How much of the data is used. The defaults are those of a full reproduction.
struct ReproductionSizes {
  bool quick = false;
  std::vector<int> vector_bits = {8, 16, 24, 32};          // section III
  std::vector<int> picture_bits = {8, 16, 24, 32};         // section V
  std::vector<int> class_bits = {16, 32, 64};              // section V, CIFAR-10
  std::vector<int> supervised_bits = {8, 16, 24, 32, 48};  // section VII
  int vector_seeds = 3, picture_seeds = 5, class_seeds = 3, supervised_seeds = 3;
  int unseen_seeds = 5;  // which classes are drawn matters most; research/deep has the same splits
  Index vectors = 0;     // training vectors; 0: all
  Index vector_queries = 1000;
  // A quarter of SIFT1M's database, with as large a share of it as right answers: one in a hundred.
  SiftSetSizes sift = {.training = 100'000, .database = 250'000, .queries = 1000};
  Index training_pictures = 0, searched_pictures = 0;  // 0: all
  Index embedding_sample = 200'000;                    // descriptors that the embedding learns from
  int picture_size = 416;                              // pixels of what a network sees
  Index class_pictures = 0;                            // of a labelled set; 0: all
  Index class_queries = 1000;
  Index queries_per_class = 100, training_per_class = 500;
  Index views = 8, pictures_with_views = 5000;  // for our own methods
  std::vector<int> view_bits = {16, 32, 64};
  bool tune = true;  // choose the constants of RBA, SAH and SASH on training data
  int step_pictures = 40, step_bits = 32;
  uint64_t memory = uint64_t{6} << 30;  // for the records of images

  static ReproductionSizes Quick();
};

// Something that runs need.
struct DataNeed {
  std::string name;
  std::string what;
  bool here = false;
  std::string how;  // to get it
};

// What a run works with.
struct RunSite {
  Env& env;
  const RunContext& context;
  FigureStore& figures;
  const std::function<void(const std::string&)>& say;
  std::function<const Experiment&(const std::string& run)> result_of;  // of those it comes after
};

// An experiment on one set of data. Its result is kept in a file whose name identifies the
// settings.
struct RunSpec {
  std::string name;
  nlohmann::json settings;         // all that decides its figures
  std::vector<std::string> needs;  // names of data
  std::vector<std::string> after;  // runs whose results it uses
  double minutes = 0;              // that it takes on two cores, roughly
  std::function<Experiment(const RunSite&)> make;
};

inline constexpr const char* kOurs = "ours";

enum class EntryKind { kAccuracy, kTime, kError, kSurface, kSteps };

// A table and a chart of an entry.
struct EntryPart {
  // Lines from the results of runs; empty method: all of them.
  struct Lines {
    std::string run;
    std::string method = {};
    std::string as = {};  // the name it has here, where that is another
  };
  std::string heading;
  EntryKind kind = EntryKind::kAccuracy;
  std::vector<Lines> lines;
  std::string emphasised = {};          // the method it is about
  std::string paper_set = {};           // of the paper's table, where it is about several
  std::vector<int> bits = {};           // empty: all
  std::filesystem::path pictures = {};  // the folder of the pictures that were found
};

// A table or figure of the paper, or one of our own.
struct EntrySpec {
  std::string name;
  std::string paper;  // its label; kOurs where the paper has no such thing
  std::string title;
  std::string differs;              // what differs from the paper, in a sentence or two
  std::string not_comparable = {};  // why none of the paper's claims can be judged by it
  std::vector<EntryPart> parts;
};

struct ReproductionCatalogue {
  std::string remark = {};   // what a reader must know before the figures
  std::string network = {};  // the name of the one whose features are used
  std::optional<OtherNetwork> beside = {};
  std::vector<DataNeed> data;
  std::vector<RunSpec> runs;
  std::vector<EntrySpec> entries;
  std::vector<ClaimSpec> claims;

  // Throw kInvalidArgument, listing the known ones.
  const EntrySpec& entry(const std::string& name) const;
  const RunSpec& run(const std::string& name) const;
  // Names of the runs of an entry, and of those they come after, each once and in order.
  std::vector<std::string> RunsOf(const EntrySpec& entry) const;
  // Whether figures of the part depend on the network.
  bool UsesNetwork(const EntryPart& part) const;
  // What the run and those it comes after need that is not here.
  std::vector<const DataNeed*> Missing(const RunSpec& run) const;
};

// Everything in the paper.
ReproductionCatalogue MakeReproductionCatalogue(Env& env, const ReproductionData& data,
                                                const ReproductionSizes& sizes,
                                                const RunContext& context);

// Its parts, each in its own file.
std::vector<DataNeed> ReproductionNeeds(Env& env, const ReproductionData& data);
std::vector<RunSpec> ReproductionRuns(Env& env, const ReproductionData& data,
                                      const ReproductionSizes& sizes, const RunContext& context);
std::vector<EntrySpec> ReproductionEntries(const ReproductionData& data);
std::vector<ClaimSpec> ReproductionClaims();

}  // namespace bitpool
