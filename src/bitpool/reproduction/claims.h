#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bitpool/experiments/run_figures.h"

namespace bitpool {

// The figures of single runs, by the name of the run that made them. What was not run is not there.
using FiguresOfRuns = std::map<std::string, std::map<RunKey, RunFigures>>;

enum class Verdict { kHeld, kNotHeld, kNotDecided, kNotRun };
std::string_view VerdictText(Verdict verdict);

// A figure that a claim says something about, with one value for each seed.
struct Contrast {
  std::string what;            // "sah − itq, 32 bits"
  std::vector<double> values;  // of each seed
  double wanted = 0;           // the claim: at least this
  bool equal_is_enough = false;
};

// A contrast as it was judged. With m and s the mean and standard deviation over the seeds, it is
// held where m − s > wanted, not held where m + s < wanted, and not decided between. Where equality
// is enough it is held where m + s >= wanted. One seed decides nothing.
struct JudgedContrast {
  std::string what;
  double mean = 0, spread = 0;
  int seeds = 0;
  double wanted = 0;
  Verdict verdict = Verdict::kNotRun;
};
JudgedContrast Judge(const Contrast& contrast);

// Something that the paper says.
struct ClaimSpec {
  std::string name;
  std::string entry;  // where it belongs
  std::string text;   // what the paper says
  std::string rule;   // what is judged
  std::function<std::vector<Contrast>(const FiguresOfRuns&)> contrasts;
};

struct JudgedClaim {
  std::string name, entry, text, rule;
  // Not held when one contrast is not, otherwise not decided when one is not, otherwise held; not
  // run when there is none.
  Verdict verdict = Verdict::kNotRun;
  std::string tally;    // comparisons held / not held / not decided
  std::string reading;  // the numbers, in a sentence
  std::vector<JudgedContrast> contrasts;
};
JudgedClaim Judge(const ClaimSpec& claim, const FiguresOfRuns& figures);

// Where a figure is found: a method of a run.
struct FigureSource {
  std::string run;
  std::string method;
};

// metric of a − that of b, for every code length that both have and every seed they share. `sign`
// −1 where less is better.
std::vector<Contrast> Differences(const FiguresOfRuns& figures, const FigureSource& a,
                                  const FigureSource& b, const std::string& metric, double wanted,
                                  double sign = 1);
// metric of b / that of a, likewise.
std::vector<Contrast> Ratios(const FiguresOfRuns& figures, const FigureSource& a,
                             const FigureSource& b, const std::string& metric, double wanted);
// How much the difference of a and b grows from their shortest to their longest codes.
std::vector<Contrast> Growth(const FiguresOfRuns& figures, const FigureSource& a,
                             const FigureSource& b, const std::string& metric, double wanted);

// A value of every single run of a method, for every code length; wanted 0.
std::vector<Contrast> WithinRun(
    const FiguresOfRuns& figures, const FigureSource& source, const std::string& what,
    const std::function<double(const std::map<std::string, double>&)>& value);

// metric of the longest codes − that of the shortest.
std::vector<Contrast> LengthGain(const FiguresOfRuns& figures, const FigureSource& source,
                                 const std::string& metric, double wanted);

}  // namespace bitpool
