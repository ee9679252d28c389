#include "bitpool/library/library_decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

PictureMark MarkOfId(const CatalogueSnapshot& catalogue, uint64_t id) {
  const std::optional<CataloguedPicture> picture = catalogue.FindById(id);
  if (picture) return MarkOf(*picture);
  throw Error(ErrorCode::kNotFound, fmt::format("there is no picture {}", id));
}

bool SaysTheSame(const Decision& a, const Decision& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == DecisionKind::kKeep) return a.first == b.first;
  return std::minmax(ContentOf(a.first), ContentOf(a.second)) ==
         std::minmax(ContentOf(b.first), ContentOf(b.second));
}

std::vector<NotedDecision> AddAll(Catalogue& catalogue, const std::vector<Decision>& decisions) {
  std::vector<NotedDecision> noted;
  std::vector<Decision> known = catalogue.Snapshot()->Decisions();
  std::unique_ptr<CatalogueBatch> batch;  // only for something new: another may be writing
  for (const Decision& decision : decisions) {
    const auto old = std::ranges::find_if(
        known, [&](const Decision& one) { return SaysTheSame(one, decision); });
    if (old != known.end()) {
      noted.push_back({.decision = *old});
      continue;
    }
    if (!batch) batch = catalogue.StartBatch(PictureSet::kCurrent);
    known.push_back(decision);
    known.back().id = batch->AddDecision(decision);
    noted.push_back({.decision = known.back(), .is_new = true});
  }
  if (batch) batch->Commit();
  return noted;
}

std::vector<PictureMark> MarksOfIds(const Catalogue& catalogue, std::span<const uint64_t> ids) {
  const auto snapshot = catalogue.Snapshot();
  std::vector<PictureMark> marks;
  for (const uint64_t id : ids) marks.push_back(MarkOfId(*snapshot, id));
  return marks;
}

}  // namespace

Decisions::Decisions(const CatalogueSnapshot& catalogue) : catalogue_(catalogue) {
  for (const Decision& decision : catalogue.Decisions()) {
    const ContentKey first = ContentOf(decision.first);
    if (decision.kind == DecisionKind::kKeep) {
      kept_.emplace(first, decision.first.path);
    } else {
      apart_.emplace(first, ContentOf(decision.second));
      apart_.emplace(ContentOf(decision.second), first);
    }
  }
}

std::vector<ContentKey> Decisions::ApartFrom(const ContentKey& content) const {
  std::vector<ContentKey> others;
  const auto [begin, end] = apart_.equal_range(content);
  for (auto other = begin; other != end; ++other) others.push_back(other->second);
  return others;
}

bool Decisions::IsKept(const CataloguedPicture& picture) const {
  const auto [begin, end] = kept_.equal_range(ContentOf(picture));
  return std::any_of(begin, end, [&](const auto& mark) {
    if (mark.second == picture.path) return true;
    const std::optional<CataloguedPicture> there = catalogue_.FindByPath(mark.second);
    return !there || ContentOf(*there) != mark.first;
  });
}

std::vector<NotedDecision> KeepApart(Catalogue& catalogue, std::span<const uint64_t> ids) {
  const std::vector<PictureMark> marks = MarksOfIds(catalogue, ids);
  std::vector<Decision> decisions;
  for (size_t i = 0; i < ids.size(); ++i) {
    for (size_t j = i + 1; j < ids.size(); ++j) {
      if (ContentOf(marks[i]) == ContentOf(marks[j])) {
        throw Error(ErrorCode::kInvalidArgument,
                    fmt::format("{} and {} have the same bytes: expected different pictures, or a "
                                "mark on each to be kept",
                                marks[i].path, marks[j].path));
      }
      decisions.push_back(
          {.kind = DecisionKind::kNotDuplicates, .first = marks[i], .second = marks[j]});
    }
  }
  return AddAll(catalogue, decisions);
}

std::vector<NotedDecision> KeepPictures(Catalogue& catalogue, std::span<const uint64_t> ids) {
  std::vector<Decision> decisions;
  for (PictureMark& mark : MarksOfIds(catalogue, ids)) {
    decisions.push_back({.kind = DecisionKind::kKeep, .first = std::move(mark)});
  }
  return AddAll(catalogue, decisions);
}

}  // namespace bitpool
