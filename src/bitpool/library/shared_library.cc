#include "bitpool/library/shared_library.h"

#include <fmt/format.h>

#include <optional>
#include <random>
#include <span>

#include "bitpool/base/error.h"
#include "bitpool/catalog/catalogue_replica.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/io/atomic_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStorageKey = "storage";
constexpr const char* kLibraryIdKey = "library_id";
constexpr uint64_t kMostIdBytes = 1000;
constexpr int kMostCopies = 100;

std::string NewId() {
  std::random_device device;
  std::string id;
  for (int i = 0; i < 4; ++i) id += fmt::format("{:08x}", static_cast<uint32_t>(device()));
  return id;
}

std::string ReadId(Env& env, const fs::path& storage) {
  const std::vector<std::byte> bytes = env.Read(storage / kLibraryIdFile, kMostIdBytes);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void CheckStorage(Env& env, const LibraryFolder& folder, const std::string& id) {
  if (!env.Exists(folder.path() / kLibraryIdFile)) {
    throw Error(ErrorCode::kNotFound, folder.name(),
                fmt::format("the storage of this library, {}, is not there: is the shared file "
                            "system mounted?",
                            folder.path().string()));
  }
  if (ReadId(env, folder.path()) == id) return;
  throw Error(ErrorCode::kCorrupt, folder.name(),
              fmt::format("{} is the storage of another library", folder.path().string()));
}

// The id that a storage has or gets. One with only an id was left by a process that was killed
// before the library was there.
std::string MakeId(Env& env, const fs::path& storage, const std::string& name) {
  if (!env.Exists(storage / kLibraryIdFile)) {
    const std::string id = NewId();
    WriteFile(env, storage / kLibraryIdFile, std::as_bytes(std::span(id)), IfExists::kFail);
    return id;
  }
  if (env.List(storage).size() == 1) return ReadId(env, storage);
  throw Error(ErrorCode::kInvalidArgument, name,
              fmt::format("{} is the storage of another library; expected a folder for this one",
                          storage.string()));
}

// Notes the storage in the catalogue, unless another process is faster.
void ClaimStorage(Env& env, const std::string& address, const fs::path& storage) {
  env.MakeFolders(storage);
  const auto catalogue = OpenCatalogue(address, CatalogueAccess::kWrite);
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  if (batch->Setting(kStorageKey)) return;
  batch->PutSetting(kStorageKey, env.Canonical(storage).string());
  // Before the commit: a library that is there has its storage.
  batch->PutSetting(kLibraryIdKey, MakeId(env, storage, ShownAddress(address)));
  batch->Commit();
}

LibraryFolder LocateShared(Env& env, const std::string& address) {
  const auto snapshot = OpenCatalogue(address, CatalogueAccess::kRead)->Snapshot();
  const std::optional<std::string> storage = snapshot->Setting(kStorageKey);
  if (!storage) {
    throw Error(ErrorCode::kNotFound, ShownAddress(address),
                "there is no library here; `bitpool index` makes one");
  }
  LibraryFolder folder(*storage, address);
  CheckStorage(env, folder, snapshot->Setting(kLibraryIdKey).value_or(""));
  return folder;
}

void RequireSameStorage(Env& env, const LibraryFolder& folder, const fs::path& storage) {
  if (storage.empty() || env.Canonical(storage) == folder.path()) return;
  throw Error(ErrorCode::kInvalidArgument, folder.name(),
              fmt::format("the storage of this library is {}; expected that, or none",
                          folder.path().string()));
}

void KeepVerdictsIn(Env& env, const fs::path& cache, LibraryFolder& folder) {
  const std::string id = ReadId(env, folder.path());
  try {
    env.MakeFolders(cache);
    folder.set_verdicts(cache / (id + "-verdicts.sqlite"));
  } catch (const Error&) {  // it is only a cache
  }
}

bool HasStorage(const std::string& address) {
  const auto catalogue = OpenCatalogue(address, CatalogueAccess::kCreate);
  return catalogue->Snapshot()->Setting(kStorageKey).has_value();
}

}  // namespace

LibraryFolder LocateLibrary(Env& env, const fs::path& location, const fs::path& cache) {
  if (!IsPostgresAddress(location.native())) return LibraryFolder(location);
  LibraryFolder folder = LocateShared(env, location.string());
  if (!cache.empty()) KeepVerdictsIn(env, cache, folder);
  return folder;
}

LibraryFolder PrepareLibrary(Env& env, const fs::path& location, const fs::path& storage) {
  if (!IsPostgresAddress(location.native())) {
    if (storage.empty()) return LibraryFolder(location);
    throw Error(ErrorCode::kInvalidArgument, location.string(),
                "only a library in a database has a storage beside it");
  }
  if (!HasStorage(location.string())) {
    if (storage.empty()) {
      throw Error(ErrorCode::kInvalidArgument, ShownAddress(location.string()),
                  "a new library in a database needs a storage: a folder for its files that all "
                  "machines see under the same path");
    }
    ClaimStorage(env, location.string(), storage);
  }
  LibraryFolder folder = LocateShared(env, location.string());
  RequireSameStorage(env, folder, storage);
  return folder;
}

FollowedCatalogue FollowCatalogue(Env& env, const LibraryFolder& folder, const fs::path& cache,
                                  const std::function<void(const std::string&)>& tell) {
  env.MakeFolders(cache);
  const std::string id = ReadId(env, folder.path());
  // A copy for each process of this machine.
  for (int number = 1; number <= kMostCopies; ++number) {
    const fs::path file = cache / fmt::format("{}-{}.sqlite", id, number);
    std::optional<FileLock> lock = env.TryLock(file.string() + ".lock");
    if (!lock) continue;
    return {.lock = std::make_unique<FileLock>(*std::move(lock)),
            .catalogue = OpenCatalogueReplica(folder.catalogue(), file, {.tell = tell})};
  }
  throw Error(ErrorCode::kResources, cache.string(),
              fmt::format("there are {} copies of the catalogue in use", kMostCopies));
}

}  // namespace bitpool
