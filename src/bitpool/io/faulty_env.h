#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/io/env.h"

// For tests: an environment whose N-th operation fails.
namespace bitpool::testing {

class FaultyEnv : public Env {
 public:
  // Operations are counted from 1; 0 never fails. A write that fails has written half of its bytes.
  explicit FaultyEnv(int failing, Env& base = Env::Posix()) : failing_(failing), base_(base) {}

  int operations() const { return operations_; }

  std::shared_ptr<const FileView> Map(const std::filesystem::path& path) override {
    Count("map");
    return base_.Map(path);
  }
  std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path& folder) override {
    Count("open");
    return std::make_unique<FaultyOutput>(*this, base_.CreateTemporary(folder));
  }
  void Rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    Count("rename");
    base_.Rename(from, to);
  }
  void Remove(const std::filesystem::path& path) override {
    Count("remove");
    base_.Remove(path);
  }
  void SyncFolder(const std::filesystem::path& folder) override {
    Count("sync folder");
    base_.SyncFolder(folder);
  }
  void MakeFolders(const std::filesystem::path& folder) override {
    Count("make folders");
    base_.MakeFolders(folder);
  }
  std::vector<std::byte> Read(const std::filesystem::path& path, uint64_t max_bytes) override {
    Count("read");
    return base_.Read(path, max_bytes);
  }
  FileStatus Status(const std::filesystem::path& path) override {
    Count("look up");
    return base_.Status(path);
  }
  std::vector<FolderEntry> ListEntries(const std::filesystem::path& folder) override {
    Count("list");
    return base_.ListEntries(folder);
  }
  void RemoveFolder(const std::filesystem::path& folder) override {
    Count("remove folder");
    base_.RemoveFolder(folder);
  }
  std::optional<FileLock> TryLock(const std::filesystem::path& path) override {
    Count("lock");
    return base_.TryLock(path);
  }
  bool Exists(const std::filesystem::path& path) override {
    Count("exists");
    return base_.Exists(path);
  }
  // These two have no way to fail.
  bool IsFolder(const std::filesystem::path& path) override { return base_.IsFolder(path); }
  std::filesystem::path Canonical(const std::filesystem::path& path) override {
    return base_.Canonical(path);
  }

 private:
  class FaultyOutput : public OutputFile {
   public:
    FaultyOutput(FaultyEnv& env, std::unique_ptr<OutputFile> file)
        : env_(env), file_(std::move(file)) {}
    void Append(std::span<const std::byte> bytes) override {
      if (env_.NextFails()) file_->Append(bytes.first(bytes.size() / 2));
      env_.Count("write");
      file_->Append(bytes);
    }
    void WriteAt(uint64_t offset, std::span<const std::byte> bytes) override {
      if (env_.NextFails()) file_->WriteAt(offset, bytes.first(bytes.size() / 2));
      env_.Count("write");
      file_->WriteAt(offset, bytes);
    }
    void Sync() override {
      env_.Count("sync");
      file_->Sync();
    }
    void LinkAs(const std::filesystem::path& path) override {
      env_.Count("link");
      file_->LinkAs(path);
    }

   private:
    FaultyEnv& env_;
    std::unique_ptr<OutputFile> file_;
  };

  bool NextFails() const { return operations_ + 1 == failing_; }
  void Count(const char* operation) {
    if (++operations_ == failing_) {
      throw Error(ErrorCode::kIo, std::string("injected failure of ") + operation);
    }
  }

  int failing_;
  Env& base_;
  std::atomic<int> operations_ = 0;
};

}  // namespace bitpool::testing
