#include "bitpool/io/memory_file.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

class MemoryOutput : public OutputFile {
 public:
  explicit MemoryOutput(std::vector<std::byte>& named) : named_(named) {}

  void Append(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
    std::ranges::copy(bytes, bytes_.begin() + static_cast<ptrdiff_t>(offset));
  }
  void Sync() override {}
  void LinkAs(const std::filesystem::path& /*path*/) override { named_ = std::move(bytes_); }

 private:
  std::vector<std::byte>& named_;
  std::vector<std::byte> bytes_;
};

// Knows what AtomicFile does, and nothing else.
class MemoryEnv : public Env {
 public:
  std::vector<std::byte> Take() { return std::move(bytes_); }

  std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path& /*folder*/) override {
    return std::make_unique<MemoryOutput>(bytes_);
  }
  void Rename(const std::filesystem::path& /*from*/, const std::filesystem::path& /*to*/) override {
  }
  void SyncFolder(const std::filesystem::path& /*folder*/) override {}
  bool Exists(const std::filesystem::path& /*path*/) override { return false; }
  bool IsFolder(const std::filesystem::path& /*path*/) override { return false; }

  std::shared_ptr<const FileView> Map(const std::filesystem::path& path) override { Refuse(path); }
  std::vector<std::byte> Read(const std::filesystem::path& path, uint64_t /*most*/) override {
    Refuse(path);
  }
  void Remove(const std::filesystem::path& path) override { Refuse(path); }
  void MakeFolders(const std::filesystem::path& folder) override { Refuse(folder); }
  FileStatus Status(const std::filesystem::path& path) override { Refuse(path); }
  std::vector<FolderEntry> ListEntries(const std::filesystem::path& path) override { Refuse(path); }
  void RemoveFolder(const std::filesystem::path& folder) override { Refuse(folder); }
  std::filesystem::path Canonical(const std::filesystem::path& path) override { Refuse(path); }
  std::optional<FileLock> TryLock(const std::filesystem::path& path) override { Refuse(path); }

 private:
  [[noreturn]] static void Refuse(const std::filesystem::path& path) {
    throw Error(ErrorCode::kInternal, path.string(), "a file in memory can only be written");
  }

  std::vector<std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> WriteToMemory(
    const std::function<void(Env& env, const std::filesystem::path& path)>& write) {
  MemoryEnv env;
  write(env, "memory");
  return env.Take();
}

}  // namespace bitpool
