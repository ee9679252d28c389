#include "bitpool/library/library_folder.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/catalog/postgres_address.h"
#include "bitpool/codes/binary_codes.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersionKey = "library_version";
constexpr const char* kRootKey = "root";
constexpr const char* kFoldersKey = "folders";
constexpr const char* kExcludeKey = "exclude";
constexpr const char* kBitsKey = "bits";
constexpr const char* kCoderKey = "coder";
constexpr const char* kNextBitsKey = "next_bits";
constexpr const char* kNextCoderKey = "next_coder";
constexpr const char* kIndexGenerationKey = "index_generation";
constexpr const char* kIndexDigestKey = "index_digest";
constexpr const char* kUnfinishedKey = "unfinished";

std::string ItemKey(const char* key, uint64_t number) { return fmt::format("{}.{}", key, number); }

// The settings of one library, read with care.
class Settings {
 public:
  using Lookup = std::function<std::optional<std::string>(std::string_view)>;
  Settings(Lookup lookup, const std::string& name) : lookup_(std::move(lookup)), name_(name) {}

  bool Has(const char* key) const { return lookup_(key).has_value(); }

  std::string Text(const char* key) const {
    std::optional<std::string> value = lookup_(key);
    if (value) return *std::move(value);
    Fail(fmt::format("the catalogue has no setting \"{}\"", key));
  }

  uint64_t Number(const char* key) const {
    const std::string text = Text(key);
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end) return number;
    Fail(fmt::format("the catalogue's setting \"{}\": expected a number, got \"{}\"", key, text));
  }

  // A list has its length under the key, and its items under the key with their number. Older
  // libraries have none.
  std::vector<std::string> List(const char* key) const {
    std::vector<std::string> items;
    if (!Has(key)) return items;
    const uint64_t count = Number(key);
    for (uint64_t i = 0; i < count; ++i) items.push_back(Text(ItemKey(key, i).c_str()));
    return items;
  }

  // 0 where there are no codes.
  int Bits(const char* key, const std::string& coder) const {
    const uint64_t bits = Number(key);
    if (coder.empty() ? bits == 0 : bits >= 1 && bits <= kMaxBits) return static_cast<int>(bits);
    Fail(fmt::format("codes of {} bits: expected 1 to {}", bits, kMaxBits));
  }

  int Version() const {
    const uint64_t version = Number(kVersionKey);
    if (version >= 1 && version <= kLibraryVersion) return static_cast<int>(version);
    if (version == 0) Fail("version 0 of the library: expected 1 or more");
    throw Error(
        ErrorCode::kUnsupported, name_,
        fmt::format(
            "a newer Bitpool made it (version {} of the library, this program reads up to {})",
            version, kLibraryVersion));
  }

 private:
  [[noreturn]] void Fail(const std::string& problem) const {
    throw Error(ErrorCode::kCorrupt, name_, problem);
  }

  Lookup lookup_;
  const std::string& name_;
};

std::optional<LibraryFacts> ReadFacts(const Settings& settings) {
  if (!settings.Has(kVersionKey)) return std::nullopt;
  const int version = settings.Version();
  LibraryFacts facts;
  facts.root = settings.Text(kRootKey);
  facts.coder = settings.Text(kCoderKey);
  facts.bits = settings.Bits(kBitsKey, facts.coder);
  if (version == 1) return facts;  // it had another index file
  facts.next_coder = settings.Text(kNextCoderKey);
  facts.next_bits = settings.Bits(kNextBitsKey, facts.next_coder);
  facts.index_generation = settings.Number(kIndexGenerationKey);
  facts.index_digest = settings.Text(kIndexDigestKey);
  facts.unfinished = settings.Number(kUnfinishedKey) != 0;
  facts.folders = settings.List(kFoldersKey);
  facts.exclude = settings.List(kExcludeKey);
  return facts;
}

}  // namespace

