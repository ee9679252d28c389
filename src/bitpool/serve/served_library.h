#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "bitpool/index/index_snapshot.h"
#include "bitpool/io/env.h"
#include "bitpool/library/picture_library.h"
#include "bitpool/serve/decision_log.h"
#include "bitpool/serve/duplicate_groups.h"
#include "bitpool/serve/followed_codes.h"
#include "bitpool/serve/picture_listing.h"
#include "bitpool/serve/picture_roots.h"

namespace bitpool {

// The codes of a library as they were half a second ago at most: enough for answers that hold only
// ids, which then need no look at the catalogue.
struct LibraryMoment {
  uint64_t generation;
  IndexSnapshot index;
};

// A library under a name. Used from many threads.
class ServedLibrary {
 public:
  // `location` is that of a library, or a folder of pictures, whose library is the folder .bitpool
  // in it; an empty one is made where there is none. `follow` is for a shared one. Throws as
  // PictureLibrary.
  ServedLibrary(Env& env, std::string name, const std::filesystem::path& location,
                const FollowOptions& follow = {});

  const std::string& name() const { return name_; }
  Env& env() const { return env_; }
  PictureLibrary& library() const { return *library_; }
  PictureListings& listings() { return listings_; }
  DuplicateCache& duplicates() { return duplicates_; }
  DecisionLog& decisions() { return decisions_; }
  const DecisionLog& decisions() const { return decisions_; }

  // Nothing before something was indexed.
  std::optional<LibrarySnapshot> TrySnapshot() const;
  // Throws ProblemError (409) before something was indexed.
  LibrarySnapshot Snapshot() const;

  // What the last call of Follow has seen; null before something was indexed.
  std::shared_ptr<const LibraryMoment> moment() const;
  // Takes over what was changed, including by other processes.
  void Follow();

  // Where the pictures are.
  PictureRoots roots() const;

 private:
  Env& env_;
  std::string name_;
  std::unique_ptr<PictureLibrary> library_;
  PictureListings listings_;
  DuplicateCache duplicates_;
  DecisionLog decisions_;
  std::mutex following_;  // held by whoever brings the codes up to date
  FollowedCodes codes_;
  mutable std::mutex mutex_;  // held for the moment it takes to copy or set what follows
  std::shared_ptr<const LibraryMoment> moment_;
};

}  // namespace bitpool
