#include "bitpool/io/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bitpool/io/system_error.h"

namespace bitpool {
namespace {

int LockWithoutWaiting(int descriptor) {
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

}  // namespace

std::optional<FileLock> FileLock::TryTake(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) ThrowSystem(path, "lock", errno);
  FileLock lock(descriptor);
  const int error_number = LockWithoutWaiting(descriptor);
  if (error_number == EWOULDBLOCK) return std::nullopt;
  if (error_number != 0) ThrowSystem(path, "lock", error_number);
  return lock;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace bitpool
