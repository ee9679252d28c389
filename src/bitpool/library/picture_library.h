#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/image/picture_views.h"
#include "bitpool/io/env.h"
#include "bitpool/io/file_lock.h"
#include "bitpool/library/library_decisions.h"
#include "bitpool/library/library_duplicates.h"
#include "bitpool/library/library_folder.h"
#include "bitpool/library/library_index.h"
#include "bitpool/library/library_query.h"
#include "bitpool/library/library_snapshot.h"
#include "bitpool/library/library_update.h"
#include "bitpool/library/picture_folders.h"
#include "bitpool/pictures/network_file.h"
#include "bitpool/pictures/picture_coder.h"

namespace bitpool {

// What was found, and the library as it was then.
struct QueryAnswer {
  LibrarySnapshot library;
  std::vector<QueryMatch> matches;
};
struct DuplicatesAnswer {
  LibrarySnapshot library;
  int radius = 0;  // within which pictures were looked at
  std::vector<DuplicateGroup> groups;
};

// What an update is asked to do.
struct UpdateOptions {
  // The folder of pictures, with the folders in it. Empty: those that the library records.
  std::filesystem::path pictures = {};
  // Further folders, see FolderChoice.
  std::vector<std::filesystem::path> more_folders = {};
  // What is left out from now on; unset: as before.
  std::optional<std::vector<std::string>> exclude = {};
  // Bits of a new library's codes; unset: those of the coder that ships with the program. For other
  // lengths a coder is learned from the pictures.
  std::optional<int> bits = {};
  // A coder's file (.bpc). Empty: the library's own, or, where it has none, the one that ships.
  std::filesystem::path coder = {};
  // A network whose features a coder is to be learned with from the pictures, for finding scenes
  // again. A library that has a coder with these features already keeps it.
  std::optional<NamedNetwork> network = {};
  // Learn a coder from the pictures, for this kind of search, and make all codes anew with it.
  std::optional<ViewKind> learn = {};
  // Remove all pictures of a folder in which none are found any more, see UpdateLibrary.
  bool allow_empty = false;
  // Pictures that need not be examined here: they were, by the same coder.
  ExaminedElsewhere elsewhere = {};
  // Called with every picture that fails, as it fails, on the thread that updates; may be empty.
  std::function<void(const FailedPicture&)> on_failure = {};
  // Called with what the update waits for, see LibraryUpdate; may be empty.
  std::function<void(const std::string&)> on_wait = {};
};

// How to read a shared library for a long time: from a copy of its catalogue, which follows it and
// is there when the database is away.
struct FollowOptions {
  std::filesystem::path cache;  // the folder for the copy, see LocateLibrary
  // Called when the database goes away and comes back, on any thread; may be empty.
  std::function<void(const std::string&)> tell = {};
};

// A library of pictures: the one way into it. It is in a folder, or it is shared by many machines:
// then `location` is the address of a database, postgresql://…, and its files are in a folder that
// all of them see; see shared_library.h.
//
// May be used from many threads, and any number of threads and processes may ask while one updates.
// Every answer is of one version of the library, the newest when it is asked for: its codes and its
// catalogue belong together. An object that is kept follows what others change, at a cost in
// proportion to the changes.
class PictureLibrary {
 public:
  // Makes a library without pictures. Throws kInvalidArgument when there is one, and kNotFound when
  // there is no folder of pictures.
  static std::unique_ptr<PictureLibrary> Create(Env& env, const std::filesystem::path& location,
                                                const std::filesystem::path& pictures,
                                                const std::filesystem::path& storage = {});
  // Throws kNotFound when there is no library, kUnsupported when a newer Bitpool made it. A library
  // of version 1 can be read; the first update brings it up to date.
  // `cache` as LocateLibrary has it.
  static std::unique_ptr<PictureLibrary> Open(Env& env, const std::filesystem::path& location,
                                              const std::filesystem::path& cache = {});
  static std::unique_ptr<PictureLibrary> OpenOrCreate(Env& env,
                                                      const std::filesystem::path& location,
                                                      const std::filesystem::path& pictures,
                                                      const std::filesystem::path& storage = {});
  // Opens a library to be asked over a long time. One that is not shared is opened as usual.
  static std::unique_ptr<PictureLibrary> OpenToFollow(Env& env,
                                                      const std::filesystem::path& location,
                                                      const FollowOptions& options);

  const LibraryFolder& folder() const { return folder_; }

  // The newest version. Throws kNotFound when nothing was indexed yet, and kCorrupt for a damaged
  // catalogue. (A damaged index file is passed over.)
  LibrarySnapshot Snapshot() const;
  // Takes over what was changed since the last time, so that the next answer need not. Returns the
  // generation.
  uint64_t Refresh() const { return Snapshot().catalogue().generation(); }