LibraryFolder::LibraryFolder(fs::path storage, std::string address)
    : path_(std::move(storage)),
      name_(ShownAddress(address)),
      catalogue_(std::move(address)),
      shared_(true) {}

bool IsInFolder(std::string_view path, std::string_view folder) {
  if (folder == ".") return !path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

std::optional<LibraryFacts> ReadLibraryFacts(const CatalogueSnapshot& catalogue,
                                             const std::string& name) {
  return ReadFacts(Settings([&](std::string_view key) { return catalogue.Setting(key); }, name));
}

std::optional<LibraryFacts> ReadLibraryFacts(const CatalogueBatch& batch, const std::string& name) {
  return ReadFacts(Settings([&](std::string_view key) { return batch.Setting(key); }, name));
}
void PutLibraryFacts(CatalogueBatch& batch, const LibraryFacts& facts) {
  batch.PutSetting(kVersionKey, std::to_string(kLibraryVersion));
  batch.PutSetting(kRootKey, facts.root);
  batch.PutSetting(kBitsKey, std::to_string(facts.bits));
  batch.PutSetting(kCoderKey, facts.coder);
  batch.PutSetting(kNextBitsKey, std::to_string(facts.next_bits));
  batch.PutSetting(kNextCoderKey, facts.next_coder);
  batch.PutSetting(kIndexGenerationKey, std::to_string(facts.index_generation));
  batch.PutSetting(kIndexDigestKey, facts.index_digest);
  batch.PutSetting(kUnfinishedKey, facts.unfinished ? "1" : "0");
  const auto put_list = [&](const char* key, const std::vector<std::string>& items) {
    batch.PutSetting(key, std::to_string(items.size()));
    for (size_t i = 0; i < items.size(); ++i) batch.PutSetting(ItemKey(key, i), items[i]);
  };
  put_list(kFoldersKey, facts.folders);
  put_list(kExcludeKey, facts.exclude);
}

LibraryFiles::LibraryFiles(Env& env, const fs::path& library, const fs::path& root) {
  if (!env.Exists(library)) return;
  inside_ = FolderInRoot(env, library, root);
  if (inside_ == ".") inside_.clear();  // refused elsewhere
  absolute_ = env.Canonical(library).string();
}

bool LibraryFiles::Contain(std::string_view path) const {
  const auto is_in = [&](const std::string& folder) {
    return !folder.empty() && IsInFolder(path, folder);
  };
  return path.starts_with(".bitpool/") || path.find("/.bitpool/") != std::string_view::npos ||
         is_in(inside_) || is_in(absolute_);
}

std::string RootSetting(Env& env, const fs::path& library, const fs::path& root) {
  const fs::path absolute = env.Canonical(root);
  return FolderInRoot(env, library, root).empty()
             ? absolute.string()
             : absolute.lexically_relative(env.Canonical(library)).string();
}

void RequireRoot(Env& env, const LibraryFolder& library, const std::optional<LibraryFacts>& facts,
                 const fs::path& root) {
  if (!env.Exists(library.path())) return;  // it is new
  if (FolderInRoot(env, library.path(), root) == ".") {
    throw Error(ErrorCode::kInvalidArgument, library.name(),
                "the library cannot be the folder of pictures itself");
  }
  if (!facts || facts->root == RootSetting(env, library.path(), root)) return;
  const fs::path old_root = RootOf(env, library.path(), facts->root);
  if (!env.IsFolder(old_root)) return;
  throw Error(ErrorCode::kInvalidArgument, library.name(),
              fmt::format("this library is of the folder {}; expected that, or another library for "
                          "{}",
                          old_root.string(), root.string()));
}

fs::path RootOf(Env& env, const fs::path& library, const std::string& setting) {
  return (env.Canonical(library) / setting).lexically_normal();
}

std::string FolderInRoot(Env& env, const fs::path& library, const fs::path& root) {
  const fs::path inside = env.Canonical(library).lexically_relative(env.Canonical(root));
  return inside.begin()->native() == ".." ? std::string() : inside.string();
}

}  // namespace bitpool
