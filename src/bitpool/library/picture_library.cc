#include "bitpool/library/picture_library.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/base/stopwatch.h"
#include "bitpool/library/library_coder.h"
#include "bitpool/library/library_thumbnails.h"
#include "bitpool/library/library_writer.h"
#include "bitpool/library/shared_library.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

void RequireFolder(Env& env, const fs::path& folder) {
  if (env.Status(folder).kind == FileKind::kFolder) return;
  throw Error(ErrorCode::kInvalidArgument, folder.string(), "expected a folder");
}

// Makes an empty library where there is none. False when there was one.
bool Begin(Env& env, const LibraryFolder& folder, const fs::path& pictures) {
  const LibraryWriter writer(env, folder);
  if (writer.ReadFacts()) return false;
  const auto batch = writer.catalogue().StartBatch(PictureSet::kCurrent);
  if (ReadLibraryFacts(*batch, folder.name())) return false;  // another process was faster
  LibraryFacts facts;
  facts.root = RootSetting(env, folder.path(), pictures);
  PutLibraryFacts(*batch, facts);
  batch->Commit();
  return true;
}

bool HasCatalogue(Env& env, const LibraryFolder& folder) {
  if (folder.is_shared()) return true;  // the library was located by it
  // A process that is killed while it creates a catalogue leaves an empty file.
  return env.Exists(folder.catalogue()) && env.Status(folder.catalogue()).size > 0;
}

FolderChoice ChoiceOf(const UpdateOptions& options) {
  FolderChoice choice = {.folders = options.more_folders, .exclude = options.exclude};
  if (!options.pictures.empty()) {
    choice.folders.insert(choice.folders.begin(), options.pictures);
  }
  return choice;
}

CoderChoice ChoiceOf(const UpdateOptions& options, const fs::path& root,
                     const std::vector<FoundPicture>& found) {
  return {.bits = options.bits,
          .coder = options.coder,
          .network = options.network,
          .learn = options.learn,
          .root = root,
          .found = found};
}

std::unique_ptr<Catalogue> OpenToRead(Env& env, const LibraryFolder& folder) {
  if (!HasCatalogue(env, folder)) {
    const LibraryFolder inside(folder.path() / ".bitpool");
    throw Error(ErrorCode::kNotFound, folder.name(),
                HasCatalogue(env, inside)
                    ? fmt::format("there is no library here, but in {}", inside.name())
                    : "there is no library here; `bitpool index` makes one");
  }
  return OpenCatalogue(folder.catalogue(), CatalogueAccess::kRead);
}

PictureCode EncodeNamed(const PictureCoder& coder, const std::string& name,
                        std::span<const std::byte> picture) {
  if (name.empty()) return coder.Encode(picture);
  return InContext(name, [&] { return coder.Encode(picture); });
}

// A folder that the user named, in the form in which the paths of its pictures begin.
std::string FolderAsInPaths(Env& env, const fs::path& root, const fs::path& folder) {
  const fs::path inside = root / folder;
  const fs::path there = env.Exists(inside) ? inside : folder;
  RequireFolder(env, there);
  const fs::path path = env.Canonical(there);
  const fs::path relative = path.lexically_relative(env.Canonical(root));
  return relative.begin()->native() == ".." ? path.string() : relative.string();
}

}  // namespace

// The codes of one version.
struct PictureLibrary::Version {
  uint64_t generation;
  std::string coder;
  IndexSnapshot index;
};

std::unique_ptr<PictureLibrary> PictureLibrary::Create(Env& env, const fs::path& location,
                                                       const fs::path& pictures,
                                                       const fs::path& storage) {
  RequireFolder(env, pictures);
  const LibraryFolder folder = PrepareLibrary(env, location, storage);
  if (!Begin(env, folder, pictures)) {
    throw Error(ErrorCode::kInvalidArgument, folder.name(), "there is a library already");
  }
  return Open(env, location);
}

std::unique_ptr<PictureLibrary> PictureLibrary::OpenOrCreate(Env& env, const fs::path& location,
                                                             const fs::path& pictures,
                                                             const fs::path& storage) {
  RequireFolder(env, pictures);
  Begin(env, PrepareLibrary(env, location, storage), pictures);
  return Open(env, location);
}