  // The pictures nearest to a picture: to its bytes, a file, or one of the library (without
  // itself). Throw as PictureCoder::Encode, QueryLibrary and QueryById.
  QueryAnswer Query(std::span<const std::byte> picture, const QueryOptions& options,
                    const RunContext& context) const;
  QueryAnswer QueryFile(const std::filesystem::path& picture, const QueryOptions& options,
                        const RunContext& context) const;
  QueryAnswer QueryId(uint64_t id, const QueryOptions& options, const RunContext& context) const;

  // Groups of near-duplicates, see FindDuplicates. Preferred folders are in the folder of pictures,
  // or any others; throws kNotFound for one that is not there.
  DuplicatesAnswer Duplicates(DuplicateSearch search, const RunContext& context) const;

  // What the user decided about pictures, which all later groups respect; see Decisions for what
  // each applies to. May be called while an update is under way. Repeating a decision changes
  // nothing. Throw kNotFound when there is no such picture, and kInvalidArgument when two pictures
  // with the same bytes are declared not to be duplicates.
  Decision DecideNotDuplicates(uint64_t first, uint64_t second) const;
  Decision DecideToKeep(uint64_t id) const;
  // The same of every two of these pictures, or of each: all of it or, when they throw, nothing.
  std::vector<NotedDecision> DecideNotDuplicates(std::span<const uint64_t> ids) const;
  std::vector<NotedDecision> DecideToKeep(std::span<const uint64_t> ids) const;
  std::vector<Decision> ListDecisions() const;  // in the order of ids
  // Throws kNotFound when there is no decision with this id.
  void UndoDecision(uint64_t id) const;

  // What is known of a picture, and its thumbnail, a JPEG; nothing when there is none.
  std::optional<CataloguedPicture> Find(uint64_t id) const;
  // The id of the picture at a path of the library, or of a file; throws kNotFound.
  uint64_t IdOf(const std::filesystem::path& path) const;
  std::vector<std::byte> Thumbnail(uint64_t id) const;

  // Brings the library up to date with its folder of pictures; see UpdateLibrary. One update at a
  // time: throws kResources when another is under way. Throws also as FindPictures, ChooseCoder and
  // UpdateLibrary.
  UpdateSummary Update(const UpdateOptions& options, const RunContext& context);
  // The same with pictures and an encoding of the caller's own. Such a library has no coder, so it
  // is queried by codes (QueryLibrary).
  UpdateSummary UpdateWith(const LibraryUpdate& update, const RunContext& context);
  // What Update would do, by its coder and the sizes and times of files; the library need not be
  // there, and nothing is changed. Throws what Update would, as far as it is known before pictures
  // are read.
  static UpdatePlan Plan(Env& env, const std::filesystem::path& location,
                         const UpdateOptions& options, const RunContext& context);

 private:
  struct Version;

  PictureLibrary(Env& env, LibraryFolder folder, std::unique_ptr<Catalogue> catalogue,
                 std::unique_ptr<FileLock> copy = nullptr);

  // What the library says about itself in a catalogue; throws kNotFound where nothing was indexed.
  LibraryFacts IndexedFacts(const CatalogueSnapshot& catalogue) const;
  LibrarySnapshot MakeSnapshot(std::unique_ptr<CatalogueSnapshot> catalogue, LibraryFacts facts,
                               const Version& version) const;
  std::shared_ptr<const Version> CurrentVersion() const;
  // The version of the catalogue, brought up to date. REQUIRES: the caller holds refreshing_.
  std::shared_ptr<const Version> VersionOf(const CatalogueSnapshot& catalogue,
                                           const LibraryFacts& facts) const;
  // `name` precedes what is said to be wrong with the picture, unless it is empty.
  QueryAnswer QueryNamed(const std::string& name, std::span<const std::byte> picture,
                         const QueryOptions& options, const RunContext& context) const;
  std::shared_ptr<const PictureCoder> CoderOf(const LibraryFacts& facts) const;
  std::unique_ptr<Catalogue> OpenToDecide() const;

  Env& env_;
  LibraryFolder folder_;
  std::unique_ptr<FileLock> copy_;  // of the catalogue, or null
  std::unique_ptr<Catalogue> catalogue_;
  mutable std::mutex refreshing_;  // held by whoever brings the index up to date
  mutable LibraryIndex index_;
  mutable std::mutex publishing_;  // held for the moment it takes to copy or set what follows
  mutable std::shared_ptr<const Version> version_;
  mutable std::shared_ptr<const PictureCoder> coder_;
};

}  // namespace bitpool
