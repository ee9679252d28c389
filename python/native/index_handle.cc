#include "index_handle.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/base/error.h"
#include "jobs.h"

namespace bitpool::python {
namespace {

IndexKind KindOf(const std::string& layout) {
  if (layout == "auto") return IndexKind::kAuto;
  if (layout == "flat") return IndexKind::kFlat;
  if (layout == "mih") return IndexKind::kMultiIndex;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("layout: \"{}\": expected \"auto\", \"flat\" or \"mih\"", layout));
}

// Building is left to one thread in a forked process, which has no others.
IndexOptions OptionsOf(int bits, IndexKind kind) {
  return {.bits = bits, .kind = kind, .threads = ForkGeneration() > 0 ? 1 : 0};
}

}  // namespace

IndexHandle::IndexHandle(std::unique_ptr<CodeIndex> index, IndexKind kind, int64_t next_id,
                         bool mapped)
    : index_(std::move(index)),
      kind_(kind),
      next_id_(std::max(next_id, index_->max_id() + 1)),
      mapped_(mapped),
      born_(ForkGeneration()) {}

IndexHandle::IndexHandle(int bits, const std::string& layout)
    : IndexHandle(std::make_unique<CodeIndex>(OptionsOf(bits, KindOf(layout))), KindOf(layout), 0,
                  false) {}

IndexHandle::IndexHandle(const IndexFile& file, bool mapped)
    : IndexHandle(file.Load(!mapped, BriefContext(0)), IndexKind::kFlat, file.next_id(), mapped) {
  // As the index itself takes it from the file.
  if (index_->table_bytes() > 0) kind_ = IndexKind::kMultiIndex;
}

std::unique_ptr<IndexHandle> IndexHandle::CopyOf(const IndexHandle& other) {
  const std::lock_guard lock(other.giving_);
  const IndexSnapshot snapshot = other.Snapshot();
  snapshot.RequireVerified();
  return std::unique_ptr<IndexHandle>(
      new IndexHandle(CodeIndex::FromSegment(other.kind_, snapshot.Compacted()), other.kind_,
                      other.next_id_, false));
}

// A thread that verifies a mapped file did not survive a fork, and waiting for it would not end.
IndexHandle::~IndexHandle() {
  if (mapped_ && born_ != ForkGeneration()) (void)index_.release();
}

void IndexHandle::RequireOwnProcess() const {
  if (!mapped_ || born_ == ForkGeneration()) return;
  throw Error(
      ErrorCode::kUnsupported,
      "this index was opened from a file before the process was forked: open it again here");
}

std::string_view IndexHandle::layout() const {
  if (kind_ == IndexKind::kFlat) return "flat";
  return kind_ == IndexKind::kMultiIndex ? "mih" : "auto";
}

IndexSnapshot IndexHandle::Snapshot() const {
  RequireOwnProcess();
  return index_->Snapshot();
}

std::vector<int64_t> IndexHandle::Add(const BinaryCodes& codes) {
  RequireOwnProcess();
  const std::lock_guard lock(giving_);
  std::vector<int64_t> ids = CountIds(next_id_, codes.size());
  index_->Add(codes, ids);
  next_id_ += codes.size();
  return ids;
}

void IndexHandle::Add(const BinaryCodes& codes, std::span<const int64_t> ids) {
  RequireOwnProcess();
  const std::lock_guard lock(giving_);
  index_->Add(codes, ids);
  for (const int64_t id : ids) next_id_ = std::max(next_id_, id + 1);
}

size_t IndexHandle::Remove(std::span<const int64_t> ids) {
  RequireOwnProcess();
  return index_->Change(ids, BinaryCodes(bits()), {});
}

void IndexHandle::Replace(std::span<const int64_t> ids, const BinaryCodes& codes) {
  RequireOwnProcess();
  const std::lock_guard lock(giving_);
  index_->Change(ids, codes, ids);
  for (const int64_t id : ids) next_id_ = std::max(next_id_, id + 1);
}

void IndexHandle::Save(Env& env, const std::filesystem::path& path) const {
  const std::lock_guard lock(giving_);
  SaveIndex(env, path, Snapshot(), IfExists::kReplace, next_id_);
}

}  // namespace bitpool::python
