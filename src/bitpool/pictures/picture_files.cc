#include "bitpool/pictures/picture_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

namespace bitpool {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 11> kExtensions = {
    ".jpg", ".jpeg", ".jpe", ".png", ".webp", ".tif", ".tiff", ".gif", ".heic", ".heif", ".avif"};

std::string Reason(const char* action, int error_number) {
  return fmt::format("cannot {}: {}", action, std::generic_category().message(error_number));
}

[[noreturn]] void Throw(ErrorCode code, const fs::path& path, const std::string& reason) {
  throw Error(code, path.string(), reason);
}

[[noreturn]] void ThrowSystem(const fs::path& path, const char* action, int error_number) {
  const bool missing = error_number == ENOENT || error_number == ENOTDIR;
  Throw(missing ? ErrorCode::kNotFound : ErrorCode::kIo, path, Reason(action, error_number));
}

class OpenFile {
 public:
  // Non-blocking, so that a pipe is refused instead of waited for.
  explicit OpenFile(const fs::path& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (number_ < 0) ThrowSystem(path, "open", errno);
  }
  ~OpenFile() { close(number_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

// Searches folder after folder.
class Search {
 public:
  Search(const fs::path& root, std::vector<FailedPicture>* unreadable)
      : root_(root), unreadable_(unreadable) {}

  std::vector<FoundPicture> Run(const RunContext& context) {
    Progress progress = context.StartProgress("finding", "pictures", 0);
    while (!folders_.empty()) {
      context.ThrowIfStopped();
      const std::string folder = std::move(folders_.back());
      folders_.pop_back();
      const size_t before = found_.size();
      List(folder);
      progress.Advance(found_.size() - before);
    }
    std::ranges::sort(found_, {}, &FoundPicture::path);
    return std::move(found_);
  }

 private:
  void List(const std::string& folder) {
    const fs::path full = folder.empty() ? root_ : root_ / folder;
    std::error_code error;
    for (fs::directory_iterator entry(full, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      Visit(*entry, folder.empty() ? name : fmt::format("{}/{}", folder, name));
    }
    if (!error) return;
    if (folder.empty()) ThrowSystem(root_, "list", error.value());
    Complain(full, "list", error.value());
  }

  void Visit(const fs::directory_entry& entry, std::string path) {
    std::error_code error;
    const fs::file_type type = entry.symlink_status(error).type();
    if (error) {
      Complain(entry.path(), "look up", error.value());
      return;
    }
    if (type == fs::file_type::directory) {
      folders_.push_back(std::move(path));
      return;
    }
    if (!HasPictureName(entry.path())) return;
    struct stat status = {};
    if (stat(entry.path().c_str(), &status) != 0) {
      Complain(entry.path(), "look up", errno);
      return;
    }
    if (!S_ISREG(status.st_mode)) return;
    constexpr int64_t kNanoseconds = 1'000'000'000;
    found_.push_back({.path = std::move(path),
                      .size = static_cast<uint64_t>(status.st_size),
                      .mtime_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec});
  }

  void Complain(const fs::path& path, const char* action, int error_number) {
    if (unreadable_ == nullptr) return;
    unreadable_->push_back({.path = path, .reason = Reason(action, error_number)});
  }

  const fs::path& root_;
  std::vector<FailedPicture>* unreadable_;
  std::vector<std::string> folders_ = {""};  // still to be listed
  std::vector<FoundPicture> found_;
};

}  // namespace

bool HasPictureName(const fs::path& path) {
  std::string extension = path.extension().string();
  // Without <cctype>, which depends on the locale.
  for (char& letter : extension) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return std::ranges::find(kExtensions, extension) != kExtensions.end();
}

std::vector<FoundPicture> FindPictures(const fs::path& folder, const RunContext& context,
                                       std::vector<FailedPicture>* unreadable) {
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) ThrowSystem(folder, "open", errno);
  if (!S_ISDIR(status.st_mode)) Throw(ErrorCode::kInvalidArgument, folder, "expected a folder");
  return Search(folder, unreadable).Run(context);
}

std::vector<std::byte> ReadPictureBytes(const fs::path& path, uint64_t max_bytes) {
  const OpenFile file(path);
  struct stat status = {};
  if (fstat(file.number(), &status) != 0) ThrowSystem(path, "open", errno);
  if (!S_ISREG(status.st_mode)) {
    Throw(ErrorCode::kInvalidArgument, path, "expected a regular file");
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > max_bytes) {
    Throw(ErrorCode::kResources, path,
          fmt::format("{} bytes, the limit for a picture is {}", size, max_bytes));
  }
  // As many as there were when it was opened; fewer when it has become shorter since.
  std::vector<std::byte> bytes(size);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = read(file.number(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) ThrowSystem(path, "read", errno);
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace bitpool
