#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/matrix.h"

namespace bitpool {

// What a library knows of one picture.
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

  bool operator==(const CataloguedPicture&) const = default;
};

struct PutResult {
  uint64_t id = 0;                   // of the picture now
  std::optional<uint64_t> replaced;  // the id its path had before, when that is another
};

// Changes that become visible together, with Commit, or not at all: when this is destroyed before,
// or the process is killed at any moment. Its catalogue outlives it.
class CatalogueBatch {
 public:
  virtual ~CatalogueBatch() = default;

  // Inserts the picture, or replaces the one at the same path; picture.id plays no role. An id
  // stands for the same bytes and the same code for ever, so that an index never mixes old and new:
  // when the content or the code changed, the picture gets a new id, and no id is given twice, not
  // even after it was removed.
  virtual PutResult Put(const CataloguedPicture& picture) = 0;

  // The id that was removed, when there was a picture at the path.
  virtual std::optional<uint64_t> Remove(std::string_view path) = 0;

  virtual void PutSetting(std::string_view key, std::string_view value) = 0;

  // Durable when it returns. Afterwards the batch is over.
  virtual void Commit() = 0;
};

// The pictures of a library: which has which id and code; and settings of the library, as text.
// Many processes may read and one may write at a time; a reader sees what was committed when it
// began to read. One thread at a time. All functions throw Error and name the catalogue.
class Catalogue {
 public:
  virtual ~Catalogue() = default;

  // Starts a change; what is read from this catalogue meanwhile includes it. Throws kResources when
  // someone else is writing and kInvalidArgument when the catalogue is read-only or another batch
  // of this catalogue is not over.
  virtual std::unique_ptr<CatalogueBatch> StartBatch() = 0;

  virtual std::optional<CataloguedPicture> FindByPath(std::string_view path) const = 0;
  virtual std::optional<CataloguedPicture> FindById(uint64_t id) const = 0;

  // Every picture in the order of ids, all of one moment. `visit` may read but not change the
  // catalogue.
  virtual void ForEach(const std::function<void(const CataloguedPicture&)>& visit) const = 0;

  virtual uint64_t Count() const = 0;        // of pictures
  virtual uint64_t FailedCount() const = 0;  // of those with a failure

  virtual std::optional<std::string> Setting(std::string_view key) const = 0;
};

}  // namespace bitpool
