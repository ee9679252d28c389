#include "bitpool/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bitpool/base/error.h"
#include "bitpool/experiments/paper_figures.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/pictures/picture_describer.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/report/chart.h"
#include "bitpool/report/data_uri.h"
#include "bitpool/report/report_text.h"
#include "bitpool/reproduction/reproduction.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr Index kThumbnail = 120;  // pixels of the longest side
constexpr const char* kSpread = "mean ± standard deviation over the seeds";

// How a metric is shown.
struct MetricStyle {
  const char* metric;
  const char* format;
  bool higher_is_better;
  const char* caption;
  const char* axis;
};

MetricStyle StyleOf(EntryKind kind) {
  if (kind == EntryKind::kTime) {
    return {"training_seconds", "{:.2f}", false, "Seconds of training, ", "seconds"};
  }
  if (kind == EntryKind::kError) {
    return {"relative_reconstruction_error", "{:.3f}", false,
            "Reconstruction error as a share of the variance of the vectors, ",
            "share of the variance"};
  }
  return {kMap, "{:.2f}", true, "mAP in percent, ", "mAP, percent"};
}

bool HasMetric(const Experiment& experiment, std::string_view metric) {
  return std::ranges::any_of(
      experiment.results, [&](const ExperimentResult& result) { return result.metric == metric; });
}

// Our mAP − the paper's, as results of a metric of their own.
Experiment DifferencesOf(const Experiment& experiment) {
  Experiment differences;
  differences.name = experiment.name;
  for (const ExperimentResult& paper : experiment.results) {
    if (paper.metric != kPaperMap) continue;
    for (ExperimentResult ours : experiment.results) {
      if (ours.metric != kMap || ours.method != paper.method || ours.bits != paper.bits) continue;
      ours.metric = "difference";
      ours.mean -= paper.mean;
      ours.spread = 0;
      differences.results.push_back(std::move(ours));
    }
  }
  return differences;
}

void AddPaperTables(const Experiment& experiment, const EntrySpec& entry, Report& report) {
  if (!HasMetric(experiment, kPaperMap)) return;
  ReportTable paper = TableOf(experiment, kPaperMap, "{:.2f}", true);
  paper.caption = fmt::format("The paper's figures ({})", entry.paper);
  report.AddTable(paper);
  const Experiment differences = DifferencesOf(experiment);
  if (differences.results.empty()) return;
  ReportTable table = TableOf(differences, "difference", "{:+.2f}", true);
  table.caption = "Ours minus the paper's, points of mAP";
  for (auto& row : table.rows) {
    for (ReportCell& cell : row) cell.emphasised = false;
  }
  report.AddTable(table);
}

// The figures of another network: the method that the part is about over all networks and the
// paper, and a table of the others.
void AddOtherNetwork(const Experiment& experiment, const EntrySpec& entry, const EntryPart& part,
                     const ReproductionCatalogue& catalogue, Report& report) {
  if (!catalogue.beside || !catalogue.UsesNetwork(part)) return;
  const std::vector<ExperimentResult>* results = catalogue.beside->Find(entry.name, part.heading);
  if (results == nullptr) return;
  Experiment networks, other;
  other.results = *results;
  // The same network with another layer or size is another one too.
  const std::string name = catalogue.beside->name == catalogue.network
                               ? catalogue.network + ", the other run"
                               : catalogue.beside->name;
  const auto take = [&](const std::vector<ExperimentResult>& from, std::string_view metric,
                        const std::string& as) {
    for (ExperimentResult result : from) {
      if (result.method != part.emphasised || result.metric != metric) continue;
      result.method = as;
      result.metric = kMap;
      networks.results.push_back(std::move(result));
    }
  };
  take(experiment.results, kMap, catalogue.network);
  take(*results, kMap, name);
  take(experiment.results, kPaperMap, "the paper");
  if (!networks.results.empty()) {
    report.AddChart(
        RenderSvg(ChartOf(networks, kMap,
                          fmt::format("{}: {} by network", part.heading, part.emphasised),
                          "mAP, percent", {catalogue.network})),
        "The same method with features of either network, and as the paper has it.");
  }
  if (!HasMetric(other, kMap)) return;
  ReportTable table = MapTableOf(other, "{:.2f}");
  table.caption = fmt::format("With {}: mAP in percent, {}", name, kSpread);
  report.AddTable(table);
}

