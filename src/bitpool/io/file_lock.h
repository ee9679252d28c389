#pragma once

#include <filesystem>
#include <optional>

namespace bitpool {

// A file that only one process at a time holds (flock). The system lets go when the process ends,
// however it ends; the file itself stays.
class FileLock {
 public:
  // Makes the file when it is not there. Returns nothing when someone else holds it, even in this
  // process. Throws kNotFound, kResources or kIo when there can be no such file.
  static std::optional<FileLock> TryTake(const std::filesystem::path& path);

  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace bitpool