std::unique_ptr<PictureLibrary> PictureLibrary::Open(Env& env, const fs::path& location,
                                                     const fs::path& cache) {
  LibraryFolder folder = LocateLibrary(env, location, cache);
  auto catalogue = OpenToRead(env, folder);
  return std::unique_ptr<PictureLibrary>(
      new PictureLibrary(env, std::move(folder), std::move(catalogue)));
}

std::unique_ptr<PictureLibrary> PictureLibrary::OpenToFollow(Env& env, const fs::path& location,
                                                             const FollowOptions& options) {
  LibraryFolder folder = LocateLibrary(env, location, options.cache);
  if (!folder.is_shared()) return Open(env, location);
  FollowedCatalogue followed = FollowCatalogue(env, folder, options.cache, options.tell);
  return std::unique_ptr<PictureLibrary>(new PictureLibrary(
      env, std::move(folder), std::move(followed.catalogue), std::move(followed.lock)));
}

PictureLibrary::PictureLibrary(Env& env, LibraryFolder folder, std::unique_ptr<Catalogue> catalogue,
                               std::unique_ptr<FileLock> copy)
    : env_(env),
      folder_(std::move(folder)),
      copy_(std::move(copy)),
      catalogue_(std::move(catalogue)),
      index_(env, folder_) {
  const auto snapshot = catalogue_->Snapshot();
  const auto facts = ReadLibraryFacts(*snapshot, folder_.name());
  if (!facts || facts->index_digest.empty()) return;
  try {
    // The index file is mapped, and verified while the caller does something else.
    VersionOf(*snapshot, *facts)->index.StartVerifying();
  } catch (const Error&) {  // reported when there is something to be answered
  }
}

LibraryFacts PictureLibrary::IndexedFacts(const CatalogueSnapshot& catalogue) const {
  std::optional<LibraryFacts> facts = ReadLibraryFacts(catalogue, folder_.name());
  if (facts && !facts->coder.empty()) return *std::move(facts);
  throw Error(ErrorCode::kNotFound, folder_.name(),
              "nothing was indexed here yet; `bitpool index` does it");
}

LibrarySnapshot PictureLibrary::MakeSnapshot(std::unique_ptr<CatalogueSnapshot> catalogue,
                                             LibraryFacts facts, const Version& version) const {
  return {env_, folder_, std::move(facts), std::move(catalogue), version.index};
}

std::shared_ptr<const PictureLibrary::Version> PictureLibrary::CurrentVersion() const {
  const std::lock_guard lock(publishing_);
  return version_;
}

LibrarySnapshot PictureLibrary::Snapshot() const {
  {
    auto catalogue = catalogue_->Snapshot();
    LibraryFacts facts = IndexedFacts(*catalogue);
    const auto version = CurrentVersion();
    if (version && version->generation == catalogue->generation() &&
        version->coder == facts.coder && version->index.IsVerified()) {
      return MakeSnapshot(std::move(catalogue), std::move(facts), *version);
    }
  }
  // A new snapshot is taken: while others held the lock, the index may have gone beyond the first
  // one.
  const std::lock_guard lock(refreshing_);
  auto catalogue = catalogue_->Snapshot();
  LibraryFacts facts = IndexedFacts(*catalogue);
  auto version = VersionOf(*catalogue, facts);
  try {
    version->index.RequireVerified();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorrupt) throw;
    index_.DistrustFile();
    version = VersionOf(*catalogue, facts);
  }
  return MakeSnapshot(std::move(catalogue), std::move(facts), *version);
}

std::shared_ptr<const PictureLibrary::Version> PictureLibrary::VersionOf(
    const CatalogueSnapshot& catalogue, const LibraryFacts& facts) const {
  auto version =
      std::make_shared<const Version>(Version{.generation = catalogue.generation(),
                                              .coder = facts.coder,
                                              .index = index_.BringTo(catalogue, facts)});
  const std::lock_guard lock(publishing_);
  version_ = version;
  return version;
}

std::shared_ptr<const PictureCoder> PictureLibrary::CoderOf(const LibraryFacts& facts) const {
  {
    const std::lock_guard lock(publishing_);
    if (coder_ && coder_->digest() == facts.coder) return coder_;
  }
  auto coder = std::make_shared<const PictureCoder>(OpenLibraryCoder(env_, folder_, facts));
  const std::lock_guard lock(publishing_);
  coder_ = coder;
  return coder;
}

