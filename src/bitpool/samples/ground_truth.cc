#include "bitpool/samples/ground_truth.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

void SortUnique(std::vector<Index>& items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
}

}  // namespace

void ListedTruth::AddQuery(std::vector<Index> relevant, std::vector<Index> ignored) {
  SortUnique(relevant);
  SortUnique(ignored);
  for (const std::vector<Index>& items : {std::cref(relevant), std::cref(ignored)}) {
    if (!items.empty() && (items.front() < 0 || items.back() >= database_size_)) {
      const Index bad = items.front() < 0 ? items.front() : items.back();
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("ground truth of query {}: item {}, but the database has {}",
                              query_count(), bad, database_size_));
    }
  }
  std::vector<Index> both;
  std::set_intersection(relevant.begin(), relevant.end(), ignored.begin(), ignored.end(),
                        std::back_inserter(both));
  if (!both.empty()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("ground truth of query {}: item {} is relevant and ignored",
                            query_count(), both.front()));
  }
  queries_.push_back({.relevant = std::move(relevant), .ignored = std::move(ignored)});
}

void ListedTruth::Judge(Index query, std::span<Judgement> out) const {
  const Answers& answers = queries_.at(static_cast<size_t>(query));
  std::fill(out.begin(), out.end(), Judgement::kIrrelevant);
  for (const Index item : answers.relevant) out[static_cast<size_t>(item)] = Judgement::kRelevant;
  for (const Index item : answers.ignored) out[static_cast<size_t>(item)] = Judgement::kIgnored;
}

void LabelTruth::Judge(Index query, std::span<Judgement> out) const {
  const std::span<const int32_t> classes = queries_.of(query);
  for (Index item = 0; item < database_.size(); ++item) {
    out[static_cast<size_t>(item)] =
        ShareClass(classes, database_.of(item)) ? Judgement::kRelevant : Judgement::kIrrelevant;
  }
}

}  // namespace bitpool
