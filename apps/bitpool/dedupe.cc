#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "bitpool/base/shown_text.h"
#include "bitpool/dataset/public_sets.h"
#include "bitpool/library/library_pages.h"
#include "bitpool/library/move_script.h"
#include "bitpool/library/picture_library.h"
#include "library_rights.h"
#include "number_checks.h"
#include "subcommands.h"

namespace bitpool::app {
namespace {

struct DedupeOptions {
  std::string library = ".bitpool", html, script;
  DuplicateSearch search;
  std::vector<std::string> keep;  // names of rules
  IfExists if_exists = IfExists::kFail;

  // Decisions, made instead of a search.
  std::vector<std::string> not_duplicates, mark_keep;
  std::vector<uint64_t> undo;
  bool list_decisions = false;

  bool decides() const {
    return list_decisions || !not_duplicates.empty() || !mark_keep.empty() || !undo.empty();
  }
};

nlohmann::json ToJson(const PairEvidence& evidence) {
  nlohmann::json json = {{"kind", NameOf(evidence.kind)},
                         {"same_file", evidence.same_file},
                         {"mirrored", evidence.mirrored},
                         {"agreement", evidence.agreement},
                         {"distance", evidence.distance}};
  if (evidence.kind == DuplicateKind::kPart) {
    json["part"] = evidence.first_is_part ? "first" : "second";
  }
  return json;
}

nlohmann::json ToJson(const DuplicateGroup& group, size_t place) {
  const DuplicatePicture& member = group.pictures[place];
  nlohmann::json json = {{"path", member.picture.path},
                         {"id", member.picture.id},
                         {"keep", member.keep},
                         {"marked", member.marked},
                         {"distance", member.distance},
                         {"width", member.picture.width},
                         {"height", member.picture.height},
                         {"size", member.picture.size}};
  if (member.compared_with) {
    json["compared_with"] = group.pictures[*member.compared_with].picture.path;
    json["evidence"] = ToJson(member.evidence);
  }
  return json;
}

nlohmann::json ToJson(const std::vector<DuplicateGroup>& groups) {
  nlohmann::json json = nlohmann::json::array();
  for (const DuplicateGroup& group : groups) {
    nlohmann::json members = nlohmann::json::array(), pairs = nlohmann::json::array();
    for (size_t i = 0; i < group.pictures.size(); ++i) members.push_back(ToJson(group, i));
    for (const DuplicatePair& pair : group.pairs) {
      nlohmann::json one = ToJson(pair.evidence);
      one["first"] = group.pictures[pair.first].picture.path;
      one["second"] = group.pictures[pair.second].picture.path;
      pairs.push_back(std::move(one));
    }
    json.push_back(
        {{"kind", NameOf(group.kind)},
         {"reason", {{"rule", NameOf(group.reason.rule)}, {"words", group.reason.words}}},
         {"pictures", std::move(members)},
         {"pairs", std::move(pairs)}});
  }
  return json;
}

std::string ToText(const std::vector<DuplicateGroup>& groups) {
  std::string text;
  for (const DuplicateGroup& group : groups) {
    for (const DuplicatePicture& member : group.pictures) {
      const bool first = &member == &group.pictures.front();
      text += fmt::format("{}  {}  ({}{})\n", member.keep ? "keep" : "    ",
                          ShownName(member.picture.path),
                          first ? group.reason.words : WordsOf(member.evidence),
                          !first && member.marked ? "; marked to be kept" : "");
    }
    text += "\n";
  }
  return text;
}

std::string Summary(const DuplicatesAnswer& found) {
  std::array<size_t, 4> of_kind = {};
  for (const DuplicateGroup& group : found.groups) ++of_kind[static_cast<size_t>(group.kind)];
  std::string kinds;
  for (const DuplicateKind kind : {DuplicateKind::kExact, DuplicateKind::kEdited,
                                   DuplicateKind::kPart, DuplicateKind::kSimilar}) {
    const size_t count = of_kind[static_cast<size_t>(kind)];
    if (count > 0)
      kinds += fmt::format("{}{} {}", kinds.empty() ? ": " : ", ", count, NameOf(kind));
  }
  return fmt::format("{} {} within {} bits{}", found.groups.size(),
                     found.groups.size() == 1 ? "group" : "groups", found.radius, kinds);
}

void WriteText(const std::string& path, const std::string& text, IfExists if_exists,
               const Session& session) {
  WriteFile(Env::Posix(), path, std::as_bytes(std::span(text)), if_exists);
  session.Say(ShownName(path) + ": written");
}

int Search(const DedupeOptions& options, const PictureLibrary& library, const Session& session) {
  DuplicateSearch search = options.search;
  for (const std::string& name : options.keep) {
    search.keep.rules.push_back(FindKeepRule(name));
    if (search.keep.rules.back() == KeepRule::kFolder && search.keep.folders.empty()) {
      throw Error(ErrorCode::kInvalidArgument, "--keep folder: expected --prefer FOLDER too");
    }
  }
  const DuplicatesAnswer found = library.Duplicates(std::move(search), session.MakeContext());
  if (!options.html.empty()) {
    WriteText(options.html, DuplicatesPage(found.library, found.groups, found.radius),
              options.if_exists, session);
  }
  if (!options.script.empty()) {
    WriteText(options.script, MoveScript(found.library.root(), found.groups), options.if_exists,
              session);
  }
  if (session.json()) {
    Session::Print(ToJson(found.groups));
  } else {
    Session::Print(ToText(found.groups));
    session.Say(Summary(found));
  }
  return kExitFine;
}

std::string ToText(const Decision& decision) {
  return decision.kind == DecisionKind::kKeep
             ? fmt::format("{}  keep  {}\n", decision.id, ShownName(decision.first.path))
             : fmt::format("{}  not duplicates  {}  {}\n", decision.id,
                           ShownName(decision.first.path), ShownName(decision.second.path));
}

nlohmann::json ToJson(const Decision& decision) {
  nlohmann::json json = {{"id", decision.id}, {"first", decision.first.path}};
  json["kind"] = decision.kind == DecisionKind::kKeep ? "keep" : "not_duplicates";
  if (decision.kind == DecisionKind::kNotDuplicates) json["second"] = decision.second.path;
  return json;
}

std::vector<uint64_t> IdsOf(const PictureLibrary& library, const std::vector<std::string>& paths) {
  std::vector<uint64_t> ids;
  ids.reserve(paths.size());
  for (const std::string& path : paths) ids.push_back(library.IdOf(path));
  return ids;
}

void RequireDecisions(const PictureLibrary& library, const std::set<uint64_t>& ids) {
  const std::vector<Decision> decisions = library.ListDecisions();
  for (const uint64_t id : ids) {
    if (std::ranges::find(decisions, id, &Decision::id) != decisions.end()) continue;
    throw Error(ErrorCode::kNotFound, library.folder().name(),
                fmt::format("there is no decision {}", id));
  }
}

// Makes and takes back decisions, then lists all that are in force. What cannot be done is noticed
// before anything is.
int Decide(const DedupeOptions& options, const PictureLibrary& library, const Session& session) {
  const std::set<uint64_t> undo(options.undo.begin(), options.undo.end());
  const std::vector<uint64_t> apart = IdsOf(library, options.not_duplicates);
  const std::vector<uint64_t> keep = IdsOf(library, options.mark_keep);
  RequireDecisions(library, undo);
  library.DecideNotDuplicates(apart);
  if (!keep.empty()) library.DecideToKeep(keep);
  for (const uint64_t id : undo) library.UndoDecision(id);
  const std::vector<Decision> decisions = library.ListDecisions();
  nlohmann::json json = nlohmann::json::array();
  std::string text;
  for (const Decision& decision : decisions) {
    json.push_back(ToJson(decision));
    text += ToText(decision);
  }
  if (session.json()) {
    Session::Print(json);
  } else {
    Session::Print(text);
    session.Say(fmt::format("{} decisions", decisions.size()));
  }
  return kExitFine;
}

// Decisions are made instead of a search.
void RequireNoSearch(const DedupeOptions& options) {
  const DuplicateSearch& search = options.search;
  const std::pair<bool, const char*> asked[] = {
      {!options.html.empty(), "--html"},       {!options.script.empty(), "--script"},
      {!options.keep.empty(), "--keep"},       {!search.keep.folders.empty(), "--prefer"},
      {search.radius.has_value(), "--radius"}, {search.similar, "--similar"},
      {search.mirrored, "--mirrored"}};
  for (const auto& [given, name] : asked) {
    if (!given) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{}: expected a search, or decisions, in one run; not both", name));
  }
}

// The file that a name means, which need not be there.
std::filesystem::path FileOf(const std::string& name) {
  return std::filesystem::absolute(name).lexically_normal();
}

void RequireDifferentOutputs(const DedupeOptions& options) {
  if (options.html.empty() || options.script.empty()) return;
  if (FileOf(options.html) != FileOf(options.script)) return;
  throw Error(ErrorCode::kInvalidArgument, options.script,
              "expected different files for --html and --script");
}

int Dedupe(const DedupeOptions& options, const Session& session) {
  Env& env = Env::Posix();
  RequireDifferentOutputs(options);
  if (options.decides()) RequireNoSearch(options);
  for (const std::string& output : {options.html, options.script}) {
    if (!output.empty()) RequireWritable(env, output, options.if_exists);
  }
  const auto library = PictureLibrary::Open(env, options.library, DefaultDataFolder() / "copies");
  KeepLeastRightsWith(options.library, {options.html, options.script});
  return options.decides() ? Decide(options, *library, session)
                           : Search(options, *library, session);
}

void AddSearchOptions(CLI::App* command, DedupeOptions& options) {
  command
      ->add_option("--radius", options.search.radius,
                   "Look at pictures whose codes differ by at most this many bits (default: five "
                   "sixteenths of them, half among up to 500 pictures; 14 of perceptual hashes)")
      ->check(WholeFrom(0));
  command->add_flag("--similar", options.search.similar,
                    "Show pictures too whose codes are near and that are not the same");
  command->add_flag("--mirrored", options.search.mirrored,
                    "Find mirrored copies too; takes longer");
  command
      ->add_option("--keep", options.keep,
                   "What to keep: pixels, size, oldest, format, folder, path; the first rule that "
                   "tells two apart decides (default: pixels,size)")
      ->delimiter(',');
  command->add_option("--prefer", options.search.keep.folders,
                      "A folder whose pictures are kept before others");
  command->add_option("--html", options.html, "Write a page with the pictures")->check(NotEmpty());
  command
      ->add_option("--script", options.script,
                   "Write a shell script that moves all but the best copies to a folder")
      ->check(NotEmpty());
}

void AddDecisionOptions(CLI::App* command, DedupeOptions& options) {
  command
      ->add_option("--not-duplicates", options.not_duplicates,
                   "Note that these pictures (paths in the library) are not duplicates")
      ->expected(2, 1000);
  command->add_option("--mark-keep", options.mark_keep, "Note that these pictures are to be kept");
  command->add_option("--undo", options.undo, "Take back the decisions with these numbers");
  command->add_flag("--decisions", options.list_decisions, "List what was decided");
}

}  // namespace

void AddDedupe(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DedupeOptions>();
  CLI::App* command =
      app.add_subcommand("dedupe", "Find duplicates in a library; changes no picture");
  command
      ->add_option("--library", options->library,
                   "The library's folder, or postgresql://... of a shared library")
      ->capture_default_str();
  AddSearchOptions(command, *options);
  AddDecisionOptions(command, *options);
  AddForce(command, options->if_exists);
  command->footer(
      "Groups are of exact copies, of one picture edited, and of pictures with parts of them.\n\n"
      "Examples:\n  bitpool dedupe --library ~/Pictures/.bitpool --html copies.html --script "
      "move.sh\n  sh move.sh ~/Copies\n  bitpool dedupe --library ~/Pictures/.bitpool "
      "--not-duplicates a.jpg b.jpg");
  command->callback([options, &session] {
    session.action = [options, &session] { return Dedupe(*options, session); };
  });
}

}  // namespace bitpool::app
