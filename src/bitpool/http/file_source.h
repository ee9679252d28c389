#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "bitpool/http/message.h"

namespace bitpool {

// Someone else's regular file, opened once: size, time and bytes are of the same file, even when
// another takes its name.
class FileSource : public ByteSource {
 public:
  // Takes over the descriptor of a file that is open for reading; `name` is for messages. Throws
  // kIo for anything but a regular file.
  FileSource(int descriptor, std::string name);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  uint64_t size() const { return size_; }
  int64_t modified_ns() const { return modified_ns_; }

  void ReadAt(uint64_t offset, std::span<char> buffer) override;

 private:
  std::string name_;
  int file_ = -1;
  uint64_t size_ = 0;
  int64_t modified_ns_ = 0;
};

}  // namespace bitpool
