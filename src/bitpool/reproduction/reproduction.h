#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/io/env.h"
#include "bitpool/report/experiment_result.h"
#include "bitpool/reproduction/catalogue.h"

namespace bitpool {

// The file of all figures in the folder of a reproduction.
inline constexpr const char* kReproductionResults = "results.json";

// What became of a run.
struct RunOutcome {  // NOLINT(bugprone-exception-escape): as Experiment
  std::optional<Experiment> experiment;
  std::map<RunKey, RunFigures> figures = {};
  std::string problem = {};  // why there is no experiment
  bool failed = false;       // there is none, for another reason than missing data
  bool made = false;         // in this call; otherwise it was found
  double seconds = 0;        // that it took, over all calls
};

struct Reproduction {
  std::vector<std::string> entries;  // as in the catalogue
  std::map<std::string, RunOutcome> runs;
  std::vector<JudgedClaim> claims;  // of these entries

  bool failed() const;
};

// Makes all runs that the named entries need (none named: all entries) and judges the claims. Runs
// are kept in `folder`/runs: those that are complete there are taken as they are, and one that was
// interrupted continues. A run whose data is missing, or that fails, is noted and does not stop the
// others. `after_run` gets what is there after every run that was made, for a report that grows.
// Throws kInvalidArgument for an unknown name, and for a folder that has other things in it than a
// reproduction; kResources when another process works in it.
Reproduction RunReproduction(Env& env, const ReproductionCatalogue& catalogue,
                             const std::vector<std::string>& names,
                             const std::filesystem::path& folder, const RunContext& context,
                             const std::function<void(const std::string&)>& say,
                             const std::function<void(const Reproduction&)>& after_run);

// An entry as --list shows it.
struct ListedEntry {
  std::string name, paper, title;
  std::vector<const DataNeed*> needs;  // of the catalogue
  int runs = 0, runnable = 0, complete = 0;
  double minutes = 0;  // for what is not complete and can be run
};
std::vector<ListedEntry> ListEntries(Env& env, const ReproductionCatalogue& catalogue,
                                     const std::filesystem::path& folder);

// Roughly how many minutes the runs of these entries will take; complete ones take none.
double MinutesLeft(Env& env, const ReproductionCatalogue& catalogue,
                   const std::vector<std::string>& names, const std::filesystem::path& folder);

// The lines of a part as one experiment with the paper's figures beside ours, as results of
// "paper_mAP".
Experiment ExperimentOf(const EntrySpec& entry, const EntryPart& part,
                        const Reproduction& reproduction);

// Everything as JSON: entries with our figures, the paper's and the differences, claims, and what
// the runs say about themselves.
nlohmann::json ReproductionResults(const ReproductionCatalogue& catalogue,
                                   const Reproduction& reproduction);

// Everything as a page that stands alone.
std::string ReproductionReport(Env& env, const ReproductionCatalogue& catalogue,
                               const Reproduction& reproduction, const RunContext& context);

// Writes both into the folder, as results.json and report.html.
void WriteReproduction(Env& env, const ReproductionCatalogue& catalogue,
                       const Reproduction& reproduction, const std::filesystem::path& folder,
                       const RunContext& context);

}  // namespace bitpool
