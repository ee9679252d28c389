#pragma once

#include <map>
#include <string>
#include <utility>

#include "bitpool/io/env.h"
#include "fuzz.h"

namespace bitpool::fuzz {

// A file system in memory, made from the input. Nothing is written.
class FuzzFiles : public Env {
 public:
  void Add(const std::string& path, std::span<const uint8_t> content) {
    files_[path] = FileView::FromBytes(
        path, {reinterpret_cast<const std::byte*>(content.data()),
               reinterpret_cast<const std::byte*>(content.data()) + content.size()});
  }

  std::shared_ptr<const FileView> Map(const std::filesystem::path& path) override {
    const auto found = files_.find(path.string());
    if (found == files_.end()) throw Error(ErrorCode::kNotFound, path.string(), "no such file");
    return found->second;
  }
  std::vector<std::byte> Read(const std::filesystem::path& path, uint64_t /*max_bytes*/) override {
    const auto view = Map(path);
    return {view->bytes().begin(), view->bytes().end()};
  }
  bool Exists(const std::filesystem::path& path) override { return files_.contains(path.string()); }
  bool IsFolder(const std::filesystem::path& path) override { return !Exists(path); }
  std::vector<FolderEntry> ListEntries(const std::filesystem::path& folder) override {
    std::vector<FolderEntry> entries;
    for (const auto& [path, view] : files_) {
      const std::filesystem::path file(path);
      if (file.parent_path() == folder)
        entries.push_back({.name = file.filename().string(), .kind = FileKind::kFile});
    }
    return entries;
  }

  std::unique_ptr<OutputFile> CreateTemporary(const std::filesystem::path&) override { Fail(); }
  void Rename(const std::filesystem::path&, const std::filesystem::path&) override { Fail(); }
  void Remove(const std::filesystem::path&) override { Fail(); }
  void SyncFolder(const std::filesystem::path&) override { Fail(); }
  void MakeFolders(const std::filesystem::path&) override { Fail(); }
  FileStatus Status(const std::filesystem::path&) override { Fail(); }
  void RemoveFolder(const std::filesystem::path&) override { Fail(); }
  std::filesystem::path Canonical(const std::filesystem::path&) override { Fail(); }
  std::optional<FileLock> TryLock(const std::filesystem::path&) override { Fail(); }

 private:
  [[noreturn]] static void Fail() { __builtin_trap(); }

  std::map<std::string, std::shared_ptr<const FileView>> files_;
};

// Takes the next file off the input: up to and without the next separator, or all of it.
inline std::span<const uint8_t> TakeFile(std::span<const uint8_t>& input) {
  constexpr uint8_t kSeparator = 0xff;  // in no text
  size_t end = 0;
  while (end < input.size() && input[end] != kSeparator) ++end;
  const std::span<const uint8_t> file = input.first(end);
  input = input.subspan(end < input.size() ? end + 1 : end);
  return file;
}

}  // namespace bitpool::fuzz
