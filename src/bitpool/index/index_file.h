#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "bitpool/base/run_context.h"
#include "bitpool/index/code_index.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/container.h"
#include "bitpool/io/env.h"

namespace bitpool {

// Saves what an index holds, without what was removed (.bpi). `next_id`, where it is beyond the ids
// of the codes, is the first that was never used: it goes into the file, so that no id is given
// twice. Waits as IndexSnapshot::RequireVerified and throws what that throws: a new file has
// checksums of its own, which would call damaged codes fine.
void SaveIndex(Env& env, const std::filesystem::path& path, const IndexSnapshot& index,
               IfExists if_exists, int64_t next_id = 0);

// A saved index that is mapped. Only its structure is checked so far.
class IndexFile {
 public:
  static IndexFile Open(Env& env, const std::filesystem::path& path);
  static IndexFile Parse(const std::shared_ptr<const FileView>& view);

  // Names the content: files of equal digests that pass their own checks hold the same index. The
  // codes need not be read for it.
  std::string digest() const;

  // The index. The codes are verified now with `verify`, and otherwise in the background during the
  // first search; searches after damage was found throw kCorrupt, as does
  // IndexSnapshot::RequireVerified.
  std::unique_ptr<CodeIndex> Load(bool verify, const RunContext& context) const;

  // The first id that was never used, as SaveIndex was told; 0 where the codes alone say it.
  int64_t next_id() const;

 private:
  explicit IndexFile(std::shared_ptr<const Container> container)
      : container_(std::move(container)) {}

  std::shared_ptr<const Container> container_;
};

// Opens a saved index by mapping it: nothing is copied, and only the structure is checked, so it
// takes milliseconds at any size. `verify` as for IndexFile::Load.
std::unique_ptr<CodeIndex> OpenIndex(Env& env, const std::filesystem::path& path, bool verify,
                                     const RunContext& context);

}  // namespace bitpool