HeatMap SurfaceOf(const Experiment& experiment, const std::string& heading) {
  const nlohmann::json& surface = experiment.data.at("surface");
  const auto rows = surface.at("mAP").get<std::vector<std::vector<double>>>();
  HeatMap map{.title = heading,
              .x_label = "λ",
              .y_label = "β",
              .x_values = surface.at("lambda").get<std::vector<double>>(),
              .y_values = surface.at("beta").get<std::vector<double>>(),
              .values = MatrixD(rows.size(), rows.at(0).size()),
              .format = "{:.1f}"};
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t column = 0; column < rows[row].size(); ++column) {
      map.values(static_cast<Index>(row), static_cast<Index>(column)) = rows[row][column];
    }
  }
  return map;
}

ReportTable StepTable(const Experiment& experiment) {
  ReportTable table{.caption = "Milliseconds for each picture, " + std::string(kSpread),
                    .header = {"Step", "SAH", "others", "the paper: SAH", "the paper: others"},
                    .rows = {}};
  const auto ours = [&](std::string_view method, const std::string& metric) {
    ReportCell cell{.text = std::string(kMissing), .align = Align::kRight};
    for (const ExperimentResult& result : experiment.results) {
      if (result.method != method || result.metric != metric) continue;
      cell.text = FormatNumber("{:.3f}", result.mean);
      if (result.spread > 0) cell.note = "± " + FormatNumber("{:.3f}", result.spread);
    }
    return cell;
  };
  for (const PaperStepTime& paper : PaperStepTimes()) {
    const std::string metric = std::string(paper.step) + "_ms";
    const auto printed = [&](double value) {
      return ReportCell{.text = (paper.at_most ? "< " : "") + FormatNumber("{:.3g}", value),
                        .align = Align::kRight};
    };
    table.rows.push_back({{.text = paper.step == "extract" ? "local features of a picture"
                                   : paper.step == "pool"  ? "φ, the vector of the picture"
                                                           : "the code of φ"},
                          ours("sah", metric),
                          ours("others", metric),
                          printed(paper.sah_ms),
                          printed(paper.others_ms)});
  }
  return table;
}

BarChart StepChart(const Experiment& experiment) {
  BarChart chart{.title = "Steps from a picture to its code",
                 .x_label = "milliseconds for each picture",
                 .rows = {},
                 .log_x = true};
  for (const PaperStepTime& paper : PaperStepTimes()) {
    for (const ExperimentResult& result : experiment.results) {
      if (result.metric != std::string(paper.step) + "_ms") continue;
      chart.rows.push_back({.label = fmt::format("{}, {}", paper.step, result.method),
                            .value = result.mean,
                            .note = "± " + FormatNumber("{:.2g}", result.spread),
                            .emphasised = result.method == "sah"});
    }
  }
  return chart;
}

// What the best method found at its longest codes; null when nothing was kept.
struct BestSearches {
  std::string method;
  int bits = 0;
  const std::vector<ShownSearch>* searches = nullptr;
};

BestSearches FindBestSearches(const EntryPart& part, const Reproduction& reproduction) {
  BestSearches best;
  double best_map = 0;
  for (const EntryPart::Lines& lines : part.lines) {
    const auto run = reproduction.runs.find(lines.run);
    if (run == reproduction.runs.end()) continue;
    for (const auto& [key, figures] : run->second.figures) {
      if (figures.shown.empty() || (!lines.method.empty() && key.method != lines.method)) continue;
      const auto map = figures.metrics.find(kMap);
      if (map == figures.metrics.end() || map->second <= best_map) continue;
      best_map = map->second;
      best = {.method = key.method, .bits = key.bits, .searches = &figures.shown};
    }
  }
  return best;
}

