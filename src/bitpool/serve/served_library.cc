#include "bitpool/serve/served_library.h"

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/http/problem.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<PictureLibrary> OpenServed(Env& env, const fs::path& folder,
                                           const FollowOptions& follow) {
  if (IsPostgresAddress(folder.native())) {
    return PictureLibrary::OpenToFollow(env, folder, follow);
  }
  if (env.Exists(LibraryFolder(folder).catalogue())) return PictureLibrary::Open(env, folder);
  if (!env.IsFolder(folder)) {
    throw Error(ErrorCode::kNotFound, folder.string(),
                "expected the folder of a library, or one of pictures");
  }
  return PictureLibrary::OpenOrCreate(env, folder / ".bitpool", folder);
}

}  // namespace

ServedLibrary::ServedLibrary(Env& env, std::string name, const fs::path& location,
                             const FollowOptions& follow)
    : env_(env),
      name_(std::move(name)),
      library_(OpenServed(env, location, follow)),
      decisions_(env, library_->folder().path()) {
  Follow();
}

std::optional<LibrarySnapshot> ServedLibrary::TrySnapshot() const {
  try {
    return library_->Snapshot();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kNotFound) throw;
    return std::nullopt;
  }
}

LibrarySnapshot ServedLibrary::Snapshot() const {
  std::optional<LibrarySnapshot> snapshot = TrySnapshot();
  if (snapshot) return *std::move(snapshot);
  throw ProblemError(409, "nothing_indexed", name_ + ": nothing was indexed yet; start an update");
}

std::shared_ptr<const LibraryMoment> ServedLibrary::moment() const {
  const std::lock_guard lock(mutex_);
  return moment_;
}

void ServedLibrary::Follow() {
  const std::lock_guard following(following_);
  const std::optional<LibrarySnapshot> snapshot = TrySnapshot();
  const std::shared_ptr<const LibraryMoment> last = moment();
  const uint64_t generation = snapshot ? snapshot->catalogue().generation() : 0;
  if (!snapshot || (last && last->generation == generation)) return;
  auto next = std::make_shared<const LibraryMoment>(
      LibraryMoment{.generation = generation, .index = codes_.BringTo(*snapshot)});
  const std::lock_guard lock(mutex_);
  moment_ = std::move(next);
}

PictureRoots ServedLibrary::roots() const {
  if (const std::optional<LibrarySnapshot> snapshot = TrySnapshot())
    return {.root = env_.Canonical(snapshot->root()), .further = snapshot->facts().folders};
  return {.root = env_.Canonical(library_->folder().path()).parent_path()};
}

}  // namespace bitpool
