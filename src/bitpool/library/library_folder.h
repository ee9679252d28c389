#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/catalog/catalogue.h"
#include "bitpool/io/env.h"
#include "bitpool/pictures/picture_files.h"

namespace bitpool {

inline constexpr int kLibraryVersion = 2;

// Where things are in the folder of a library. The catalogue of a shared library is in a database;
// its files are in a folder that all machines see.
class LibraryFolder {
 public:
  explicit LibraryFolder(std::filesystem::path path)
      : path_(std::move(path)),
        name_(path_.string()),
        catalogue_((path_ / kCatalogueFile).string()),
        verdicts_(path_ / "verdicts.sqlite") {}
  // A shared library: the folder of its files, and the address of its catalogue.
  LibraryFolder(std::filesystem::path storage, std::string address);

  const std::filesystem::path& path() const { return path_; }
  const std::string& name() const { return name_; }            // for messages
  const std::string& catalogue() const { return catalogue_; }  // as OpenCatalogue takes it
  bool is_shared() const { return shared_; }
  // The index file with this digest. That of a shared library is never replaced, because others map
  // it; any other library has just one, whatever its digest.
  std::filesystem::path index(const std::string& digest = {}) const {
    return path_ / (shared_ ? "codes-" + digest + ".bpi" : "codes.bpi");
  }
  // The coder with this digest, which the catalogue names.
  std::filesystem::path coder(const std::string& digest) const {
    return path_ / ("coder-" + digest + ".bpc");
  }
  // The one coder of a library of version 1.
  std::filesystem::path first_version_coder() const { return path_ / "coder.bpc"; }
  // Where a coder is learned; there only while that lasts.
  std::filesystem::path training() const { return path_ / "training"; }
  std::filesystem::path lock() const { return path_ / "lock"; }
  std::filesystem::path thumbnails() const { return path_ / "thumbnails"; }
  // What pairs of pictures were found to be; see VerdictCache. Empty: that is not kept.
  const std::filesystem::path& verdicts() const { return verdicts_; }
  // Keeps them elsewhere. A shared library needs a place on this machine: on the file systems that
  // machines share, the locks of SQLite cannot be relied on.
  void set_verdicts(std::filesystem::path file) { verdicts_ = std::move(file); }

 private:
  std::filesystem::path path_;
  std::string name_;
  std::string catalogue_;
  std::filesystem::path verdicts_;
  bool shared_ = false;
};

// True for the folder itself and what is in it; paths as the catalogue has them. The folder "." is
// the folder of pictures.
bool IsInFolder(std::string_view path, std::string_view folder);

// What a library says about itself, in settings of its catalogue.
struct LibraryFacts {
  std::string root;  // as RootSetting gives it
  // Further folders of pictures, absolute. The paths of their pictures are absolute too.
  std::vector<std::string> folders;
  std::vector<std::string> exclude;  // as PictureSearch has it
  int bits = 0;                      // of the codes; 0 before there are any
  std::string coder;                 // digest of what made the codes; empty before there are any
  // The same for the codes that are gathered to take their place; empty when there are none.
  int next_bits = 0;
  std::string next_coder;
  // The catalogue is the truth, and the index file a copy of its codes at one generation. The
  // digest is that of IndexFile; a file with another one is not used.
  uint64_t index_generation = 0;
  std::string index_digest;
  // An update began and has not ended: it is still running, or was killed and may have left stray
  // files.
  bool unfinished = false;

  bool HasCodesOf(const std::string& digest, int length) const {
    return coder == digest && bits == length;
  }
  bool GathersCodesOf(const std::string& digest, int length) const {
    return next_coder == digest && next_bits == length;
  }

  bool operator==(const LibraryFacts&) const = default;
};

// Returns nothing for a library that was begun and has no settings yet. Throws kUnsupported when a
// newer Bitpool made the library and kCorrupt for invalid settings; `name` is for messages.
std::optional<LibraryFacts> ReadLibraryFacts(const CatalogueSnapshot& catalogue,
                                             const std::string& name);
// The same as a batch sees them, which others cannot change before it is over.
std::optional<LibraryFacts> ReadLibraryFacts(const CatalogueBatch& batch, const std::string& name);
void PutLibraryFacts(CatalogueBatch& batch, const LibraryFacts& facts);

// Tells what belongs to a library and is not one of the user's pictures: the files of this one, and
// what is in folders that are named .bitpool.
class LibraryFiles {
 public:
  // The library need not be there.
  LibraryFiles(Env& env, const std::filesystem::path& library, const std::filesystem::path& root);

  bool Contain(std::string_view path) const;  // as the catalogue has it

 private:
  std::string inside_;    // the library's folder relative to the root, if it is inside
  std::string absolute_;  // the same as an absolute path; empty when it is not there
};

// The folder of pictures as a library records it: relative to the library's own folder when that
// lies inside, so that both can be moved together; otherwise absolute.
std::string RootSetting(Env& env, const std::filesystem::path& library,
                        const std::filesystem::path& root);
// Refuses with kInvalidArgument a folder of pictures that is the library's own folder, or another
// one than the library records: if that is gone, it was moved; if it is still there, the library
// was named by mistake.
void RequireRoot(Env& env, const LibraryFolder& library, const std::optional<LibraryFacts>& facts,
                 const std::filesystem::path& root);
// The folder that a setting means.
std::filesystem::path RootOf(Env& env, const std::filesystem::path& library,
                             const std::string& setting);
// The library's own folder as seen from the folder of pictures: "." for the same one, empty when it
// does not lie inside.
std::string FolderInRoot(Env& env, const std::filesystem::path& library,
                         const std::filesystem::path& root);

}  // namespace bitpool
