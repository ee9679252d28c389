#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"

namespace bitpool::python {

// A CodeIndex that assigns ids, none of them twice, and knows when it belongs to another process.
class IndexHandle {
 public:
  // The layout by its name: "auto", "flat" or "mih". Throws kInvalidArgument for another.
  IndexHandle(int bits, const std::string& layout);
  // A file that is mapped (verified in the background during the first search) or was read.
  IndexHandle(const IndexFile& file, bool mapped);
  // What another one holds now; nothing is copied.
  static std::unique_ptr<IndexHandle> CopyOf(const IndexHandle& other);
  ~IndexHandle();
  IndexHandle(const IndexHandle&) = delete;
  IndexHandle& operator=(const IndexHandle&) = delete;

  int bits() const { return index_->bits(); }
  std::string_view layout() const;
  IndexSnapshot Snapshot() const;

  std::vector<int64_t> Add(const BinaryCodes& codes);
  void Add(const BinaryCodes& codes, std::span<const int64_t> ids);
  size_t Remove(std::span<const int64_t> ids);
  void Replace(std::span<const int64_t> ids, const BinaryCodes& codes);

  void Save(Env& env, const std::filesystem::path& path) const;

 private:
  IndexHandle(std::unique_ptr<CodeIndex> index, IndexKind kind, int64_t next_id, bool mapped);
  void RequireOwnProcess() const;

  std::unique_ptr<CodeIndex> index_;
  IndexKind kind_;
  mutable std::mutex giving_;  // held while ids are given or taken
  int64_t next_id_ = 0;
  bool mapped_ = false;
  uint64_t born_;  // the fork generation
};

}  // namespace bitpool::python
