#include "bitpool/io/trusted_open.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/system_error.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

// Non-blocking, so that a pipe is refused instead of waited for.
constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
constexpr int kMostLinks = 40;  // as the kernel

// The path without links, in one call. Fails with ELOOP where there is one.
int OpenWithoutLinks(const fs::path& path) {
  open_how how = {};
  how.flags = kFlags;
  how.resolve = RESOLVE_NO_SYMLINKS;
  return static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how));
}

void PushParts(const fs::path& path, std::vector<fs::path>& parts) {
  const std::vector<fs::path> found(path.begin(), path.end());
  parts.insert(parts.end(), found.rbegin(), found.rend());
}

// Walks the path as the kernel does. False for a stranger's link, and when the walk does not end at
// the file that was opened, since someone changed the path meanwhile.
bool LinksAreTrusted(const fs::path& path, const struct stat& opened) {
  std::vector<fs::path> rest;  // the next one last
  PushParts(path, rest);
  fs::path at = ".";
  struct stat status = {};
  int links = 0;
  while (!rest.empty()) {
    const fs::path next = at / rest.back();  // an absolute part starts again
    rest.pop_back();
    if (lstat(next.c_str(), &status) != 0) return false;
    if (!S_ISLNK(status.st_mode)) {
      at = next;
      continue;
    }
    const bool trusted =
        status.st_uid == geteuid() || status.st_uid == 0 || status.st_uid == opened.st_uid;
    if (!trusted || ++links > kMostLinks) return false;
    std::error_code error;
    PushParts(fs::read_symlink(next, error), rest);
    if (error) return false;
  }
  return status.st_dev == opened.st_dev && status.st_ino == opened.st_ino;
}

// Owns the descriptor until it is given away.
struct Opened {
  ~Opened() {
    if (file >= 0) close(file);
  }
  int file = -1;
};

}  // namespace

int OpenTrusted(const fs::path& path) {
  Opened opened{OpenWithoutLinks(path)};
  const bool has_links = opened.file < 0 && errno != ENOENT;  // or this kernel lacks the call
  if (has_links) opened.file = open(path.c_str(), kFlags);
  if (opened.file < 0) ThrowSystem(path, "open", errno);
  struct stat status = {};
  if (fstat(opened.file, &status) != 0) ThrowSystem(path, "open", errno);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kInvalidArgument, path.string(), "expected a regular file");
  }
  if (has_links && !LinksAreTrusted(path, status)) {
    throw Error(
        ErrorCode::kIo, path.string(),
        "a link on the way belongs to another user, and leads to a file that is not that user's");
  }
  return std::exchange(opened.file, -1);
}

}  // namespace bitpool
