#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bitpool {

// The bytes of a file, mapped into memory and only read. Shared by whatever was parsed out of it.
//
// The operating system fetches pages as they are touched and keeps them, so walking through a large
// file would count as memory of this process. Readers that walk report what they touched, and every
// kResidentBudget bytes the pages are given back: memory stays bounded however large the file is.
//
// The file must not be truncated while it is mapped. Our own writers never do: they replace files
// as a whole.
class FileView {
 public:
  static constexpr size_t kResidentBudget = size_t{256} << 20;

  // Bytes that are already in memory, under the name that errors show.
  static std::shared_ptr<const FileView> FromBytes(std::string name, std::vector<std::byte> bytes);

  // Takes over a mapping made with mmap. REQUIRES: data == nullptr when length == 0.
  static std::shared_ptr<const FileView> FromMapping(std::string name, void* data, size_t length);

  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;

  const std::string& name() const { return name_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  // Called by readers after they walked over `count` bytes.
  void NoteTouched(size_t count) const;

 private:
  explicit FileView(std::string name) : name_(std::move(name)) {}

  std::string name_;
  std::vector<std::byte> owned_;
  void* mapping_ = nullptr;
  std::span<const std::byte> bytes_;
  mutable std::atomic<size_t> touched_ = 0;
};

}  // namespace bitpool
