#include "bitpool/training/tune_search.h"

#include <cmath>

namespace bitpool {

std::vector<OptionValues> TuneSearch::Grid(const TunePlan::Stage& stage,
                                           const OptionValues& best) const {
  std::vector<OptionValues> grid;
  Extend(stage, 0, best, grid);
  return grid;
}

void TuneSearch::Extend(const TunePlan::Stage& stage, size_t axis, OptionValues candidate,
                        std::vector<OptionValues>& grid) const {
  if (axis == stage.size()) {
    grid.push_back(std::move(candidate));
    return;
  }
  const auto& [option, values, multiples_of] = stage[axis];
  const double unit = multiples_of.empty() ? 1 : candidate.find(multiples_of)->second;
  const auto set = set_.find(option);
  const std::vector<double> multiples =
      set == set_.end() ? values : std::vector<double>{set->second / unit};
  for (const double multiple : multiples) {
    candidate[std::string(option)] = unit * multiple;
    Extend(stage, axis + 1, candidate, grid);
  }
}

std::vector<OptionValues> TuneSearch::Around(const OptionValues& best, double step) const {
  std::vector<OptionValues> candidates;
  for (const double factor : {1 / step, step}) {
    for (const TunePlan::Move& move : plan_.moves) {
      if (set_.contains(move.front())) continue;
      OptionValues candidate = best;
      for (const std::string_view option : move) {
        if (!set_.contains(option)) candidate.find(option)->second *= factor;
      }
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

double SureGain(std::span<const double> candidate, std::span<const double> best) {
  const auto runs = static_cast<double>(candidate.size());
  double mean = 0;
  for (size_t run = 0; run < candidate.size(); ++run) mean += (candidate[run] - best[run]) / runs;
  double squares = 0;
  for (size_t run = 0; run < candidate.size(); ++run) {
    squares += std::pow(candidate[run] - best[run] - mean, 2);
  }
  return candidate.size() == 1 ? mean : mean - std::sqrt(squares / (runs - 1) / runs);
}

}  // namespace bitpool
