#include "bitpool/reproduction/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bitpool/report/experiment_result.h"
#include "bitpool/report/report_text.h"

namespace bitpool {
namespace {

using Figures = std::map<RunKey, RunFigures>;

const Figures* FiguresOf(const FiguresOfRuns& all, const std::string& run) {
  const auto found = all.find(run);
  return found == all.end() ? nullptr : &found->second;
}

std::optional<double> Find(const Figures& figures, const RunKey& key, const std::string& metric) {
  const auto run = figures.find(key);
  if (run == figures.end()) return {};
  const auto figure = run->second.metrics.find(metric);
  if (figure == run->second.metrics.end() || !std::isfinite(figure->second)) return {};
  return figure->second;
}

// Two figures of the same code length and seed.
struct Pair {
  double a, b;
};

// All pairs, by code length and then by seed.
std::map<int, std::map<uint64_t, Pair>> PairsOf(const FiguresOfRuns& all, const FigureSource& a,
                                                const FigureSource& b, const std::string& metric) {
  std::map<int, std::map<uint64_t, Pair>> pairs;
  const Figures* of_a = FiguresOf(all, a.run);
  const Figures* of_b = FiguresOf(all, b.run);
  if (of_a == nullptr || of_b == nullptr) return pairs;
  for (const auto& [key, unused] : *of_a) {
    if (key.method != a.method) continue;
    const auto value_a = Find(*of_a, key, metric);
    const auto value_b =
        Find(*of_b, {.method = b.method, .bits = key.bits, .seed = key.seed}, metric);
    if (value_a && value_b) pairs[key.bits][key.seed] = {*value_a, *value_b};
  }
  return pairs;
}

std::string NameOf(const FigureSource& source, const FigureSource& other) {
  return source.run == other.run ? source.method
                                 : fmt::format("{} ({})", source.method, source.run);
}

std::vector<Contrast> Collect(const FiguresOfRuns& figures, const FigureSource& a,
                              const FigureSource& b, const std::string& metric, double wanted,
                              const char* format, const std::function<double(const Pair&)>& value) {
  std::vector<Contrast> contrasts;
  for (const auto& [bits, pairs] : PairsOf(figures, a, b, metric)) {
    Contrast& contrast = contrasts.emplace_back();
    contrast.what = fmt::format(fmt::runtime(format), NameOf(a, b), NameOf(b, a), bits);
    if (a.run == b.run) contrast.what = a.run + ": " + contrast.what;
    contrast.wanted = wanted;
    for (const auto& [seed, pair] : pairs) contrast.values.push_back(value(pair));
  }
  return contrasts;
}

}  // namespace

std::string_view VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kHeld:
      return "held";
    case Verdict::kNotHeld:
      return "not held";
    case Verdict::kNotDecided:
      return "not decided";
    case Verdict::kNotRun:
      break;
  }
  return "not run";
}

JudgedContrast Judge(const Contrast& contrast) {
  JudgedContrast judged{.what = contrast.what, .wanted = contrast.wanted};
  if (contrast.values.empty()) return judged;
  const ExperimentResult summary = SummariseRuns("", 0, "", contrast.values);
  judged.mean = summary.mean;
  judged.spread = summary.spread;
  judged.seeds = summary.seeds;
  const double margin = summary.mean - contrast.wanted;
  judged.verdict = Verdict::kNotDecided;
  if (summary.seeds < 2) return judged;
  if (margin > summary.spread || (contrast.equal_is_enough && margin >= -summary.spread)) {
    judged.verdict = Verdict::kHeld;
  } else if (margin < -summary.spread) {
    judged.verdict = Verdict::kNotHeld;
  }
  return judged;
}