QueryAnswer PictureLibrary::QueryNamed(const std::string& name, std::span<const std::byte> picture,
                                       const QueryOptions& options,
                                       const RunContext& context) const {
  options.Validate();
  while (true) {
    // Nothing is held while the picture is encoded. An update may bring another coder meanwhile.
    const LibraryFacts facts = IndexedFacts(*catalogue_->Snapshot());
    const auto is_current = [&] {
      return IndexedFacts(*catalogue_->Snapshot()).coder == facts.coder;
    };
    std::shared_ptr<const PictureCoder> coder;
    try {
      coder = CoderOf(facts);
    } catch (const Error&) {
      if (is_current()) throw;
      continue;
    }
    const PictureCode code = EncodeNamed(*coder, name, picture);
    std::optional<PictureCode> mirrored;
    if (options.mirrored) mirrored = coder->EncodeMirrored(picture);
    LibrarySnapshot library = Snapshot();
    if (library.facts().coder != facts.coder) continue;
    std::vector<QueryMatch> matches = QueryLibrary(library, code, options, context);
    if (mirrored) {
      matches = MergeMatches(std::move(matches), QueryLibrary(library, *mirrored, options, context),
                             options);
    }
    return {.library = std::move(library), .matches = std::move(matches)};
  }
}

QueryAnswer PictureLibrary::Query(std::span<const std::byte> picture, const QueryOptions& options,
                                  const RunContext& context) const {
  return QueryNamed({}, picture, options, context);
}

QueryAnswer PictureLibrary::QueryFile(const fs::path& picture, const QueryOptions& options,
                                      const RunContext& context) const {
  return QueryNamed(picture.string(), env_.Read(picture, MaxPictureBytes()), options, context);
}

QueryAnswer PictureLibrary::QueryId(uint64_t id, const QueryOptions& options,
                                    const RunContext& context) const {
  LibrarySnapshot library = Snapshot();
  std::vector<QueryMatch> matches = QueryById(library, id, options, context);
  return {.library = std::move(library), .matches = std::move(matches)};
}

DuplicatesAnswer PictureLibrary::Duplicates(DuplicateSearch search,
                                            const RunContext& context) const {
  LibrarySnapshot library = Snapshot();
  const int within = search.radius.value_or(
      DefaultDuplicateRadius(library.index().bits(), library.index().size()));
  for (std::string& folder : search.keep.folders) {
    folder = FolderAsInPaths(env_, library.root(), folder);
  }
  PictureEncoder encode;
  if (search.mirrored) {
    encode = [coder = CoderOf(library.facts())](const Picture& picture) -> std::vector<uint8_t> {
      MatrixF features = coder->Describe(picture);
      if (features.cols() == 0) return {};
      return coder->EncodeFeatures(std::move(features), {}).code;
    };
  }
  std::vector<DuplicateGroup> groups = FindDuplicates(library, search, encode, context);
  return {.library = std::move(library), .radius = within, .groups = std::move(groups)};
}

std::unique_ptr<Catalogue> PictureLibrary::OpenToDecide() const {
  // Without the library's lock: one short change beside those of an update.
  return OpenCatalogue(folder_.catalogue(), CatalogueAccess::kWrite);
}

Decision PictureLibrary::DecideNotDuplicates(uint64_t first, uint64_t second) const {
  return DecideNotDuplicates(std::array{first, second}).front().decision;
}

Decision PictureLibrary::DecideToKeep(uint64_t id) const {
  return DecideToKeep(std::array{id}).front().decision;
}

std::vector<NotedDecision> PictureLibrary::DecideNotDuplicates(
    std::span<const uint64_t> ids) const {
  if (ids.size() < 2) return {};  // needs no right to write
  auto noted = InContext(folder_.name(), [&] { return KeepApart(*OpenToDecide(), ids); });
  catalogue_->Refresh();
  return noted;
}

std::vector<NotedDecision> PictureLibrary::DecideToKeep(std::span<const uint64_t> ids) const {
  auto noted = InContext(folder_.name(), [&] { return KeepPictures(*OpenToDecide(), ids); });
  catalogue_->Refresh();
  return noted;
}

std::vector<Decision> PictureLibrary::ListDecisions() const {
  return catalogue_->Snapshot()->Decisions();
}

