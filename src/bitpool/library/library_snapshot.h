#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/index/index_snapshot.h"
#include "bitpool/io/env.h"
#include "bitpool/library/library_folder.h"

namespace bitpool {

// A library as it is at one moment: its settings, its catalogue and its codes are of one version,
// whatever is updated meanwhile. One thread at a time. It should not be kept for long, because it
// holds up some of the catalogue's work.
class LibrarySnapshot {
 public:
  LibrarySnapshot(Env& env, LibraryFolder folder, LibraryFacts facts,
                  std::unique_ptr<CatalogueSnapshot> catalogue, IndexSnapshot index)
      : env_(&env),
        folder_(std::move(folder)),
        facts_(std::move(facts)),
        catalogue_(std::move(catalogue)),
        index_(std::move(index)) {}

  Env& env() const { return *env_; }
  const LibraryFolder& folder() const { return folder_; }
  const LibraryFacts& facts() const { return facts_; }
  const CatalogueSnapshot& catalogue() const { return *catalogue_; }
  const IndexSnapshot& index() const { return index_; }  // verified
  // The folder of the pictures.
  std::filesystem::path root() const { return RootOf(*env_, folder_.path(), facts_.root); }

  // A JPEG; empty when there is none, or when the picture was removed since.
  std::vector<std::byte> ReadThumbnail(uint64_t id) const;

 private:
  Env* env_;
  LibraryFolder folder_;
  LibraryFacts facts_;
  std::unique_ptr<CatalogueSnapshot> catalogue_;
  IndexSnapshot index_;
};

}  // namespace bitpool
