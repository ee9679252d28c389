#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "bitpool/base/error.h"
#include "bitpool/http/problem.h"
#include "bitpool/library/move_script.h"
#include "bitpool/serve/library_changes.h"
#include "bitpool/serve/parameters.h"
#include "bitpool/serve/picture_files.h"
#include "bitpool/serve/picture_json.h"
#include "bitpool/serve/service_state.h"

namespace bitpool {
namespace {

using nlohmann::json;

[[noreturn]] void Refuse(const std::string& detail) {
  throw ProblemError(400, "invalid_argument", detail);
}

// The rules that a request may name. Preferred folders have a parameter of their own, which comes
// before the rule.
std::vector<std::string_view> RuleNames() {
  std::vector<std::string_view> names;
  for (const KeepRule rule : KeepRulesToAskFor()) {
    if (rule != KeepRule::kFolder) names.push_back(NameOf(rule));
  }
  return names;
}

KeepRule RuleOf(const std::string& name) {
  const std::vector<std::string_view> known = RuleNames();
  if (std::ranges::find(known, name) == known.end())
    Refuse(fmt::format("rule: expected one of {}", fmt::join(known, ", ")));
  return FindKeepRule(name);
}

using Groups = std::vector<const DuplicateGroup*>;

// The groups that nobody has decided about.
Groups OpenGroups(const ServedLibrary& served, const ServedDuplicates& found) {
  Groups open;
  for (const DuplicateGroup& group : found.groups) {
    const bool decided = std::ranges::any_of(group.pictures, [&](const DuplicatePicture& member) {
      return served.decisions().IsGone(member.picture);
    });
    if (!decided) open.push_back(&group);
  }
  return open;
}

json GroupJson(const ServedLibrary& served, const DuplicateGroup& group) {
  json members = json::array();
  for (const DuplicatePicture& member : group.pictures) {
    members.push_back({{"picture", PictureJson(served.name(), member.picture)},
                       {"kind", member.compared_with ? json(NameOf(member.evidence.kind)) : json()},
                       {"distance", member.distance},
                       {"keep", member.keep}});
  }
  return {{"id", GroupId(group)},
          {"kind", NameOf(group.kind)},
          {"keep", group.pictures.front().picture.id},
          {"reason", group.reason.words},
          {"members", std::move(members)},
          {"bytes", SpareBytes(group)}};
}

json SummaryJson(const Groups& groups) {
  json summary;
  for (const DuplicateKind kind : {DuplicateKind::kExact, DuplicateKind::kEdited,
                                   DuplicateKind::kPart, DuplicateKind::kSimilar}) {
    uint64_t count = 0, pictures = 0, bytes = 0;
    for (const DuplicateGroup* group : groups) {
      if (group->kind != kind) continue;
      ++count;
      pictures += static_cast<uint64_t>(
          std::ranges::count(group->pictures, false, &DuplicatePicture::keep));
      bytes += SpareBytes(*group);
    }
    summary[NameOf(kind)] = {{"groups", count}, {"pictures", pictures}, {"bytes", bytes}};
  }
  return summary;
}

// A folder of the library that is preferred, as an absolute path. Of any other a client is not told
// whether it is there.
std::string PreferredFolder(const ServedLibrary& served, const std::string& folder) {
  if (folder.empty()) return {};
  if (const auto found = served.roots().FindFolder(served.env(), folder)) return found->string();
  throw ProblemError(
      404, "not_found",
      fmt::format("prefer_folder: there is no folder \"{}\" in the library", folder));
}

DuplicatesQuery ReadQuery(const ServedLibrary& served, const RequestTarget& target) {
  const std::string rule = target.Parameter("rule").value_or(NameOf(DuplicatesQuery().rule));
  DuplicatesQuery query{
      .rule = RuleOf(rule),
      .prefer_folder = PreferredFolder(served, TextParameter(target, "prefer_folder")),
      .similar = TextParameter(target, "kind") == "similar"};
  if (const auto radius = NumberParameter(target, "radius", {.least = 0, .most = kMaxBits}))
    query.radius = static_cast<int>(*radius);
  return query;
}

// Where a page begins: after the group that the cursor names or, when that is gone, at its place.
size_t PlaceAfter(const Groups& groups, const std::optional<std::string>& cursor) {
  if (!cursor) return 0;
  const size_t dot = cursor->find('.');
  if (dot == std::string::npos) Refuse("cursor: expected `next` of a page");
  const std::string id = cursor->substr(0, dot);
  const auto found =
      std::ranges::find(groups, id, [](const auto* group) { return GroupId(*group); });
  if (found != groups.end()) return static_cast<size_t>(found - groups.begin()) + 1;
  return std::min<size_t>(NumberSegment(cursor->substr(dot + 1), "page"), groups.size());
}

HttpResponse ListDuplicates(const RouteCall& call, const ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  const DuplicatesQuery query = ReadQuery(served, call.target);
  const std::string kind =
      ChoiceParameter(call.target, "kind", {"", "exact", "edited", "part", "similar"});
  const auto limit = static_cast<size_t>(LimitParameter(call.target));
  (void)served.Snapshot();  // says why there is nothing
  const auto found = served.duplicates().Get(served.library(), query, state.all_threads);
  const Groups open = OpenGroups(served, *found);
  Groups wanted;
  std::ranges::copy_if(open, std::back_inserter(wanted), [&](const DuplicateGroup* group) {
    return kind.empty() || NameOf(group->kind) == kind;
  });
  const size_t first = PlaceAfter(wanted, call.target.Parameter("cursor"));
  const size_t end = std::min(first + limit, wanted.size());
  json groups = json::array(), next;
  for (size_t i = first; i < end; ++i) groups.push_back(GroupJson(served, *wanted[i]));
  if (end < wanted.size() && end > 0) next = fmt::format("{}.{}", GroupId(*wanted[end - 1]), end);
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
  const DuplicatesQuery query{
      .rule = RuleOf(body.value("rule", NameOf(DuplicatesQuery().rule))),
      .prefer_folder = PreferredFolder(served, body.value("prefer_folder", "")),
      .similar = kind == "similar"};
  const auto found = served.duplicates().Get(served.library(), query, state.all_threads);
  ServedDecision decision{.action = "keep_suggested"};
  for (const DuplicateGroup* group : OpenGroups(served, *found)) {
    if (NameOf(group->kind) != kind) continue;
    ++decision.groups;
    const size_t keeper = decision.kept.size();
    for (const DuplicatePicture& member : group->pictures) {
      (member.keep ? decision.kept : decision.gone).push_back(DecidedOf(member.picture));
      if (!member.keep) decision.keeper.push_back(keeper);
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

// Records in the library what later groups must respect, whoever looks for them. Returns what is to
// be forgotten with this decision: not what somebody else had decided before.
std::vector<uint64_t> NoteInLibrary(const ServedLibrary& served, const ServedDecision& decision) {
  std::vector<uint64_t> ids(decision.kept.size());
  std::ranges::transform(decision.kept, ids.begin(), &DecidedPicture::id);
  std::vector<NotedDecision> decisions;
  if (decision.action == "keep") decisions = served.library().DecideToKeep(ids);
  if (decision.action == "not_duplicates") decisions = served.library().DecideNotDuplicates(ids);
  const std::set<uint64_t> ours = served.decisions().InLibrary();
  std::vector<uint64_t> noted;
  for (const NotedDecision& one : decisions) {
    if (one.is_new || ours.contains(one.decision.id)) noted.push_back(one.decision.id);
  }
  return noted;
}

// Forgets what no other decision in force is noted by.
void ForgetInLibrary(const ServedLibrary& served, const std::vector<uint64_t>& noted) {
  const std::set<uint64_t> in_force = served.decisions().InLibrary();
  for (const uint64_t id : noted) {
    if (in_force.contains(id)) continue;
    try {
      served.library().UndoDecision(id);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kNotFound) throw;  // somebody else undid it
    }
  }
}

ServedDecision NoteDecision(ServedLibrary& served, ServedDecision decision, bool move) {
  decision.in_library = NoteInLibrary(served, decision);
  const std::vector<uint64_t> noted = decision.in_library;
  try {
    return served.decisions().Add(std::move(decision), move, served.roots());
  } catch (...) {
    ForgetInLibrary(served, noted);  // nobody could undo it
    throw;
  }
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
  decision = NoteDecision(served, std::move(decision), move);
  if (decision.moved) ForgetMoved(served, decision);
  served.duplicates().Forget();
  return JsonResponse(ToJson(decision));
}

HttpResponse Undo(const RouteCall& call, ServiceState& state) {
  ServedLibrary& served = state.Library(call.captured[0]);
  const uint64_t number = NumberSegment(call.captured[1], "decision");
  const bool moves = std::ranges::any_of(served.decisions().List(), [&](const auto& one) {
    return one.number == number && one.moved;
  });
  if (moves) RequireLeave(state);
  const ServedDecision decision = served.decisions().Undo(number, served.roots());
  ForgetInLibrary(served, decision.in_library);
  served.duplicates().Forget();
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
  for (const ServedDecision& decision : served.decisions().List()) {
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
      std::vector<DuplicatePicture>& group = by_keeper[decision.keeper[i]].pictures;
      if (group.empty()) {
        DuplicatePicture& keeper = group.emplace_back();
        keeper.picture.path = decision.kept[decision.keeper[i]].path;
        keeper.keep = true;
      }
      group.emplace_back().picture.path = decision.gone[i].path;
    }
    for (auto& [keeper, group] : by_keeper) groups.push_back(std::move(group));
  }
  return {.headers = {{"Content-Type", "text/x-shellscript"},
                      {"Content-Disposition", "attachment; filename=move-duplicates.sh"},
                      {"Cache-Control", "no-store"}},
          .body = MoveScript(served.roots().root, groups)};
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