// What the page is made from.
struct Shown {
  Env& env;
  const ReproductionCatalogue& catalogue;
  const Reproduction& reproduction;
  const RunContext& context;
};

// Empty when the picture is not there any more.
std::string Thumbnail(Env& env, const fs::path& file) {
  try {
    const Picture picture =
        DecodePicture(env.Read(file, MaxPictureBytes()), {.max_side = kThumbnail});
    return DataUri("image/jpeg", EncodeJpeg(picture, 80));
  } catch (const Error&) {
    return "";
  }
}

void AddSearches(const EntryPart& part, const Shown& shown, Report& report) {
  const BestSearches best = FindBestSearches(part, shown.reproduction);
  if (part.pictures.empty() || best.searches == nullptr) return;
  bool first = true;
  for (const ShownSearch& search : *best.searches) {
    shown.context.ThrowIfStopped();
    std::vector<ReportPicture> strip = {
        {.source = Thumbnail(shown.env, part.pictures / search.query), .caption = "query"}};
    for (const ShownSearch::Result& result : search.results) {
      strip.push_back({.source = Thumbnail(shown.env, part.pictures / result.name),
                       .caption = fmt::format("distance {}", result.distance),
                       .emphasised = result.right});
    }
    std::erase_if(strip, [](const ReportPicture& picture) { return picture.source.empty(); });
    if (strip.size() < 2) continue;
    report.AddPictures(first ? fmt::format("A query and what {} finds for it with {} bits; right "
                                           "answers are framed",
                                           best.method, best.bits)
                             : "",
                       strip);
    first = false;
  }
}

void AddPart(const EntrySpec& entry, const EntryPart& part, const Shown& shown, Report& report) {
  const Reproduction& reproduction = shown.reproduction;
  std::vector<const Experiment*> done;
  for (const EntryPart::Lines& lines : part.lines) {
    const auto run = reproduction.runs.find(lines.run);
    if (run == reproduction.runs.end()) continue;
    if (run->second.experiment) {
      done.push_back(&*run->second.experiment);
    } else {
      report.AddParagraph(fmt::format("{}: not run: {}", part.heading, run->second.problem));
    }
  }
  if (done.empty()) return;
  if (part.kind == EntryKind::kSurface) {
    report.AddChart(RenderSvg(SurfaceOf(*done.front(), part.heading)),
                    "mAP of RBA with 32 bits over its constants");
    return;
  }
  const Experiment experiment = ExperimentOf(entry, part, reproduction);
  if (part.kind == EntryKind::kSteps) {
    report.AddChart(RenderSvg(StepChart(experiment)), "± the standard deviation over rounds");
    report.AddTable(StepTable(experiment));
    return;
  }
  const MetricStyle style = StyleOf(part.kind);
  if (!HasMetric(experiment, style.metric)) {
    report.AddParagraph(fmt::format("{}: these lengths of codes were not measured", part.heading));
    return;
  }
  LineChart chart = ChartOf(experiment, style.metric, part.heading, style.axis, {part.emphasised});
  chart.log_y = part.kind == EntryKind::kTime;
  report.AddChart(RenderSvg(chart), "Bars show the standard deviation over the seeds.");
  ReportTable table = part.kind == EntryKind::kAccuracy
                          ? MapTableOf(experiment, style.format)
                          : TableOf(experiment, style.metric, style.format, style.higher_is_better);
  table.caption = fmt::format("{}: {}{}", part.heading, style.caption, kSpread);
  report.AddTable(table);
  AddPaperTables(experiment, entry, report);
  if (part.kind != EntryKind::kAccuracy) return;
  AddOtherNetwork(experiment, entry, part, shown.catalogue, report);
  AddSearches(part, shown, report);
}

