#include "bitpool/serve/decision_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "bitpool/base/error.h"
#include "bitpool/http/problem.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/json_text.h"
#include "bitpool/serve/parameters.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr uint64_t kMostBytes = uint64_t{256} << 20;  // of a file of a decision

// Paths may be any bytes, which JSON has no room for: they are written in hexadecimal.
std::string ToHex(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string FromHex(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

json StoredPictures(const std::vector<DecidedPicture>& pictures) {
  json stored = json::array();
  for (const DecidedPicture& picture : pictures) {
    stored.push_back({picture.id, ToHex(picture.path), picture.size, picture.content_hash});
  }
  return stored;
}

std::vector<DecidedPicture> ReadPictures(const json& stored) {
  std::vector<DecidedPicture> pictures;
  for (const json& one : stored) {
    pictures.push_back({.id = one.at(0),
                        .path = FromHex(one.at(1)),
                        .size = one.at(2),
                        .content_hash = one.at(3)});
  }
  return pictures;
}

json Stored(const ServedDecision& decision) {
  return {{"action", decision.action},
          {"groups", decision.groups},
          {"kept", StoredPictures(decision.kept)},
          {"gone", StoredPictures(decision.gone)},
          {"keeper", decision.keeper},
          {"moved", decision.moved},
          {"in_library", decision.in_library},
          {"time", decision.time},
          {"undone", decision.undone}};
}

ServedDecision ReadDecision(uint64_t number, const json& stored) {
  ServedDecision decision = {.number = number,
                             .action = stored.at("action"),
                             .groups = stored.at("groups"),
                             .kept = ReadPictures(stored.at("kept")),
                             .gone = ReadPictures(stored.at("gone")),
                             .keeper = stored.at("keeper"),
                             .moved = stored.at("moved"),
                             .in_library = stored.at("in_library"),
                             .failures = {},
                             .time = stored.at("time"),
                             .undone = stored.at("undone")};
  const bool fits = decision.keeper.empty() || decision.keeper.size() == decision.gone.size();
  if (!fits || std::ranges::any_of(decision.keeper, [&](uint64_t keeper) {
        return keeper >= decision.kept.size();
      })) {
    throw Error(ErrorCode::kCorrupt,
                "keeper: expected the place of a kept picture for each that went");
  }
  return decision;
}

// Moves a file to a place where there is none.
void Move(Env& env, const fs::path& from, const fs::path& to) {
  if (env.Exists(to)) throw Error(ErrorCode::kInvalidArgument, to.string(), "is there already");
  env.MakeFolders(to.parent_path());
  env.Rename(from, to);
}

// Throws unless the file is the one that was indexed. `which` says whose it is. A link is none:
// what it leads to may be about to go.
void RequireAsIndexed(Env& env, const fs::path& file, const DecidedPicture& picture,
                      const char* which) {
  const auto require = [&](bool fine, const char* what) {
    if (!fine) throw Error(ErrorCode::kInvalidArgument, fmt::format("{} {}", which, what));
  };
  require(env.Exists(file), "is not there");
  require(env.Canonical(file) == env.Canonical(file.parent_path()) / file.filename(), "is a link");
  const FileStatus status = env.Status(file);
  require(status.kind == FileKind::kFile, "is not a regular file");
  require(status.size == picture.size, "was changed since it was indexed");
}

// Whether a picture that is not in the trash was refused when it was to go: it is where it was, or
// its path leads to nowhere.
bool NeverWent(Env& env, const PictureRoots& roots, const DecidedPicture& picture) {
  try {
    return env.Exists(roots.Locate(picture.path));
  } catch (const Error&) {
    return true;
  }
}

json Ids(const std::vector<DecidedPicture>& pictures) {
  json ids = json::array();
  for (const DecidedPicture& picture : pictures) ids.push_back(picture.id);
  return ids;
}

}  // namespace

DecidedPicture DecidedOf(const CataloguedPicture& picture) {
  return {.id = picture.id,
          .path = picture.path,
          .size = picture.size,
          .content_hash = picture.content_hash};
}

json ToJson(const ServedDecision& decision) {
  json failures = json::array();
  for (const auto& [path, reason] : decision.failures) {
    failures.push_back({{"path", path}, {"reason", reason}});
  }
  uint64_t bytes = 0;
  for (const DecidedPicture& picture : decision.gone) bytes += picture.size;
  return {{"id", decision.number == 0 ? "" : std::to_string(decision.number)},
          {"action", decision.action},
          {"groups", decision.groups},
          {"kept", Ids(decision.kept)},
          {"gone", Ids(decision.gone)},
          {"bytes", bytes},
          {"moved", decision.moved},
          {"failures", std::move(failures)},
          {"time", decision.time},
          {"undone", decision.undone}};
}

DecisionLog::DecisionLog(Env& env, const fs::path& library) : env_(env), library_(library) {
  const fs::path folder = library_ / "decisions";
  if (!env_.Exists(folder)) return;
  for (const std::string& name : env_.List(folder)) {
    uint64_t number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    if (number == 0 || FileOf(number) != folder / name) continue;
    last_number_ = std::max(last_number_, number);
    try {
      const std::vector<std::byte> bytes = env_.Read(folder / name, kMostBytes);
      decisions_[number] = ReadDecision(number, ParseJson(bytes));
    } catch (const std::exception&) {  // what cannot be read does no harm
    }
  }
  Index();
}

fs::path DecisionLog::FileOf(uint64_t number) const {
  return library_ / "decisions" / fmt::format("{:06}.json", number);
}

fs::path DecisionLog::TrashOf(const ServedDecision& decision, const DecidedPicture& picture) const {
  // Paths in further folders of a library are absolute.
  return library_ / "trash" / fmt::format("{:06}", decision.number) /
         fs::path(picture.path).relative_path();
}

void DecisionLog::Save(const ServedDecision& decision) {
  const std::string text = Stored(decision).dump() + "\n";
  env_.MakeFolders(library_ / "decisions");
  WriteFile(env_, FileOf(decision.number), std::as_bytes(std::span(text)), IfExists::kReplace);
  decisions_[decision.number] = decision;
  last_number_ = std::max(last_number_, decision.number);
  Index();
}

void DecisionLog::Index() {
  gone_.clear();
  for (const auto& [number, decision] : decisions_) {
    if (decision.undone) continue;
    for (const DecidedPicture& picture : decision.gone) {
      gone_.insert({picture.path, {picture.content_hash, picture.size}});
    }
  }
}

void DecisionLog::MoveToTrash(const ServedDecision& decision, size_t picture,
                              const PictureRoots& roots) {
  const DecidedPicture& gone = decision.gone[picture];
  const fs::path file = roots.Locate(gone.path);
  RequireAsIndexed(env_, file, gone, "the file");
  if (!decision.keeper.empty()) {
    const DecidedPicture& kept = decision.kept[decision.keeper[picture]];
    const fs::path kept_file = roots.Locate(kept.path);
    RequireAsIndexed(env_, kept_file, kept, "the copy to keep");
    if (env_.Canonical(kept_file) == env_.Canonical(file))
      throw Error(ErrorCode::kInvalidArgument, "the file is the copy to keep");
  }
  Move(env_, file, TrashOf(decision, gone));
}

ServedDecision DecisionLog::Add(ServedDecision decision, bool move, const PictureRoots& roots) {
  const std::lock_guard lock(mutex_);
  decision.number = last_number_ + 1;
  decision.time = TimeNow();
  decision.moved = move && !decision.gone.empty();
  Save(decision);
  if (!move) return decision;
  for (size_t i = 0; i < decision.gone.size(); ++i) {
    try {
      MoveToTrash(decision, i, roots);
    } catch (const Error& error) {
      decision.failures.emplace_back(decision.gone[i].path, error.reason());
    }
  }
  return decision;
}

ServedDecision DecisionLog::Undo(uint64_t number, const PictureRoots& roots) {
  const std::lock_guard lock(mutex_);
  const auto found = decisions_.find(number);
  if (found == decisions_.end())
    throw ProblemError(404, "not_found", fmt::format("there is no decision {}", number));
  ServedDecision decision = found->second;
  if (decision.undone)
    throw ProblemError(409, "conflict", fmt::format("decision {} was undone already", number));
  decision.failures.clear();  // of an attempt before
  for (const DecidedPicture& picture : decision.gone) {
    if (!decision.moved) break;
    try {
      const fs::path trashed = TrashOf(decision, picture);
      if (env_.Exists(trashed)) {
        Move(env_, trashed, roots.Locate(picture.path));
      } else if (!NeverWent(env_, roots, picture)) {
        throw Error(ErrorCode::kNotFound, "is no longer in the trash");
      }
    } catch (const Error& error) {
      decision.failures.emplace_back(picture.path, error.reason());
    }
  }
  decision.undone = decision.failures.empty();
  Save(decision);
  return decision;
}

std::vector<ServedDecision> DecisionLog::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<ServedDecision> list;
  for (auto one = decisions_.rbegin(); one != decisions_.rend(); ++one) list.push_back(one->second);
  return list;
}

uint64_t DecisionLog::trashed() const {
  const std::lock_guard lock(mutex_);
  uint64_t count = 0;
  for (const auto& [number, decision] : decisions_) {
    if (decision.moved && !decision.undone) count += decision.gone.size();
  }
  return count;
}

std::set<uint64_t> DecisionLog::InLibrary() const {
  const std::lock_guard lock(mutex_);
  std::set<uint64_t> ids;
  for (const auto& [number, decision] : decisions_) {
    if (!decision.undone) ids.insert(decision.in_library.begin(), decision.in_library.end());
  }
  return ids;
}

bool DecisionLog::IsGone(const CataloguedPicture& picture) const {
  const std::lock_guard lock(mutex_);
  return gone_.contains({picture.path, {picture.content_hash, picture.size}});
}

}  // namespace bitpool