JudgedClaim Judge(const ClaimSpec& claim, const FiguresOfRuns& figures) {
  JudgedClaim judged{.name = claim.name,
                     .entry = claim.entry,
                     .text = claim.text,
                     .rule = claim.rule,
                     .tally = "nothing was measured for it",
                     .reading = "Nothing was measured for it",
                     .contrasts = {}};
  for (const Contrast& contrast : claim.contrasts(figures)) {
    if (!contrast.values.empty()) judged.contrasts.push_back(Judge(contrast));
  }
  if (judged.contrasts.empty()) return judged;
  std::map<Verdict, int> count;
  for (const JudgedContrast& contrast : judged.contrasts) ++count[contrast.verdict];
  judged.verdict = count.contains(Verdict::kNotHeld)      ? Verdict::kNotHeld
                   : count.contains(Verdict::kNotDecided) ? Verdict::kNotDecided
                                                          : Verdict::kHeld;
  const auto above = [](const JudgedContrast& contrast) { return contrast.mean - contrast.wanted; };
  const auto [least, most] = std::ranges::minmax_element(judged.contrasts, {}, above);
  judged.tally = fmt::format("{} / {} / {}", count[Verdict::kHeld], count[Verdict::kNotHeld],
                             count[Verdict::kNotDecided]);
  const auto text = [](const JudgedContrast& contrast) {
    const std::string spread =
        contrast.seeds < 2 ? "" : " ± " + FormatNumber("{:.2f}", contrast.spread);
    return fmt::format("{}{} ({})", FormatNumber("{:.2f}", contrast.mean), spread, contrast.what);
  };
  judged.reading = fmt::format(
      "Of {} comparisons {} held, {} not held and {} not decided; from {} to {}, wanted {:.4g}",
      judged.contrasts.size(), count[Verdict::kHeld], count[Verdict::kNotHeld],
      count[Verdict::kNotDecided], text(*least), text(*most), least->wanted);
  if (least->seeds < 2) judged.reading += "; one seed decides nothing";
  return judged;
}

std::vector<Contrast> Differences(const FiguresOfRuns& figures, const FigureSource& a,
                                  const FigureSource& b, const std::string& metric, double wanted,
                                  double sign) {
  return Collect(figures, a, b, metric, wanted, "{} − {}, {} bits",
                 [sign](const Pair& pair) { return sign * (pair.a - pair.b); });
}

std::vector<Contrast> Ratios(const FiguresOfRuns& figures, const FigureSource& a,
                             const FigureSource& b, const std::string& metric, double wanted) {
  return Collect(figures, b, a, metric, wanted, "{} / {}, {} bits",
                 [](const Pair& pair) { return pair.a / pair.b; });
}

std::vector<Contrast> Growth(const FiguresOfRuns& figures, const FigureSource& a,
                             const FigureSource& b, const std::string& metric, double wanted) {
  const auto pairs = PairsOf(figures, a, b, metric);
  if (pairs.size() < 2) return {};
  const auto& [shortest, at_shortest] = *pairs.begin();
  const auto& [longest, at_longest] = *pairs.rbegin();
  Contrast growth{.what = fmt::format("{} − {}, from {} to {} bits", NameOf(a, b), NameOf(b, a),
                                      shortest, longest),
                  .values = {},
                  .wanted = wanted};
  for (const auto& [seed, pair] : at_longest) {
    const auto before = at_shortest.find(seed);
    if (before == at_shortest.end()) continue;
    growth.values.push_back((pair.a - pair.b) - (before->second.a - before->second.b));
  }
  return {growth};
}

std::vector<Contrast> WithinRun(
    const FiguresOfRuns& figures, const FigureSource& source, const std::string& what,
    const std::function<double(const std::map<std::string, double>&)>& value) {
  const Figures* all = FiguresOf(figures, source.run);
  if (all == nullptr) return {};
  std::map<int, Contrast> by_bits;
  for (const auto& [key, run] : *all) {
    if (key.method != source.method) continue;
    Contrast& contrast = by_bits[key.bits];
    contrast.what = fmt::format("{}: {}, {} bits", source.method, what, key.bits);
    contrast.values.push_back(value(run.metrics));
  }
  std::vector<Contrast> contrasts;
  contrasts.reserve(by_bits.size());
  for (auto& [bits, contrast] : by_bits) contrasts.push_back(std::move(contrast));
  return contrasts;
}

std::vector<Contrast> LengthGain(const FiguresOfRuns& figures, const FigureSource& source,
                                 const std::string& metric, double wanted) {
  const auto pairs = PairsOf(figures, source, source, metric);
  if (pairs.size() < 2) return {};
  const auto& [shortest, at_shortest] = *pairs.begin();
  const auto& [longest, at_longest] = *pairs.rbegin();
  Contrast gain{
      .what = fmt::format("{}: {}, {} − {} bits", source.run, source.method, longest, shortest),
      .values = {},
      .wanted = wanted};
  for (const auto& [seed, pair] : at_longest) {
    const auto before = at_shortest.find(seed);
    if (before != at_shortest.end()) gain.values.push_back(pair.a - before->second.a);
  }
  return {gain};
}

}  // namespace bitpool
