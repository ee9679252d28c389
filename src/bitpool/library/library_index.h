#pragma once

#include <memory>
#include <optional>
#include <string>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/index/code_index.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// The codes of a library's catalogue in an index that follows it. Changes are applied; all codes
// are read only when the catalogue no longer knows the changes. It begins with the index file if
// that is usable. One thread at a time.
class LibraryIndex {
 public:
  LibraryIndex(Env& env, LibraryFolder folder);

  // The codes at the generation of the catalogue. Codes from the file are verified in the
  // background. Throws kCorrupt for codes that are not of the library's length.
  // REQUIRES: a generation no lower than the last time.
  IndexSnapshot BringTo(const CatalogueSnapshot& catalogue, const LibraryFacts& facts);

  // Do without the index file from now on: it was found to be damaged.
  void DistrustFile();

 private:
  bool Follow(const CatalogueSnapshot& catalogue, const LibraryFacts& facts);
  std::unique_ptr<CodeIndex> OpenFile(const CatalogueSnapshot& catalogue,
                                      const LibraryFacts& facts) const;
  std::unique_ptr<CodeIndex> ReadAll(const CatalogueSnapshot& catalogue,
                                     const LibraryFacts& facts) const;
  bool ApplyChanges(CodeIndex& index, const CatalogueSnapshot& catalogue, uint64_t since) const;

  Env& env_;
  LibraryFolder folder_;
  std::unique_ptr<CodeIndex> index_;  // null before the first time
  uint64_t generation_ = 0;
  std::string coder_;
  std::string file_digest_;     // of the index file that the codes are from; empty: none
  std::string damaged_digest_;  // of the file that is not to be trusted
};

// How many codes the index file has, if it is the one that the facts name and undamaged; otherwise
// nothing. The file is read as a whole.
std::optional<Index> CodesInSoundFile(Env& env, const LibraryFolder& folder,
                                      const LibraryFacts& facts, const RunContext& context);

}  // namespace bitpool
