#include "bitpool/io/env.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/mapping_guard.h"
#include "bitpool/io/system_error.h"
#include "bitpool/io/trusted_open.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

FileStatus ToStatus(const struct stat& status) {
  constexpr int64_t kNanoseconds = 1'000'000'000;
  const FileKind kind = S_ISREG(status.st_mode)   ? FileKind::kFile
                        : S_ISDIR(status.st_mode) ? FileKind::kFolder
                                                  : FileKind::kOther;
  return {.kind = kind,
          .size = static_cast<uint64_t>(status.st_size),
          .modified_ns = status.st_mtim.tv_sec * kNanoseconds + status.st_mtim.tv_nsec};
}

FileStatus StatusOf(int descriptor, const fs::path& path) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) ThrowSystem(path, "open", errno);
  return ToStatus(status);
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Most file systems tell the kind with the name. An entry that vanishes meanwhile is passed on as
// something else: whoever wants it will find out.
FileKind KindOf(int folder, const dirent& entry) {
  switch (entry.d_type) {
    case DT_REG:
      return FileKind::kFile;
    case DT_DIR:
      return FileKind::kFolder;
    case DT_LNK:
      return FileKind::kLink;
    case DT_UNKNOWN:
      break;
    default:
      return FileKind::kOther;
  }
  struct stat status = {};
  if (fstatat(folder, entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return FileKind::kOther;
  return S_ISLNK(status.st_mode) ? FileKind::kLink : ToStatus(status).kind;
}

class PosixOutput : public OutputFile {
 public:
  // `name` is the temporary name on disk, empty for a nameless file.
  PosixOutput(int descriptor, fs::path folder, fs::path name)
      : descriptor_(descriptor), folder_(std::move(folder)), name_(std::move(name)) {
    // Tells others that somebody is still writing. Where there are no locks they cannot know, and
    // leave it alone.
    flock(descriptor_.number(), LOCK_EX | LOCK_NB);
  }

  ~PosixOutput() override {
    if (!name_.empty()) unlink(name_.c_str());
  }

  void Append(std::span<const std::byte> bytes) override {
    WriteAt(size_, bytes);
    size_ += bytes.size();
  }

  void WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ssize_t written =
          pwrite(descriptor_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (written < 0) {
        if (errno == EINTR) continue;
        ThrowSystem(folder_, "write a file in this folder", errno);
      }
      bytes = bytes.subspan(static_cast<size_t>(written));
      offset += static_cast<uint64_t>(written);
    }
  }

  void Sync() override {
    if (fsync(descriptor_.number()) != 0) ThrowSystem(folder_, "sync a file in this folder", errno);
  }

  void LinkAs(const fs::path& path) override {
    if (name_.empty()) {
      const std::string self = fmt::format("/proc/self/fd/{}", descriptor_.number());
      if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) {
        ThrowSystem(path, "create", errno);
      }
      return;
    }
    if (renameat2(AT_FDCWD, name_.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
      ThrowSystem(path, "create", errno);
    }
    name_.clear();
  }

 private:
  Descriptor descriptor_;
  fs::path folder_;
  fs::path name_;
  uint64_t size_ = 0;
};

constexpr std::string_view kTemporaryStart = ".bitpool-", kTemporaryEnd = ".tmp";

// The process that a temporary with a name belongs to.
std::optional<pid_t> OwnerOf(std::string_view name) {
  if (!name.starts_with(kTemporaryStart) || !name.ends_with(kTemporaryEnd)) return std::nullopt;
  name.remove_prefix(kTemporaryStart.size());
  pid_t owner = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), owner);
  return error == std::errc() && *end == '-' ? std::optional(owner) : std::nullopt;
}

// Whether nobody writes to it any more: no process here, and none elsewhere that holds its lock.
bool IsAbandoned(const fs::path& path, pid_t owner) {
  if (kill(owner, 0) == 0 || errno != ESRCH) return false;
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.number() >= 0 && flock(file.number(), LOCK_EX | LOCK_NB) == 0;
}

class PosixEnv : public Env {
 public:
  explicit PosixEnv(bool nameless) : nameless_(nameless) {}

