#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

namespace bitpool {

// Two pictures that were compared, by the hashes of their bytes (CataloguedPicture::content_hash).
struct ComparedPair {
  uint64_t first = 0, second = 0;
  bool mirrored = false;

  bool operator==(const ComparedPair&) const = default;
};

// What was found. The numbers mean what the caller wants them to.
struct PairVerdict {
  ComparedPair pair;
  int kind = 0;
  bool first_is_part = false;
  double agreement = 0, first_covered = 0, second_covered = 0;

  bool operator==(const PairVerdict&) const = default;
};

// Verdicts on pairs of pictures, kept from one search for duplicates to the next in an SQLite
// database of their own. They belong to contents and not to ids, which begin again when a catalogue
// is deleted or an older one is put back; so no change of a library makes a verdict wrong. Only a
// program that compares differently does, and that has another version.
//
// The file may be deleted at any time. One that is damaged, of another version, in use, or in a
// place where nothing may be written is as good as none: all functions do what they can, and none
// throws. One thread at a time.
class VerdictCache {
 public:
  // Without a path nothing is kept.
  VerdictCache(const std::filesystem::path& path, int64_t version);
  ~VerdictCache();
  VerdictCache(const VerdictCache&) = delete;
  VerdictCache& operator=(const VerdictCache&) = delete;

  std::optional<PairVerdict> Find(const ComparedPair& pair);
  void Put(std::span<const PairVerdict> verdicts);
  uint64_t Count();
  // Forgets every pair with a picture that is not among `contents`, those that are left.
  void RemoveAllBut(std::span<const uint64_t> contents);

 private:
  struct Connection;

  template <class Action>
  void Try(const Action& action);

  std::unique_ptr<Connection> connection_;  // null: there is none
};

}  // namespace bitpool
