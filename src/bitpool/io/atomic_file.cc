#include "bitpool/io/atomic_file.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/mapping_guard.h"

namespace bitpool {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// A name that a file has for a moment before it takes the place of another.
std::filesystem::path NameBeside(const std::filesystem::path& path, int number) {
  return FolderOf(path) / fmt::format(".{}.{}.tmp", path.filename().string(), number);
}

// Removes what a writer that was killed at that moment left: nobody holds its lock any more. False
// where that cannot be known.
bool RemoveAbandoned(Env& env, const std::filesystem::path& temporary) {
  try {
    const std::optional<FileLock> lock = env.TryLock(temporary);
    if (lock) env.Remove(temporary);
    return lock.has_value();
  } catch (const Error&) {  // no locks here, or not our file
    return false;
  }
}

// Gives a file a name beside the one that it is to have, and returns that name.
std::filesystem::path LinkBeside(Env& env, OutputFile& file, const std::filesystem::path& path) {
  constexpr int kMostWriters = 1000;  // of this path at one time
  for (int number = 0;;) {
    std::filesystem::path temporary = NameBeside(path, number);
    try {
      file.LinkAs(temporary);
      return temporary;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInvalidArgument || number == kMostWriters) throw;
    }
    if (!RemoveAbandoned(env, temporary)) ++number;
  }
}

}  // namespace

AtomicFile::AtomicFile(Env& env, std::filesystem::path path, IfExists if_exists)
    : env_(env), path_(std::move(path)), if_exists_(if_exists) {
  if (env_.IsFolder(path_)) {
    throw Error(ErrorCode::kInvalidArgument, path_.string(), "is a folder, expected a file");
  }
  if (if_exists_ == IfExists::kFail && env_.Exists(path_)) {
    throw Error(ErrorCode::kInvalidArgument, path_.string(),
                "already exists (--force replaces it)");
  }
  file_ = env_.CreateTemporary(FolderOf(path_));
}

void AtomicFile::Append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) Flush();
  if (bytes.size() >= kBufferBytes) {
    file_->Append(bytes);
    flushed_ += bytes.size();
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void AtomicFile::WriteAt(uint64_t offset, std::span<const std::byte> bytes) {
  Flush();
  file_->WriteAt(offset, bytes);
}

void AtomicFile::Commit() {
  Flush();
  RequireMappedFilesWhole();  // or this would be made from something that was not there
  file_->Sync();
  if (if_exists_ == IfExists::kFail) {
    file_->LinkAs(path_);
  } else {
    const std::filesystem::path temporary = LinkBeside(env_, *file_, path_);
    try {
      env_.Rename(temporary, path_);
    } catch (...) {
      try {
        env_.Remove(temporary);
      } catch (...) {  // the first failure is the one to report
      }
      throw;
    }
  }
  env_.SyncFolder(FolderOf(path_));
}

void AtomicFile::Flush() {
  if (buffer_.empty()) return;
  file_->Append(buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void WriteFile(Env& env, const std::filesystem::path& path, std::span<const std::byte> bytes,
               IfExists if_exists) {
  AtomicFile file(env, path, if_exists);
  file.Append(bytes);
  file.Commit();
}

}  // namespace bitpool
