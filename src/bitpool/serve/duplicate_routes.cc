#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bitpool/http/problem.h"
#include "bitpool/library/library_duplicates.h"
#include "bitpool/serve/library_changes.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/picture_files.h"
#include "bitpool/serve/picture_json.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

const std::initializer_list<std::string_view> kRules = {"pixels", "size", "oldest", "format",
                                                        "path"};

[[noreturn]] void Refuse(const std::string& detail) {
  throw ProblemError(400, "invalid_argument", detail);
}

// The groups that nobody has decided about.
std::vector<const ServedGroup*> OpenGroups(ServedLibrary& served, const ServedDuplicates& found) {
  std::vector<const ServedGroup*> open;
  for (const ServedGroup& group : found.groups) {
    std::vector<const CataloguedPicture*> left;
    for (const ServedDuplicate& member : group.members) {
      if (!served.decisions().IsGone(member.picture)) left.push_back(&member.picture);
    }
    if (left.size() == group.members.size() && !served.decisions().AreApart(left))
      open.push_back(&group);
  }
  return open;
}

json GroupJson(const ServedLibrary& served, const ServedGroup& group) {
  json members = json::array();
  for (const ServedDuplicate& member : group.members) {
    const bool keep = &member == &group.members.front();
    members.push_back({{"picture", PictureJson(served.name(), member.picture)},
                       {"kind", keep ? json() : json(member.kind)},
                       {"distance", member.distance},
                       {"keep", keep}});
  }
  return {{"id", group.id},
          {"kind", group.kind},
          {"keep", group.members.front().picture.id},
          {"reason", group.reason},
          {"members", std::move(members)},
          {"bytes", group.spare_bytes()}};
}

json SummaryJson(const std::vector<const ServedGroup*>& groups) {
  json summary;
  for (const char* kind : {"exact", "edited", "part", "similar"}) {
    uint64_t count = 0, pictures = 0, bytes = 0;
    for (const ServedGroup* group : groups) {
      if (group->kind != kind) continue;
      ++count;
      pictures += group->members.size() - 1;
      bytes += group->spare_bytes();
    }
    summary[kind] = {{"groups", count}, {"pictures", pictures}, {"bytes", bytes}};
  }
  return summary;
}

DuplicatesQuery ReadQuery(const RequestTarget& target) {
  DuplicatesQuery query{.rule = ChoiceParameter(target, "rule", kRules),
                        .prefer_folder = TextParameter(target, "prefer_folder")};
  if (const auto radius = NumberParameter(target, "radius", {.least = 0, .most = kMaxBits}))
    query.radius = static_cast<int>(*radius);
  return query;
}

// Where a page begins: behind the group that the cursor names, or, when that is gone, at its place.
size_t PlaceAfter(const std::vector<const ServedGroup*>& groups,
                  const std::optional<std::string>& cursor) {
  if (!cursor) return 0;
  const size_t dot = cursor->find('.');
  if (dot == std::string::npos) Refuse("cursor: expected `next` of a page");
  const std::string id = cursor->substr(0, dot);
  const auto found = std::ranges::find(groups, id, [](const auto* group) { return group->id; });
  if (found != groups.end()) return static_cast<size_t>(found - groups.begin()) + 1;
  return std::min<size_t>(NumberSegment(cursor->substr(dot + 1), "page"), groups.size());
}

HttpResponse ListDuplicates(const RouteCall& call, const ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  const DuplicatesQuery query = ReadQuery(call.target);
  const std::string kind =
      ChoiceParameter(call.target, "kind", {"", "exact", "edited", "part", "similar"});
  const auto limit = static_cast<size_t>(LimitParameter(call.target));
  (void)served.Snapshot();  // says why there is nothing
  const auto found = served.duplicates().Get(served.library(), query, state.all_threads);
  const std::vector<const ServedGroup*> open = OpenGroups(served, *found);
  std::vector<const ServedGroup*> wanted;
  std::ranges::copy_if(open, std::back_inserter(wanted), [&](const ServedGroup* group) {
    return kind.empty() ? group->kind != "similar" : group->kind == kind;
  });
  const size_t first = PlaceAfter(wanted, call.target.Parameter("cursor"));
  const size_t end = std::min(first + limit, wanted.size());
  json groups = json::array(), next;
  for (size_t i = first; i < end; ++i) groups.push_back(GroupJson(served, *wanted[i]));
  if (end < wanted.size() && end > 0) next = fmt::format("{}.{}", wanted[end - 1]->id, end);
  return JsonResponse({{"groups", std::move(groups)},
                       {"total", wanted.size()},
                       {"next", std::move(next)},
                       {"summary", SummaryJson(open)},
                       {"generation", found->generation}});
}

