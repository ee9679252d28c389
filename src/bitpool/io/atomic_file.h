#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "bitpool/io/env.h"

namespace bitpool {

// What to do when the output already exists.
enum class IfExists { kFail, kReplace };

// A file that appears under its name complete or not at all: it is written to a temporary in the
// same folder, synced, renamed, and the folder synced. When Commit throws, or the process is killed
// during it, either the old file or the new one is there; what is left beside it is removed when
// the file is next written.
class AtomicFile {
 public:
  // Throws kInvalidArgument at once when the file exists and may not be replaced: before the work,
  // not after it.
  AtomicFile(Env& env, std::filesystem::path path, IfExists if_exists);

  const std::filesystem::path& path() const { return path_; }
  uint64_t size() const { return flushed_ + buffer_.size(); }

  void Append(std::span<const std::byte> bytes);

  // Overwrites bytes that were appended before. REQUIRES: offset + bytes.size() <= size()
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes);

  void Commit();

 private:
  void Flush();

  Env& env_;
  std::filesystem::path path_;
  IfExists if_exists_;
  std::unique_ptr<OutputFile> file_;
  std::vector<std::byte> buffer_;
  uint64_t flushed_ = 0;
};

// Writes a whole small file atomically.
void WriteFile(Env& env, const std::filesystem::path& path, std::span<const std::byte> bytes,
               IfExists if_exists);

}  // namespace bitpool
