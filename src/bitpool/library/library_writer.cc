#include "bitpool/library/library_writer.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

std::optional<FileLock> TakeLock(Env& env, const LibraryFolder& folder) {
  if (folder.is_shared()) return std::nullopt;
  env.MakeFolders(folder.path());
  std::optional<FileLock> lock = env.TryLock(folder.lock());
  if (lock) return lock;
  throw Error(ErrorCode::kResources, folder.name(), "another bitpool is indexing this library");
}

}  // namespace

LibraryWriter::LibraryWriter(Env& env, const LibraryFolder& folder)
    : env_(env),
      folder_(folder),
      lock_(TakeLock(env, folder_)),
      catalogue_(OpenCatalogue(folder_.catalogue(), CatalogueAccess::kCreate)),
      first_generation_(catalogue_->Snapshot()->generation()) {
  ReadFacts();  // refuses what a newer version made
}

}  // namespace bitpool