std::vector<CataloguedPicture> PicturesOf(const ServedLibrary& served, const json& body,
                                          const char* field) {
  const auto ids = body.find(field);
  const bool fine =
      ids != body.end() && ids->is_array() && !ids->empty() &&
      std::ranges::all_of(*ids, [](const json& id) { return id.is_number_unsigned(); });
  if (!fine) Refuse(fmt::format("{}: expected ids of pictures", field));
  std::vector<CataloguedPicture> pictures;
  std::set<uint64_t> seen;
  for (const json& id : *ids) {
    if (!seen.insert(id.get<uint64_t>()).second) continue;
    pictures.push_back(RequirePicture(served, id.dump()));
  }
  return pictures;
}

ServedDecision KeepOf(const ServedLibrary& served, const json& body) {
  ServedDecision decision{.action = "keep", .groups = 1};
  std::set<uint64_t> kept;
  for (const CataloguedPicture& picture : PicturesOf(served, body, "keep")) {
    decision.kept.push_back(DecidedOf(picture));
    kept.insert(picture.id);
  }
  for (const CataloguedPicture& picture : PicturesOf(served, body, "pictures")) {
    if (kept.contains(picture.id)) continue;
    decision.gone.push_back(DecidedOf(picture));
    decision.keeper.push_back(0);
  }
  return decision;
}

ServedDecision KeepSuggestedOf(ServedLibrary& served, const ServiceState& state, const json& body) {
  const std::string kind = body.value("kind", "");
  if (kind != "exact" && kind != "edited" && kind != "part" && kind != "similar")
    Refuse("kind: expected exact, edited, part or similar");
  DuplicatesQuery query{.rule = body.value("rule", "pixels"),
                        .prefer_folder = body.value("prefer_folder", "")};
  if (std::ranges::find(kRules, query.rule) == kRules.end())
    Refuse(fmt::format("rule: expected one of {}", fmt::join(kRules, ", ")));
  const auto found = served.duplicates().Get(served.library(), query, state.all_threads);
  ServedDecision decision{.action = "keep_suggested"};
  for (const ServedGroup* group : OpenGroups(served, *found)) {
    if (group->kind != kind) continue;
    ++decision.groups;
    decision.kept.push_back(DecidedOf(group->members.front().picture));
    for (size_t i = 1; i < group->members.size(); ++i) {
      decision.gone.push_back(DecidedOf(group->members[i].picture));
      decision.keeper.push_back(decision.kept.size() - 1);
    }
  }
  return decision;
}

ServedDecision ReadDecision(ServedLibrary& served, const ServiceState& state, const json& body) {
  const std::string action = body.value("action", "");
  if (action == "keep") return KeepOf(served, body);
  if (action == "keep_suggested") return KeepSuggestedOf(served, state, body);
  ServedDecision decision{.action = action};
  if (action != "not_duplicates" && action != "trash")
    Refuse("action: expected keep, not_duplicates, trash or keep_suggested");
  for (const CataloguedPicture& picture : PicturesOf(served, body, "pictures")) {
    (action == "trash" ? decision.gone : decision.kept).push_back(DecidedOf(picture));
  }
  if (action == "not_duplicates" && decision.kept.size() < 2)
    Refuse("pictures: expected two or more that are no duplicates");
  return decision;
}

void RequireLeave(const ServiceState& state) {
  if (state.options.allow_changes) return;
  throw ProblemError(403, "changes_not_allowed",
                     "this server moves no pictures; --allow-changes lets it");
}

