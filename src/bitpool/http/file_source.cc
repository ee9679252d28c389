#include "bitpool/http/file_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {

FileSource::FileSource(int descriptor, std::string name)
    : name_(std::move(name)), file_(descriptor) {
  struct stat status = {};
  if (fstat(file_, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(file_);
    throw Error(ErrorCode::kIo, name_, "expected a regular file");
  }
  size_ = static_cast<uint64_t>(status.st_size);
  modified_ns_ = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

FileSource::~FileSource() { close(file_); }

void FileSource::ReadAt(uint64_t offset, std::span<char> buffer) {
  while (!buffer.empty()) {
    const ssize_t count = pread(file_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw Error(ErrorCode::kIo, name_, "the file became shorter or cannot be read");
    buffer = buffer.subspan(static_cast<size_t>(count));
    offset += static_cast<uint64_t>(count);
  }
}

}  // namespace bitpool