  std::shared_ptr<const FileView> Map(const fs::path& path) override {
    // Non-blocking, so that a pipe is refused below instead of waited for.
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number() < 0) ThrowSystem(path, "open", errno);
    const FileStatus status = StatusOf(file.number(), path);
    if (status.kind != FileKind::kFile) {
      throw Error(ErrorCode::kInvalidArgument, path.string(), "expected a regular file");
    }
    const size_t length = status.size;
    if (length == 0) return FileView::FromMapping(path.string(), nullptr, 0);
    void* data = mmap(nullptr, length, PROT_READ, MAP_SHARED, file.number(), 0);
    if (data == MAP_FAILED) ThrowSystem(path, "map", errno);
    GuardMapping(path.string(), file.Release(), data, length);
    return FileView::FromMapping(path.string(), data, length);
  }

  std::unique_ptr<OutputFile> CreateTemporary(const fs::path& folder) override {
    if (nameless_) {
      const int file = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
      if (file >= 0) return std::make_unique<PosixOutput>(file, folder, fs::path());
      if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) {
        ThrowSystem(folder, "create a file in this folder", errno);
      }
    }
    RemoveAbandoned(folder);
    static std::atomic<unsigned> serial = 0;
    while (true) {
      const fs::path name =
          folder / fmt::format("{}{}-{}{}", kTemporaryStart, getpid(), serial++, kTemporaryEnd);
      const int file = open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
      if (file >= 0) return std::make_unique<PosixOutput>(file, folder, name);
      if (errno != EEXIST) ThrowSystem(folder, "create a file in this folder", errno);
    }
  }

  void Rename(const fs::path& from, const fs::path& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) ThrowSystem(to, "replace", errno);
  }

  void Remove(const fs::path& path) override {
    if (unlink(path.c_str()) != 0) ThrowSystem(path, "remove", errno);
  }

  void SyncFolder(const fs::path& folder) override {
    const Descriptor file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file.number() < 0) ThrowSystem(folder, "open", errno);
    // Some file systems cannot sync a folder and report EINVAL; there is nothing more to be done
    // there.
    if (fsync(file.number()) != 0 && errno != EINVAL) ThrowSystem(folder, "sync", errno);
  }

  void MakeFolders(const fs::path& folder) override {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) ThrowSystem(folder, "create", error.value());
  }

  bool Exists(const fs::path& path) override {
    struct stat status = {};
    if (lstat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    ThrowSystem(path, "look up", errno);
  }

  bool IsFolder(const fs::path& path) override {
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }

  std::vector<std::byte> Read(const fs::path& path, uint64_t max_bytes) override {
    const Descriptor file(OpenTrusted(path));
    const FileStatus status = StatusOf(file.number(), path);
    if (status.size > max_bytes) {
      throw Error(ErrorCode::kResources, path.string(),
                  fmt::format("{} bytes, the limit is {}", status.size, max_bytes));
    }
    // As many as there were when it was opened; fewer when it has become shorter since.
    std::vector<std::byte> bytes(status.size);
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

  FileStatus Status(const fs::path& path) override {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) ThrowSystem(path, "look up", errno);
    return ToStatus(status);
  }

  std::vector<FolderEntry> ListEntries(const fs::path& folder) override {
    const std::unique_ptr<DIR, CloseFolder> open(opendir(folder.c_str()));
    if (!open) ThrowSystem(folder, "list", errno);
    std::vector<FolderEntry> entries;
    while (true) {
      errno = 0;
      const dirent* entry = readdir(open.get());
      if (entry == nullptr) break;
      std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      entries.push_back({.name = std::move(name), .kind = KindOf(dirfd(open.get()), *entry)});
    }
    if (errno != 0) ThrowSystem(folder, "list", errno);
    std::ranges::sort(entries, {}, &FolderEntry::name);
    return entries;
  }

  void RemoveFolder(const fs::path& folder) override {
    if (rmdir(folder.c_str()) != 0) ThrowSystem(folder, "remove", errno);
  }

  fs::path Canonical(const fs::path& path) override {
    std::error_code ignored;
    fs::path absolute = fs::absolute(path).lexically_normal();
    if (!absolute.has_filename()) absolute = absolute.parent_path();  // "a/" is "a"
    fs::path canonical = fs::weakly_canonical(absolute, ignored);
    return canonical.empty() ? absolute : canonical;
  }

  std::optional<FileLock> TryLock(const fs::path& path) override { return FileLock::TryTake(path); }

 private:
  // Where files have names from the beginning, a killed process leaves them behind. They are looked
  // for once in every folder that is written to.
  void RemoveAbandoned(const fs::path& folder) {
    const std::scoped_lock lock(mutex_);
    if (!looked_through_.insert(folder).second) return;
    for (const std::string& name : List(folder)) {
      const std::optional<pid_t> owner = OwnerOf(name);
      if (owner && IsAbandoned(folder / name, *owner)) unlink((folder / name).c_str());
    }
  }

  bool nameless_;
  std::mutex mutex_;
  std::set<fs::path> looked_through_;
};

}  // namespace

Env& Env::Posix() {
  static PosixEnv env(true);
  return env;
}

std::vector<std::string> Env::List(const fs::path& folder) {
  std::vector<std::string> names;
  for (FolderEntry& entry : ListEntries(folder)) names.push_back(std::move(entry.name));
  return names;
}

namespace {

// Whether the path itself is a link, whatever that leads to.
bool IsLink(Env& env, const fs::path& path) {
  const fs::path parent = path.parent_path();
  const std::vector<FolderEntry> beside = env.ListEntries(parent.empty() ? "." : parent);
  return std::ranges::any_of(beside, [&](const FolderEntry& entry) {
    return entry.kind == FileKind::kLink && entry.name == path.filename();
  });
}

}  // namespace

void RemoveTree(Env& env, const fs::path& folder) {
  if (!env.IsFolder(folder)) return;
  if (IsLink(env, folder)) return env.Remove(folder);
  for (const FolderEntry& entry : env.ListEntries(folder)) {
    const fs::path path = folder / entry.name;
    if (entry.kind == FileKind::kFolder) {
      RemoveTree(env, path);
    } else {
      env.Remove(path);
    }
  }
  env.RemoveFolder(folder);
}

std::unique_ptr<Env> MakePosixEnv(bool nameless) { return std::make_unique<PosixEnv>(nameless); }

}  // namespace bitpool
