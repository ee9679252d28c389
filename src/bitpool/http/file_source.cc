#include "bitpool/http/file_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

[[noreturn]] void Refuse(const std::string& name, int error) {
  throw Error(error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo, name,
              "cannot open: " + std::generic_category().message(error));
}

}  // namespace

FileSource::FileSource(const std::filesystem::path& path)
    : name_(path.string()),
      // A pipe would block the one who opens it.
      file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) Refuse(name_, errno);
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
