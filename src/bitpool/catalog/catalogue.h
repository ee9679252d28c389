#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/matrix.h"

namespace bitpool {

// The database of a catalogue cannot be reached now, or the connection to it was lost. A commit
// that was under way may have been done or not.
class CatalogueAway : public Error {
 public:
  CatalogueAway(const std::string& name, const std::string& reason)
      : Error(ErrorCode::kResources, name, "the database cannot be reached: " + reason) {}
};

// Other processes were changing the catalogue for as long as this one waits. Nothing was done.
class CatalogueBusy : public Error {
 public:
  explicit CatalogueBusy(const std::string& name)
      : Error(ErrorCode::kResources, name, "another process is changing the catalogue") {}
};

// What a library knows about one picture.
struct CataloguedPicture {
  uint64_t id = 0;            // given by the catalogue, 1 and up
  std::string path;           // bytes, relative to the indexed folder; need not be UTF-8
  uint64_t size = 0;          // of the file
  int64_t modified_ns = 0;    // when the file was last changed, since 1970
  uint64_t content_hash = 0;  // Checksum of the file's bytes
  std::vector<uint8_t> code;  // empty when there is none
  Index width = 0;            // upright
  Index height = 0;
  std::string failure;  // why the picture has no code; empty: all is well
  // A hash of what the picture looks like, so that copies are found even of pictures without a
  // code; nothing when the picture cannot be decoded, or an older Bitpool indexed it. It may be
  // added later: the id stays.
  std::optional<uint64_t> perceptual_hash = {};

  bool operator==(const CataloguedPicture&) const = default;
};

// A picture as a user's decision names it, so that it is found again after it was moved, or was
// given another id along with the code of another coder.
struct PictureMark {
  std::string path;           // as CataloguedPicture has it
  uint64_t size = 0;          // of the file
  uint64_t content_hash = 0;  // of its bytes

  bool operator==(const PictureMark&) const = default;
};

enum class DecisionKind {
  kNotDuplicates,  // the two pictures are to be kept apart
  kKeep,           // the first is to be kept, whatever it is a duplicate of
};

struct Decision {
  uint64_t id = 0;  // given by the catalogue, 1 and up, none twice
  DecisionKind kind = DecisionKind::kNotDuplicates;
  PictureMark first = {};
  PictureMark second = {};  // of kNotDuplicates

  bool operator==(const Decision&) const = default;
};

// A catalogue has two sets of pictures: those that are in use, and those that are gathered with the
// codes of a new coder until there are enough of them to take the place of the others.
enum class PictureSet { kCurrent, kNext };

// A catalogue as it is at one moment; what is committed later is not seen. One thread at a time. It
// may hold up some of the catalogue's work, so it should not be kept for long. All functions throw
// Error and name the catalogue.
class CatalogueSnapshot {
 public:
  virtual ~CatalogueSnapshot() = default;

  // Counts the committed changes of the current pictures.
  virtual uint64_t generation() const = 0;

  // In the current set.
  virtual std::optional<CataloguedPicture> FindByPath(std::string_view path) const = 0;
  virtual std::optional<CataloguedPicture> FindById(uint64_t id) const = 0;
  virtual uint64_t Count() const = 0;        // of pictures
  virtual uint64_t FailedCount() const = 0;  // of those with a failure

  // Every picture of a set in the order of ids. `visit` may read this snapshot.
  virtual void ForEach(PictureSet set,
                       const std::function<void(const CataloguedPicture&)>& visit) const = 0;

  // How codes changed after the generation `since`, oldest first: ids that were added, with their
  // codes, and ids that were removed, with an empty code. An id may be added and removed again.
  // Takes time that depends only on the number of changes. Returns false, without calling `visit`,
  // when the catalogue no longer knows.
  virtual bool ForEachChange(
      uint64_t since,
      const std::function<void(uint64_t id, std::span<const uint8_t> code)>& visit) const = 0;
  // How many changes that is, or nothing when the catalogue no longer knows.
  virtual std::optional<uint64_t> CountChanges(uint64_t since) const = 0;

  // Settings of the library. Keys and values are any bytes.
  virtual std::optional<std::string> Setting(std::string_view key) const = 0;

  // What the user decided about pictures, in the order of ids.
  virtual std::vector<Decision> Decisions() const = 0;
};

struct PutResult {
  uint64_t id = 0;                   // of the picture now
  std::optional<uint64_t> replaced;  // the id its path had before, when that is another
};

// Changes that become visible all at once, with Commit, or not at all when this is destroyed before
// that, or the process is killed at any moment. One thread at a time. Its catalogue outlives it.
class CatalogueBatch {
 public:
  virtual ~CatalogueBatch() = default;

