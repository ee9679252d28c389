#include "bitpool/library/library_decisions.h"

#include <fmt/format.h>

#include <algorithm>

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

Decision Add(Catalogue& catalogue, Decision decision) {
  for (const Decision& old : catalogue.Snapshot()->Decisions()) {
    if (SaysTheSame(old, decision)) return old;
  }
  const auto batch = catalogue.StartBatch(PictureSet::kCurrent);
  decision.id = batch->AddDecision(decision);
  batch->Commit();
  return decision;
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

Decision KeepApart(Catalogue& catalogue, uint64_t first, uint64_t second) {
  Decision decision = {.kind = DecisionKind::kNotDuplicates};
  {
    const auto snapshot = catalogue.Snapshot();
    decision.first = MarkOfId(*snapshot, first);
    decision.second = MarkOfId(*snapshot, second);
  }
  if (ContentOf(decision.first) == ContentOf(decision.second)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("pictures {} and {} have the same bytes: expected different ones, or a "
                            "mark on each to be kept",
                            first, second));
  }
  return Add(catalogue, std::move(decision));
}

Decision KeepPicture(Catalogue& catalogue, uint64_t id) {
  return Add(catalogue,
             {.kind = DecisionKind::kKeep, .first = MarkOfId(*catalogue.Snapshot(), id)});
}

}  // namespace bitpool
