#include "bitpool/reproduction/reproduction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <span>

#include "bitpool/base/error.h"
#include "bitpool/experiments/paper_figures.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/file_lock.h"
#include "bitpool/reproduction/run_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRuns = "runs";
constexpr const char* kLock = "lock";
constexpr const char* kReport = "report.html";

void Ignore(const std::string& /*line*/) {}

std::vector<std::string> EntriesOf(const ReproductionCatalogue& catalogue,
                                   const std::vector<std::string>& names) {
  for (const std::string& name : names) catalogue.entry(name);
  std::vector<std::string> entries;
  for (const EntrySpec& entry : catalogue.entries) {
    if (names.empty() || std::ranges::find(names, entry.name) != names.end()) {
      entries.push_back(entry.name);
    }
  }
  return entries;
}

// The runs of all entries, each once, those that others use before them.
std::vector<std::string> RunsOf(const ReproductionCatalogue& catalogue,
                                const std::vector<std::string>& entries) {
  std::vector<std::string> runs;
  for (const std::string& entry : entries) {
    for (const std::string& run : catalogue.RunsOf(catalogue.entry(entry))) {
      if (std::ranges::find(runs, run) == runs.end()) runs.push_back(run);
    }
  }
  return runs;
}

void RequireOurFolder(Env& env, const fs::path& folder) {
  if (!env.Exists(folder)) return;
  if (!env.IsFolder(folder)) {
    throw Error(ErrorCode::kInvalidArgument, folder.string(), "expected a folder");
  }
  for (const std::string& name : env.List(folder)) {
    if (name == kRuns || name == kLock || name == kReproductionResults || name == kReport) continue;
    throw Error(ErrorCode::kInvalidArgument, folder.string(),
                fmt::format("\"{}\" is not of a reproduction; name a new folder with -o", name));
  }
}

bool IsCompleted(Env& env, const RunSpec& run, const fs::path& folder) {
  return RunFile(env, folder / kRuns, run.name, run.settings, Ignore).experiment().has_value();
}

class Runner {
 public:
  Runner(Env& env, const ReproductionCatalogue& catalogue, const fs::path& folder,
         const RunContext& context, const std::function<void(const std::string&)>& say)
      : env_(env), catalogue_(catalogue), folder_(folder), context_(context), say_(say) {}

  // What an earlier call completed; the rest is still to come.
  void Find(const RunSpec& spec, Reproduction& reproduction) const {
    RunOutcome& outcome = reproduction.runs[spec.name];
    Take(RunFile(env_, folder_ / kRuns, spec.name, spec.settings, Ignore), outcome);
    if (!outcome.experiment) outcome.problem = "still to come";
  }

  void Run(const RunSpec& spec, Reproduction& reproduction) const {
    RunOutcome& outcome = reproduction.runs[spec.name];
    outcome.problem.clear();
    RunFile file(env_, folder_ / kRuns, spec.name, spec.settings, say_);
    if (!file.experiment()) Make(spec, file, reproduction, outcome);
    Take(file, outcome);
  }

 private:
  static void Take(const RunFile& file, RunOutcome& outcome) {
    outcome.experiment = file.experiment();
    outcome.figures = file.all();
    outcome.seconds = file.seconds();
  }

  void Make(const RunSpec& spec, RunFile& file, const Reproduction& reproduction,
            RunOutcome& outcome) const {
    for (const DataNeed* need : catalogue_.Missing(spec)) {
      outcome.problem += fmt::format("{}{} is not here: {}", outcome.problem.empty() ? "" : "; ",
                                     need->what, need->how);
    }
    if (!outcome.problem.empty()) return;
    const RunSite site{.env = env_,
                       .context = context_,
                       .figures = file,
                       .say = say_,
                       .result_of = [&](const std::string& run) -> const Experiment& {
                         return ResultOf(run, reproduction);
                       }};
    say_(fmt::format("{}:", spec.name));
    try {
      file.Complete(spec.make(site));
      outcome.made = true;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled) throw;
      outcome.problem = error.what();
      outcome.failed = true;
      say_(fmt::format("{}: {}", spec.name, error.what()));
    }
  }

  static const Experiment& ResultOf(const std::string& run, const Reproduction& reproduction) {
    const auto found = reproduction.runs.find(run);
    if (found == reproduction.runs.end() || !found->second.experiment) {
      throw Error(ErrorCode::kNotFound, fmt::format("the run {} has no result", run));
    }
    return *found->second.experiment;
  }

  Env& env_;
  const ReproductionCatalogue& catalogue_;
  const fs::path& folder_;
  const RunContext& context_;
  const std::function<void(const std::string&)>& say_;
};

// The claims of the entries, by what was measured so far.
std::vector<JudgedClaim> JudgeClaims(const ReproductionCatalogue& catalogue,
                                     const Reproduction& reproduction) {
  FiguresOfRuns figures;
  for (const auto& [name, outcome] : reproduction.runs) {
    if (outcome.experiment) figures[name] = outcome.figures;
  }
  std::vector<JudgedClaim> claims;
  for (const ClaimSpec& claim : catalogue.claims) {
    if (std::ranges::find(reproduction.entries, claim.entry) == reproduction.entries.end()) {
      continue;
    }
    claims.push_back(Judge(claim, figures));
  }
  return claims;
}