// The verdicts first: the sentences are long.
void AddClaims(const std::vector<JudgedClaim>& claims, Report& report) {
  ReportTable table{.caption =
                        "What the paper says, and whether it holds here; the numbers are "
                        "comparisons held, not held and not decided",
                    .header = {"Verdict", "Comparisons", "The paper says"},
                    .rows = {}};
  for (const JudgedClaim& claim : claims) {
    table.rows.push_back({{.text = std::string(VerdictText(claim.verdict)),
                           .emphasised = claim.verdict == Verdict::kHeld},
                          {.text = claim.contrasts.empty() ? std::string(kMissing) : claim.tally},
                          {.text = claim.text,
                           .note = "(" + claim.entry + ")",
                           .align = Align::kText,
                           .link = claim.entry}});
  }
  report.AddTable(table);
}

void AddEntry(const EntrySpec& entry, const Shown& shown, Report& report) {
  report.AddSection(fmt::format("{}: {}", entry.name, entry.title), entry.name);
  for (const JudgedClaim& claim : shown.reproduction.claims) {
    if (claim.entry != entry.name) continue;
    report.AddParagraph(fmt::format("“{}”: {}. {}. Judged: {}.", claim.text,
                                    VerdictText(claim.verdict), claim.reading, claim.rule));
  }
  if (!entry.not_comparable.empty()) {
    report.AddParagraph("Not comparable with the paper: " + entry.not_comparable);
  }
  for (const EntryPart& part : entry.parts) {
    AddPart(entry, part, shown, report);
  }
  report.AddParagraph(entry.paper == kOurs
                          ? "Not in the paper. " + entry.differs
                          : fmt::format("In the paper: {}. {}", entry.paper, entry.differs));
}

std::string Duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} seconds", std::ceil(seconds));
  return fmt::format("{:.0f} minutes", seconds / 60);
}

// The settings and the data of every run; the machine once where all have the same.
void AddRuns(const Reproduction& reproduction, Report& report) {
  report.AddSection("How it was measured");
  nlohmann::json machine;
  for (const auto& [name, outcome] : reproduction.runs) {
    if (!outcome.experiment) continue;
    const Experiment& experiment = *outcome.experiment;
    nlohmann::json facts = experiment.settings;
    for (const auto& [key, value] : experiment.data.items()) {
      if (key != "surface") facts[key] = value;
    }
    if (experiment.machine != machine) {
      facts["machine"] = experiment.machine;
      machine = experiment.machine;
    }
    report.AddParagraph(fmt::format("{}, made in {}:", name, Duration(outcome.seconds)));
    report.AddFacts(FactsOf(facts));
  }
}

}  // namespace

std::string ReproductionReport(Env& env, const ReproductionCatalogue& catalogue,
                               const Reproduction& reproduction, const RunContext& context) {
  Report report("The paper, reproduced",
                "Simultaneous feature aggregating and hashing: the evaluation of the paper on the "
                "data at hand, with the paper's own figures beside ours.");
  report.AddSection("In short");
  report.AddParagraph(
      "Bitpool turns pictures into short binary codes. Local features of a picture (SIFT or maps "
      "of a network) are aggregated to one vector, the vector is hashed to bits, and codes are "
      "compared by counting the bits that differ. RBA learns the hashing, SAH learns aggregating "
      "and hashing together, and SASH does so with labels. All methods get the same features and "
      "the same splits; constants are chosen on training data alone.");
  if (!catalogue.remark.empty()) report.AddParagraph(catalogue.remark);
  AddClaims(reproduction.claims, report);
  report.AddParagraph(
      "A comparison is held when its mean over the seeds is beyond what is wanted by more than its "
      "standard deviation over the seeds, and not held when it falls short by more than that; "
      "between the two, and with one seed, it is not decided. Seeds are paired: both sides have "
      "the same split and the same queries. A claim is held when all its comparisons are, and not "
      "held when one is not.");
  report.AddParagraph(
      "Lines called asymmetric: the database is the same codes, but queries are real numbers that "
      "weigh their bits; compare them with each other only.");
  for (const std::string& name : reproduction.entries) {
    AddEntry(catalogue.entry(name), {env, catalogue, reproduction, context}, report);
  }
  AddRuns(reproduction, report);
  return report.Html();
}

}  // namespace bitpool
