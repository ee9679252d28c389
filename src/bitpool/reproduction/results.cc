#include "bitpool/experiments/paper_figures.h"
#include "bitpool/reproduction/reproduction.h"
#include "bitpool/version.h"

namespace bitpool {
namespace {

// Our mAP − the paper's, where both have a figure.
nlohmann::json DifferencesJson(const Experiment& experiment) {
  nlohmann::json differences = nlohmann::json::array();
  for (const ExperimentResult& ours : experiment.results) {
    if (ours.metric != kMap) continue;
    for (const ExperimentResult& paper : experiment.results) {
      if (paper.metric != kPaperMap || paper.method != ours.method || paper.bits != ours.bits) {
        continue;
      }
      differences.push_back(
          {{"method", ours.method}, {"bits", ours.bits}, {"difference", ours.mean - paper.mean}});
    }
  }
  return differences;
}

nlohmann::json RunsOf(const EntryPart& part, const Reproduction& reproduction) {
  nlohmann::json runs = nlohmann::json::object();
  for (const EntryPart::Lines& lines : part.lines) {
    const auto found = reproduction.runs.find(lines.run);
    if (found == reproduction.runs.end()) continue;
    runs[lines.run] = found->second.experiment ? "done" : "not run: " + found->second.problem;
  }
  return runs;
}

nlohmann::json PartToJson(const EntrySpec& entry, const EntryPart& part,
                          const Reproduction& reproduction) {
  const Experiment experiment = ExperimentOf(entry, part, reproduction);
  nlohmann::json json = {{"heading", part.heading},
                         {"runs", RunsOf(part, reproduction)},
                         {"results", ToJson(experiment)["results"]},
                         {"differences_to_paper", DifferencesJson(experiment)}};
  if (part.kind == EntryKind::kSteps) {
    for (const PaperStepTime& time : PaperStepTimes()) {
      json["paper_ms"].push_back({{"step", time.step},
                                  {"sah", time.sah_ms},
                                  {"others", time.others_ms},
                                  {"at_most", time.at_most}});
    }
  }
  return json;
}

nlohmann::json ClaimToJson(const JudgedClaim& claim) {
  nlohmann::json contrasts = nlohmann::json::array();
  for (const JudgedContrast& contrast : claim.contrasts) {
    contrasts.push_back({{"what", contrast.what},
                         {"mean", contrast.mean},
                         {"spread", contrast.spread},
                         {"seeds", contrast.seeds},
                         {"wanted", contrast.wanted},
                         {"verdict", VerdictText(contrast.verdict)}});
  }
  return {{"name", claim.name},
          {"entry", claim.entry},
          {"claim", claim.text},
          {"rule", claim.rule},
          {"verdict", VerdictText(claim.verdict)},
          {"reading", claim.reading},
          {"comparisons", std::move(contrasts)}};
}

// What a run says about itself, without its results, which the entries have.
nlohmann::json RunToJson(const RunSpec& spec, const RunOutcome& outcome) {
  nlohmann::json json = {{"settings", spec.settings}};
  if (!outcome.experiment) {
    json["not_run"] = outcome.problem;
    return json;
  }
  json["seconds"] = outcome.seconds;
  json["experiment"] = ToJson(*outcome.experiment);
  json["experiment"].erase("results");
  json["single_runs"] = nlohmann::json::array();
  for (const auto& [key, figures] : outcome.figures) {
    nlohmann::json one = ToJson(key, figures);
    one.erase("shown");
    json["single_runs"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

nlohmann::json ReproductionResults(const ReproductionCatalogue& catalogue,
                                   const Reproduction& reproduction) {
  nlohmann::json json = {
      {"bitpool", Version()}, {"remark", catalogue.remark}, {"network", catalogue.network}};
  for (const std::string& name : reproduction.entries) {
    const EntrySpec& entry = catalogue.entry(name);
    nlohmann::json parts = nlohmann::json::array();
    for (const EntryPart& part : entry.parts) {
      parts.push_back(PartToJson(entry, part, reproduction));
    }
    json["entries"].push_back({{"name", entry.name},
                               {"paper", entry.paper},
                               {"title", entry.title},
                               {"differs", entry.differs},
                               {"not_comparable", entry.not_comparable},
                               {"parts", std::move(parts)}});
  }
  json["claims"] = nlohmann::json::array();
  for (const JudgedClaim& claim : reproduction.claims) json["claims"].push_back(ClaimToJson(claim));
  json["runs"] = nlohmann::json::object();
  for (const auto& [name, outcome] : reproduction.runs) {
    json["runs"][name] = RunToJson(catalogue.run(name), outcome);
  }
  return json;
}

}  // namespace bitpool
