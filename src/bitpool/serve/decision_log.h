#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/serve/picture_roots.h"

namespace bitpool {

// A picture that a decision is about. Content tells it apart from another that takes its path.
struct DecidedPicture {
  uint64_t id = 0;  // at the time
  std::string path;
  uint64_t size = 0;
  uint64_t content_hash = 0;

  bool operator==(const DecidedPicture&) const = default;
};
DecidedPicture DecidedOf(const CataloguedPicture& picture);

struct ServedDecision {
  uint64_t number = 0;      // 1 and up
  std::string action = {};  // keep, not_duplicates, trash or keep_suggested
  uint64_t groups = 0;
  std::vector<DecidedPicture> kept = {};  // for not_duplicates, all
  std::vector<DecidedPicture> gone = {};  // the kept one of gone[i] is kept[keeper[i]]
  std::vector<uint64_t> keeper = {};      // empty without groups
  bool moved = false;                     // to the trash folder
  std::vector<uint64_t> in_library = {};  // decisions that the library itself keeps for it
  std::vector<std::pair<std::string, std::string>> failures = {};  // paths not moved, and why
  std::string time = {};
  bool undone = false;
};

nlohmann::json ToJson(const ServedDecision& decision);

// What was decided about duplicates: a small file for each decision in the folder `decisions` of
// the library, and the files that went in its folder `trash`, where updates do not look. Nothing is
// ever deleted or replaced. Used from many threads.
class DecisionLog {
 public:
  // Reads what is there. A file that cannot be read is passed over.
  DecisionLog(Env& env, const std::filesystem::path& library);

  // Records a decision first, and then moves what is to go, if asked to. What cannot be moved stays
  // and is among the failures; so does a picture whose copy to keep is not there as it was indexed.
  ServedDecision Add(ServedDecision decision, bool move, const PictureRoots& roots);
  // Moves back what was moved and forgets the decision. Throws ProblemError: 404 when there is
  // none, 409 when it was undone.
  ServedDecision Undo(uint64_t number, const PictureRoots& roots);

  std::vector<ServedDecision> List() const;  // the newest first
  uint64_t trashed() const;                  // pictures in the trash folder

  // The decisions that the library itself keeps for those that are in force.
  std::set<uint64_t> InLibrary() const;
  // Whether this picture is to go by a decision that is in force.
  bool IsGone(const CataloguedPicture& picture) const;

 private:
  using Content = std::pair<uint64_t, uint64_t>;

  std::filesystem::path FileOf(uint64_t number) const;
  std::filesystem::path TrashOf(const ServedDecision& decision,
                                const DecidedPicture& picture) const;
  void Save(const ServedDecision& decision);
  // Throws what keeps this picture, of those that are to go, where it is.
  void MoveToTrash(const ServedDecision& decision, size_t picture, const PictureRoots& roots);
  void Index();  // what the questions need

  Env& env_;
  std::filesystem::path library_;
  mutable std::mutex mutex_;
  uint64_t last_number_ = 0;  // of any file there, even one that cannot be read
  std::map<uint64_t, ServedDecision> decisions_;
  std::set<std::pair<std::string, Content>> gone_;
};

}  // namespace bitpool