HttpResponse Decide(const RouteCall& call, const ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  (void)served.Snapshot();
  json body = JsonBody(call.request);
  ServedDecision decision;
  try {
    decision = ReadDecision(served, state, body);
    if (body.value("preview", false)) return JsonResponse(ToJson(decision));
  } catch (const json::exception&) {
    Refuse("the body: a field has another type than is expected");
  }
  const bool move = state.options.allow_changes;
  if (decision.action == "trash") RequireLeave(state);
  decision = served.decisions().Add(std::move(decision), move, served.root());
  if (decision.moved) ForgetMoved(served, decision);
  return JsonResponse(ToJson(decision));
}

HttpResponse Undo(const RouteCall& call, ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  const uint64_t number = NumberSegment(call.captured[1], "decision");
  const bool moves = std::ranges::any_of(served.decisions().List(), [&](const auto& one) {
    return one.number == number && one.moved;
  });
  if (moves) RequireLeave(state);
  const ServedDecision decision = served.decisions().Undo(number, served.root());
  // What came back is found and encoded again.
  if (decision.moved) StartUpdate(state, served);
  return JsonResponse(ToJson(decision));
}

HttpResponse ListDecisions(const RouteCall& call, const ServiceState& state) {
  const ServedLibrary& served = state.Library(call.captured[0]);
  const auto limit = static_cast<size_t>(LimitParameter(call.target));
  const std::optional<std::string> cursor = call.target.Parameter("cursor");
  const uint64_t before = cursor ? NumberSegment(*cursor, "page") : UINT64_MAX;
  json decisions = json::array(), next;
  for (const ServedDecision& decision : state.Library(served.name()).decisions().List()) {
    if (decision.number >= before) continue;
    if (decisions.size() == limit) {
      next = std::to_string(decision.number + 1);
      break;
    }
    decisions.push_back(ToJson(decision));
  }
  return JsonResponse({{"decisions", std::move(decisions)}, {"next", std::move(next)}});
}

// What was decided and not moved, as groups of the one to keep and the ones to go.
HttpResponse Script(const RouteCall& call, const ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  std::vector<DuplicateGroup> groups;
  for (const ServedDecision& decision : served.decisions().List()) {
    if (decision.moved || decision.undone || decision.keeper.empty()) continue;
    std::map<uint64_t, DuplicateGroup> by_keeper;
    for (size_t i = 0; i < decision.gone.size(); ++i) {
      DuplicateGroup& group = by_keeper[decision.keeper[i]];
      if (group.empty()) group.emplace_back().picture.path = decision.kept[decision.keeper[i]].path;
      group.emplace_back().picture.path = decision.gone[i].path;
    }
    for (auto& [keeper, group] : by_keeper) groups.push_back(std::move(group));
  }
  return {.headers = {{"Content-Type", "text/x-shellscript"},
                      {"Content-Disposition", "attachment; filename=move-duplicates.sh"},
                      {"Cache-Control", "no-store"}},
          .body = MoveScript(served.root(), groups)};
}

}  // namespace

void AddDuplicateRoutes(RouteTable& table, ServiceState& state) {
  const std::string base = "/v1/libraries/{library}/duplicates";
  table.Add({.method = "GET",
             .pattern = base,
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) { return ListDuplicates(call, state); },
             .lane = Lane::kSlow});
  table.Add({.method = "GET",
             .pattern = base + "/decisions",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) { return ListDecisions(call, state); }});
  table.Add({.method = "POST",
             .pattern = base + "/decisions",
             .access = Access::kWrite,
             .answer = [&state](const RouteCall& call) { return Decide(call, state); },
             .lane = Lane::kSlow,
             .body_limit = kJsonBytes,
             .media_types = {"application/json"}});
  table.Add({.method = "DELETE",
             .pattern = base + "/decisions/{decision}",
             .access = Access::kWrite,
             .answer = [&state](const RouteCall& call) { return Undo(call, state); },
             .lane = Lane::kSlow});
  table.Add({.method = "GET",
             .pattern = base + "/script",
             .access = Access::kRead,
             .answer = [&state](const RouteCall& call) { return Script(call, state); },
             .lane = Lane::kSlow});
}

}  // namespace bitpool