std::vector<std::string> MetricsOf(EntryKind kind) {
  switch (kind) {
    case EntryKind::kAccuracy:
      return {kMap, kAsymmetricMap};
    case EntryKind::kTime:
      return {"training_seconds"};
    case EntryKind::kError:
      return {"relative_reconstruction_error", "reconstruction_error"};
    case EntryKind::kSurface:
      return {"held_out_mAP"};
    case EntryKind::kSteps:
      break;
  }
  return {"extract_ms", "pool_ms", "encode_ms"};
}

}  // namespace

bool Reproduction::failed() const {
  return std::ranges::any_of(runs, [](const auto& run) { return run.second.failed; });
}

Reproduction RunReproduction(Env& env, const ReproductionCatalogue& catalogue,
                             const std::vector<std::string>& names, const fs::path& folder,
                             const RunContext& context,
                             const std::function<void(const std::string&)>& say,
                             const std::function<void(const Reproduction&)>& after_run) {
  Reproduction reproduction;
  reproduction.entries = EntriesOf(catalogue, names);
  RequireOurFolder(env, folder);
  env.MakeFolders(folder / kRuns);
  const std::optional<FileLock> lock = FileLock::TryTake(folder / kLock);
  if (!lock) {
    throw Error(ErrorCode::kResources, folder.string(), "another process works in this folder");
  }
  const Runner runner(env, catalogue, folder, context, say);
  const std::vector<std::string> runs = RunsOf(catalogue, reproduction.entries);
  for (const std::string& run : runs) runner.Find(catalogue.run(run), reproduction);
  for (const std::string& run : runs) {
    context.ThrowIfStopped();
    runner.Run(catalogue.run(run), reproduction);
    if (!reproduction.runs.at(run).made) continue;
    reproduction.claims = JudgeClaims(catalogue, reproduction);
    after_run(reproduction);
  }
  reproduction.claims = JudgeClaims(catalogue, reproduction);
  return reproduction;
}

std::vector<ListedEntry> ListEntries(Env& env, const ReproductionCatalogue& catalogue,
                                     const fs::path& folder) {
  std::vector<ListedEntry> listed;
  for (const EntrySpec& entry : catalogue.entries) {
    ListedEntry& one = listed.emplace_back(
        ListedEntry{.name = entry.name, .paper = entry.paper, .title = entry.title, .needs = {}});
    std::set<std::string> needs;
    for (const std::string& name : catalogue.RunsOf(entry)) {
      const RunSpec& run = catalogue.run(name);
      needs.insert(run.needs.begin(), run.needs.end());
      ++one.runs;
      if (IsCompleted(env, run, folder)) {
        ++one.complete;
        ++one.runnable;
      } else if (catalogue.Missing(run).empty()) {
        ++one.runnable;
        one.minutes += run.minutes;
      }
    }
    for (const DataNeed& need : catalogue.data) {
      if (needs.contains(need.name)) one.needs.push_back(&need);
    }
  }
  return listed;
}

double MinutesLeft(Env& env, const ReproductionCatalogue& catalogue,
                   const std::vector<std::string>& names, const fs::path& folder) {
  double minutes = 0;
  for (const std::string& name : RunsOf(catalogue, EntriesOf(catalogue, names))) {
    const RunSpec& run = catalogue.run(name);
    if (catalogue.Missing(run).empty() && !IsCompleted(env, run, folder)) minutes += run.minutes;
  }
  return minutes;
}

Experiment ExperimentOf(const EntrySpec& entry, const EntryPart& part,
                        const Reproduction& reproduction) {
  Experiment joined;
  joined.name = entry.name;
  joined.title = part.heading;
  const std::vector<std::string> metrics = MetricsOf(part.kind);
  std::set<int> bits;
  for (const EntryPart::Lines& lines : part.lines) {
    const auto run = reproduction.runs.find(lines.run);
    if (run == reproduction.runs.end() || !run->second.experiment) continue;
    for (ExperimentResult result : run->second.experiment->results) {
      if (std::ranges::find(metrics, result.metric) == metrics.end()) continue;
      if (!lines.method.empty() && result.method != lines.method) continue;
      if (!part.bits.empty() && std::ranges::find(part.bits, result.bits) == part.bits.end()) {
        continue;
      }
      if (!lines.as.empty()) result.method = lines.as;
      bits.insert(result.bits);
      joined.results.push_back(std::move(result));
    }
  }
  if (const PaperTable* table = FindPaperTable(entry.paper, part.paper_set)) {
    for (ExperimentResult& figure : PaperResults(*table, {bits.begin(), bits.end()})) {
      joined.results.push_back(std::move(figure));
    }
  }
  return joined;
}

void WriteReproduction(Env& env, const ReproductionCatalogue& catalogue,
                       const Reproduction& reproduction, const fs::path& folder,
                       const RunContext& context) {
  const auto write = [&](const char* name, const std::string& text) {
    WriteFile(env, folder / name, std::as_bytes(std::span(text)), IfExists::kReplace);
  };
  write(kReproductionResults,
        ReproductionResults(catalogue, reproduction)
                .dump(1, ' ', false, nlohmann::json::error_handler_t::replace) +
            "\n");
  write(kReport, ReproductionReport(env, catalogue, reproduction, context));
}

}  // namespace bitpool
