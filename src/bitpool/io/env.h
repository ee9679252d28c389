#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bitpool/io/file_lock.h"
#include "bitpool/io/file_view.h"

namespace bitpool {

// A file being written that has no name yet. Dropped when this is destroyed before LinkAs.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  virtual void Append(std::span<const std::byte> bytes) = 0;
  virtual void WriteAt(uint64_t offset, std::span<const std::byte> bytes) = 0;
  virtual void Sync() = 0;
  // Gives the file its name. Throws kInvalidArgument when a file of that name exists.
  virtual void LinkAs(const std::filesystem::path& path) = 0;
};

enum class FileKind { kFile, kFolder, kLink, kOther };

struct FolderEntry {
  std::string name;
  FileKind kind = FileKind::kOther;  // of the entry itself: links are not followed
};

struct FileStatus {
  FileKind kind = FileKind::kOther;
  uint64_t size = 0;        // in bytes
  int64_t modified_ns = 0;  // last change, nanoseconds since 1970
};

// Every file operation of the library goes through this seam, so that tests can make any of them
// fail. All throw Error: kNotFound, kResources (no space, too many open files) or kIo, with the
// path and the system's reason.
class Env {
 public:
  virtual ~Env() = default;

  // The real file system.
  static Env& Posix();

  virtual std::shared_ptr<const FileView> Map(const std::filesystem::path& path) = 0;
  // The bytes of a regular file of someone else, who may cut it off meanwhile; that would end a
  // process that has mapped it. Links are followed as OpenTrusted does. Throws kResources, before
  // reading, for more than `max_bytes`, and kInvalidArgument for anything but a regular file.
  virtual std::vector<std::byte> Read(const std::filesystem::path& path, uint64_t max_bytes) = 0;
  // A new nameless file in `folder`. Where the file system can, it has no name on disk either, so
  // that nothing is left behind when the process is killed.
  virtual std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path& folder) = 0;
  virtual void Rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual void Remove(const std::filesystem::path& path) = 0;
  virtual void SyncFolder(const std::filesystem::path& folder) = 0;
  virtual void MakeFolders(const std::filesystem::path& folder) = 0;
  virtual bool Exists(const std::filesystem::path& path) = 0;
  virtual bool IsFolder(const std::filesystem::path& path) = 0;
  // What a path leads to; links are followed.
  virtual FileStatus Status(const std::filesystem::path& path) = 0;
  // The entries of a folder, sorted by name.
  virtual std::vector<FolderEntry> ListEntries(const std::filesystem::path& folder) = 0;
  // Removes a folder. Throws kIo when it is not empty.
  virtual void RemoveFolder(const std::filesystem::path& folder) = 0;
  // Absolute and without links, so that paths can be compared; nothing needs to be there.
  virtual std::filesystem::path Canonical(const std::filesystem::path& path) = 0;
  // Returns nothing when someone else holds the lock.
  virtual std::optional<FileLock> TryLock(const std::filesystem::path& path) = 0;

  // Names of the entries of a folder, sorted.
  std::vector<std::string> List(const std::filesystem::path& folder);
};

// Removes a folder and all that is in it; does nothing when it is not there. Links are not
// followed: of one to a folder only the link is removed.
void RemoveTree(Env& env, const std::filesystem::path& folder);

// The real file system. `nameless`: use files without a name where the file system has them (tests
// switch it off).
std::unique_ptr<Env> MakePosixEnv(bool nameless = true);

}  // namespace bitpool