void PictureLibrary::UndoDecision(uint64_t id) const {
  const std::unique_ptr<Catalogue> catalogue = OpenToDecide();
  const auto batch = catalogue->StartBatch(PictureSet::kCurrent);
  if (!batch->RemoveDecision(id)) {
    throw Error(ErrorCode::kNotFound, folder_.name(), fmt::format("there is no decision {}", id));
  }
  batch->Commit();
  catalogue_->Refresh();
}

std::optional<CataloguedPicture> PictureLibrary::Find(uint64_t id) const {
  return catalogue_->Snapshot()->FindById(id);
}

uint64_t PictureLibrary::IdOf(const fs::path& path) const {
  const auto catalogue = catalogue_->Snapshot();
  if (const auto picture = catalogue->FindByPath(path.native())) return picture->id;
  if (env_.Exists(path)) {
    const fs::path root = RootOf(env_, folder_.path(), IndexedFacts(*catalogue).root);
    // The file itself may be a link, which is a picture of its own.
    const fs::path full =
        env_.Canonical(path.has_parent_path() ? path.parent_path() : ".") / path.filename();
    for (const fs::path& name : {full.lexically_relative(env_.Canonical(root)), full}) {
      if (const auto picture = catalogue->FindByPath(name.native())) return picture->id;
    }
  }
  throw Error(ErrorCode::kNotFound, folder_.name(),
              fmt::format("there is no picture {}", path.string()));
}

std::vector<std::byte> PictureLibrary::Thumbnail(uint64_t id) const {
  return LibraryThumbnails(env_, folder_).Read(id);
}

UpdateSummary PictureLibrary::Update(const UpdateOptions& options, const RunContext& context) {
  const Stopwatch watch;
  LibraryWriter writer(env_, folder_);
  FoundInFolders folders =
      FindInFolders(env_, folder_, writer.ReadFacts(), ChoiceOf(options), context);
  const fs::path root = folders.root;
  LibraryUpdate update;
  update.root = root;
  update.folders = std::move(folders.folders);
  update.exclude = std::move(folders.exclude);
  update.found = std::move(folders.found);
  update.unreadable = std::move(folders.unreadable);
  try {
    // Left by a training that was killed; in a shared library it may be another process's.
    if (!folder_.is_shared()) RemoveTree(env_, folder_.training());
  } catch (const Error&) {  // does no harm
  }
  const ChosenCoder chosen = ChooseCoder(writer, ChoiceOf(options, root, update.found), context);
  update.read = [&](const FoundPicture& picture) {
    return env_.Read(root / picture.path, MaxPictureBytes());
  };
  update.encoding = {
      .bits = chosen.coder.bits(),
      .digest = chosen.coder.digest(),
      .encode = [&](std::span<const std::byte> bytes) { return chosen.Encode(bytes); },
      .thumbnail = MakeThumbnail};
  update.allow_empty = options.allow_empty;
  update.elsewhere = options.elsewhere;
  update.max_bytes = MaxPictureBytes();
  update.on_failure = options.on_failure;
  update.on_wait = options.on_wait;
  UpdateSummary summary = UpdateLibrary(writer, update, context);
  summary.seconds = watch.seconds();  // with finding the pictures and learning the coder
  catalogue_->Refresh();
  return summary;
}

UpdatePlan PictureLibrary::Plan(Env& env, const fs::path& location, const UpdateOptions& options,
                                const RunContext& context) {
  const LibraryFolder folder = LocateLibrary(env, location);
  LibraryBefore library;
  if (HasCatalogue(env, folder)) {
    library.catalogue = OpenToRead(env, folder)->Snapshot();
    library.facts = ReadLibraryFacts(*library.catalogue, folder.name());
  }
  const FoundInFolders folders =
      FindInFolders(env, folder, library.facts, ChoiceOf(options), context);
  const PlannedCoder planned =
      PlanCoder(env, folder, library.facts, ChoiceOf(options, folders.root, folders.found));
  RequireRoot(env, folder, library.facts, folders.root);
  return PlanUpdate(folders, library, planned.coder ? &*planned.coder : nullptr);
}

UpdateSummary PictureLibrary::UpdateWith(const LibraryUpdate& update, const RunContext& context) {
  LibraryWriter writer(env_, folder_);
  UpdateSummary summary = UpdateLibrary(writer, update, context);
  catalogue_->Refresh();
  return summary;
}

}  // namespace bitpool
