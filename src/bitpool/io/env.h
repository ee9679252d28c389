#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

// Every file operation of the library goes through this seam, so that tests can make any of them
// fail. All throw Error: kNotFound, kResources (no space, too many open files) or kIo, with the
// path and the system's reason.
class Env {
 public:
  virtual ~Env() = default;

  // The real file system.
  static Env& Posix();

  virtual std::shared_ptr<const FileView> Map(const std::filesystem::path& path) = 0;
  // A new nameless file in `folder`. Where the file system can, it has no name on disk either, so
  // that nothing is left behind when the process is killed.
  virtual std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path& folder) = 0;
  virtual void Rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual void Remove(const std::filesystem::path& path) = 0;
  virtual void SyncFolder(const std::filesystem::path& folder) = 0;
  virtual void MakeFolders(const std::filesystem::path& folder) = 0;
  virtual bool Exists(const std::filesystem::path& path) = 0;
  virtual bool IsFolder(const std::filesystem::path& path) = 0;
  // Names of the entries of a folder, sorted.
  virtual std::vector<std::string> List(const std::filesystem::path& folder) = 0;
};

// The real file system. `nameless`: use files without a name where the file system has them (tests
// switch it off).
std::unique_ptr<Env> MakePosixEnv(bool nameless = true);

}  // namespace bitpool
