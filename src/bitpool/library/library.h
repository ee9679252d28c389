#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bitpool/base/run_context.h"
#include "bitpool/catalog/catalogue.h"
#include "bitpool/index/code_index.h"
#include "bitpool/io/env.h"

namespace bitpool {

inline constexpr int kLibraryVersion = 1;

// Where things are in the folder of a library.
class LibraryFolder {
 public:
  explicit LibraryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path catalogue() const { return path_ / "catalogue.sqlite"; }
  std::filesystem::path index() const { return path_ / "codes.bpx"; }
  std::filesystem::path coder() const { return path_ / "coder.bpc"; }
  // Where a coder is learned; only there meanwhile.
  std::filesystem::path training() const { return path_ / "training"; }
  std::filesystem::path lock() const { return path_ / "lock"; }
  std::filesystem::path thumbnails() const { return path_ / "thumbnails"; }
  // A thousand in a folder.
  std::filesystem::path thumbnail(uint64_t id) const {
    return thumbnails() / std::to_string(id / 1000) / (std::to_string(id) + ".jpg");
  }

 private:
  std::filesystem::path path_;
};

// What a library says about itself, in settings of its catalogue.
struct LibraryFacts {
  std::string root;   // as RootSetting gives it
  int bits = 0;       // of the codes
  std::string coder;  // digest of what made the codes
  // Changes with every committed change of pictures. The catalogue is the truth and the index file
  // a copy of its codes: the file is used only if it was made of this generation and is, byte for
  // byte, what was written then.
  uint64_t generation = 0;
  uint64_t index_generation = 0;
  std::string index_digest;
};

// Nothing for a library that was begun and has no settings yet. Throws kUnsupported when a newer
// Bitpool made the library and kCorrupt for settings without meaning; `name` is for messages.
std::optional<LibraryFacts> ReadLibraryFacts(const Catalogue& catalogue, const std::string& name);
void PutLibraryFacts(CatalogueBatch& batch, const LibraryFacts& facts);

// The folder of pictures as a library notes it: from the library's own folder when that lies
// inside, so that both can be moved together; otherwise absolute.
std::string RootSetting(const std::filesystem::path& library, const std::filesystem::path& root);
// The folder that a setting means.
std::filesystem::path RootOf(const std::filesystem::path& library, const std::string& setting);
// The library's own folder as seen from the folder of pictures: "." for the same one, empty when it
// does not lie inside.
std::string FolderInRoot(const std::filesystem::path& library, const std::filesystem::path& root);

// The index file, when it is there, whole, and of the catalogue's generation; otherwise null.
std::unique_ptr<CodeIndex> OpenCachedIndex(Env& env, const LibraryFolder& folder,
                                           const LibraryFacts& facts, const RunContext& context);
// An index of the catalogue's codes under their ids.
std::unique_ptr<CodeIndex> IndexCatalogue(const Catalogue& catalogue, const LibraryFacts& facts,
                                          const std::string& name);

// A library that is only read. It does not lock and is never in the way of who writes; what changes
// meanwhile may or may not be seen.
class Library {
 public:
  // Throws kNotFound when there is no library or nothing in it was ever indexed, and as
  // ReadLibraryFacts. An index file that does not match is left alone, and the index is made in
  // memory.
  Library(Env& env, const std::filesystem::path& folder, const RunContext& context);

  const LibraryFolder& folder() const { return folder_; }
  const Catalogue& catalogue() const { return *catalogue_; }
  const CodeIndex& index() const { return *index_; }
  const LibraryFacts& facts() const { return facts_; }
  // The folder of the pictures.
  std::filesystem::path root() const { return RootOf(folder_.path(), facts_.root); }

  // A JPEG; empty when there is none.
  std::vector<std::byte> ReadThumbnail(uint64_t id) const;

 private:
  Env& env_;
  LibraryFolder folder_;
  std::unique_ptr<Catalogue> catalogue_;
  LibraryFacts facts_;
  std::unique_ptr<CodeIndex> index_;
};

}  // namespace bitpool
