#include "bitpool/library/library.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/sqlite_catalogue.h"
#include "bitpool/index/index_file.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionKey = "library_version";
constexpr const char* kRootKey = "root";
constexpr const char* kBitsKey = "bits";
constexpr const char* kCoderKey = "coder";
constexpr const char* kGenerationKey = "generation";
constexpr const char* kIndexGenerationKey = "index_generation";
constexpr const char* kIndexDigestKey = "index_digest";

std::string ReadText(const Catalogue& catalogue, const char* key, const std::string& name) {
  std::optional<std::string> value = catalogue.Setting(key);
  if (value) return *std::move(value);
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{}: the catalogue has no setting \"{}\"", name, key));
}

uint64_t ReadNumber(const Catalogue& catalogue, const char* key, const std::string& name) {
  const std::string text = ReadText(catalogue, key, name);
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end) return number;
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{}: the catalogue's setting \"{}\": expected a number, got \"{}\"", name,
                          key, text));
}

void CheckVersion(uint64_t version, const std::string& name) {
  if (version <= kLibraryVersion) return;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("{}: a newer Bitpool made it (version {} of the library, this program "
                          "reads up to {})",
                          name, version, kLibraryVersion));
}

int ReadBits(const Catalogue& catalogue, const std::string& name) {
  const uint64_t bits = ReadNumber(catalogue, kBitsKey, name);
  if (bits >= 1 && bits <= kMaxBits) return static_cast<int>(bits);
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{}: codes of {} bits: expected 1 to {}", name, bits, kMaxBits));
}

// Absolute and without links, so that paths can be compared; nothing needs to be there.
fs::path Canonical(const fs::path& path) {
  std::error_code ignored;
  fs::path absolute = fs::absolute(path).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "a/" is "a"
  fs::path canonical = fs::weakly_canonical(absolute, ignored);
  return canonical.empty() ? absolute : canonical;
}

std::unique_ptr<Catalogue> OpenCatalogue(Env& env, const LibraryFolder& folder) {
  if (!env.Exists(folder.catalogue())) {
    throw Error(ErrorCode::kNotFound,
                fmt::format("{}: there is no library here; `bitpool index` makes one",
                            folder.path().string()));
  }
  return OpenSqliteCatalogue(folder.catalogue(), CatalogueAccess::kRead);
}

LibraryFacts ReadExistingFacts(const Catalogue& catalogue, const std::string& name) {
  std::optional<LibraryFacts> facts = ReadLibraryFacts(catalogue, name);
  if (facts) return *std::move(facts);
  throw Error(ErrorCode::kNotFound,
              fmt::format("{}: nothing was indexed here yet; `bitpool index` does it", name));
}

}  // namespace

std::optional<LibraryFacts> ReadLibraryFacts(const Catalogue& catalogue, const std::string& name) {
  if (!catalogue.Setting(kVersionKey)) return std::nullopt;
  CheckVersion(ReadNumber(catalogue, kVersionKey, name), name);
  return LibraryFacts{.root = ReadText(catalogue, kRootKey, name),
                      .bits = ReadBits(catalogue, name),
                      .coder = ReadText(catalogue, kCoderKey, name),
                      .generation = ReadNumber(catalogue, kGenerationKey, name),
                      .index_generation = ReadNumber(catalogue, kIndexGenerationKey, name),
                      .index_digest = ReadText(catalogue, kIndexDigestKey, name)};
}

void PutLibraryFacts(CatalogueBatch& batch, const LibraryFacts& facts) {
  batch.PutSetting(kVersionKey, std::to_string(kLibraryVersion));
  batch.PutSetting(kRootKey, facts.root);
  batch.PutSetting(kBitsKey, std::to_string(facts.bits));
  batch.PutSetting(kCoderKey, facts.coder);
  batch.PutSetting(kGenerationKey, std::to_string(facts.generation));
  batch.PutSetting(kIndexGenerationKey, std::to_string(facts.index_generation));
  batch.PutSetting(kIndexDigestKey, facts.index_digest);
}

std::string RootSetting(const fs::path& library, const fs::path& root) {
  const fs::path absolute = Canonical(root);
  return FolderInRoot(library, root).empty()
             ? absolute.string()
             : absolute.lexically_relative(Canonical(library)).string();
}

fs::path RootOf(const fs::path& library, const std::string& setting) {
  return (Canonical(library) / setting).lexically_normal();
}

std::string FolderInRoot(const fs::path& library, const fs::path& root) {
  const fs::path inside = Canonical(library).lexically_relative(Canonical(root));
  return inside.begin()->native() == ".." ? std::string() : inside.string();
}

std::unique_ptr<CodeIndex> OpenCachedIndex(Env& env, const LibraryFolder& folder,
                                           const LibraryFacts& facts, const RunContext& context) {
  if (facts.index_generation != facts.generation || facts.index_digest.empty()) return nullptr;
  try {
    if (ContentDigest(env.Map(folder.index())->bytes()) != facts.index_digest) return nullptr;
    std::unique_ptr<CodeIndex> index = OpenIndex(env, folder.index(), true, context);
    return index->bits() == facts.bits ? std::move(index) : nullptr;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kCancelled) throw;
    return nullptr;  // whatever is wrong with the copy, the catalogue has the codes
  }
}

std::unique_ptr<CodeIndex> IndexCatalogue(const Catalogue& catalogue, const LibraryFacts& facts,
                                          const std::string& name) {
  std::vector<uint8_t> rows;
  std::vector<int64_t> ids;
  catalogue.ForEach([&](const CataloguedPicture& picture) {
    if (picture.code.empty()) return;
    if (picture.code.size() != BytesPerCode(facts.bits)) {
      throw Error(ErrorCode::kCorrupt,
                  fmt::format("{}: picture {} has a code of {} bytes: expected {} bits", name,
                              picture.id, picture.code.size(), facts.bits));
    }
    rows.insert(rows.end(), picture.code.begin(), picture.code.end());
    ids.push_back(static_cast<int64_t>(picture.id));
  });
  // Flat: a library has at most millions of codes, which are scanned in milliseconds, and the same
  // codes make the same file.
  auto index = std::make_unique<CodeIndex>(
      IndexOptions{.bits = facts.bits, .kind = IndexKind::kFlat, .threads = 1});
  index->Add(BinaryCodes(facts.bits, std::move(rows)), ids);
  return index;
}

Library::Library(Env& env, const fs::path& folder, const RunContext& context)
    : env_(env),
      folder_(folder),
      catalogue_(OpenCatalogue(env, folder_)),
      facts_(ReadExistingFacts(*catalogue_, folder_.path().string())),
      index_(OpenCachedIndex(env, folder_, facts_, context)) {
  if (!index_) index_ = IndexCatalogue(*catalogue_, facts_, folder_.path().string());
}

std::vector<std::byte> Library::ReadThumbnail(uint64_t id) const {
  try {
    const auto view = env_.Map(folder_.thumbnail(id));
    return {view->bytes().begin(), view->bytes().end()};
  } catch (const Error&) {  // a page without one picture is better than none
    return {};
  }
}

}  // namespace bitpool