  // These three change the set that the batch was started for.

  // Inserts the picture, or replaces the one at the same path; picture.id plays no role. An id
  // stands for the same bytes and the same code for ever, so that an index never mixes old and new:
  // when the content or the code changed, the picture gets a new id, and no id is given twice, not
  // even after it was removed.
  virtual PutResult Put(const CataloguedPicture& picture) = 0;
  // The same for many pictures of different paths, in their order; much faster where the catalogue
  // is far away.
  virtual std::vector<PutResult> PutAll(std::span<const CataloguedPicture> pictures);
  // The id that was removed, when there was a picture at the path.
  virtual std::optional<uint64_t> Remove(std::string_view path) = 0;
  // Records a new time of last change, if there is a picture at the path. That does not change the
  // pictures: the generation stays.
  virtual void Touch(std::string_view path, int64_t modified_ns) = 0;

  // Drops all pictures of the next set.
  virtual void ClearNext() = 0;
  // Puts the pictures of the next set in place of the current ones, which are dropped. Earlier
  // changes are no longer known.
  virtual void SwitchToNext() = 0;
  // Makes the catalogue forget the changes up to a generation.
  virtual void ForgetChanges(uint64_t until) = 0;

  virtual void PutSetting(std::string_view key, std::string_view value) = 0;
  // A setting as it is now, with the changes of this batch.
  virtual std::optional<std::string> Setting(std::string_view key) const = 0;

  // Takes pictures off the list of what is to be done, whoever has claimed them; see PictureClaims.
  virtual void Settle(std::span<const std::string> /*paths*/) {}
  // Whether processes take part in work on any set, or something is left of it; see PictureClaims.
  virtual bool IsWorkUnderWay() const { return false; }

  // Decisions do not change the pictures: the generation stays. decision.id plays no role; returns
  // the one it gets.
  virtual uint64_t AddDecision(const Decision& decision) = 0;
  // False when there is none with this id.
  virtual bool RemoveDecision(uint64_t id) = 0;

  // Durable when it returns. Afterwards the batch is over. Returns the generation.
  virtual uint64_t Commit() = 0;
};

// How processes that change one set of a catalogue share their work: by a list of pictures still to
// be done. Each process claims some of them, and takes them off the list in the batch that holds
// their results. What a dead process had claimed can be claimed again. One thread at a time. Its
// catalogue outlives it.
//
// A claim saves work, and nothing depends on it: a process that was believed dead may still deliver
// what it has done.
//
// Whoever has one of these takes part in the work, until it calls Release or ends.
class PictureClaims {
 public:
  virtual ~PictureClaims() = default;

  // Adds pictures that are not on the list yet.
  virtual void Offer(std::span<const std::string> paths) = 0;
  // Claims pictures, at most this many; none when others have claimed all that are left.
  virtual std::vector<std::string> Claim(size_t most) = 0;
  // Gives back what this process has claimed, which no longer takes part.
  virtual void Release() = 0;
  // How many pictures are on the list.
  virtual uint64_t Count() = 0;
};

// The pictures of a library with their ids and codes, and the settings of the library. May be used
// from many threads. Any number of processes may read, and one batch at a time may write. All
// functions throw Error and name the catalogue, and CatalogueAway where its database cannot be
// reached.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  // The catalogue as it is now. It may outlive this.
  virtual std::unique_ptr<CatalogueSnapshot> Snapshot() const = 0;

  // Starts a change. Throws kResources when someone else is writing (CatalogueBusy where that may
  // be many processes, which take turns), and kInvalidArgument when the
  // catalogue was opened for reading or another batch of this catalogue is not over.
  virtual std::unique_ptr<CatalogueBatch> StartBatch(PictureSet set) = 0;

  // Null for a catalogue that only one process at a time can change.
  virtual std::unique_ptr<PictureClaims> Claims(PictureSet /*set*/) { return nullptr; }

  // Brings a copy up to date with its original, if the original can be reached. A catalogue that is
  // not a copy is always up to date.
  virtual void Refresh() const {}
};

enum class CatalogueAccess {
  kRead,
  kWrite,   // brings a catalogue of an older version up to date
  kCreate,  // the same, and makes an empty catalogue where there is none
};

// Opens the catalogue at a location: the path of an SQLite database, or the address of a PostgreSQL
// database, postgresql://…. Throws kNotFound when there is none, kCorrupt when it is damaged or is
// something else, and kUnsupported when a newer Bitpool made it.
std::unique_ptr<Catalogue> OpenCatalogue(const std::string& location, CatalogueAccess access);

}  // namespace bitpool
