// The rooms' headers come before the public one, after which their `Index` (a number of columns)
// would be ambiguous.
#include "bitpool/guest/conversions.h"
#include "bitpool/index/code_index.h"
#include "bitpool/index/index_file.h"
// clang-format off
#include "bitpool/index.h"
// clang-format on

#include <atomic>
#include <limits>
#include <mutex>
#include <utility>

namespace bitpool {
inline namespace v0 {
namespace {

// Rows of k answers that are padded where there are not that many.
template <class Answer, class ToHit>
Hits HitsOf(const BestOfEach<Answer>& found, size_t queries, const ToHit& to_hit) {
  std::vector<Hit> hits;
  std::vector<size_t> ends;
  for (size_t query = 0; query < queries; ++query) {
    for (const Answer& answer : found.of(static_cast<Eigen::Index>(query))) {
      if (answer.id >= 0) hits.push_back(to_hit(answer));
    }
    ends.push_back(hits.size());
  }
  return {std::move(hits), std::move(ends)};
}

Hit HitOf(const Neighbour& near) { return {.id = near.id, .distance = near.distance}; }
Hit HitOfScored(const ScoredNeighbour& near) {
  return {.id = near.id, .distance = near.distance, .score = near.score};
}

}  // namespace

struct Index::Impl {
  explicit Impl(std::unique_ptr<CodeIndex> opened, int64_t first_unused = 0)
      : codes(std::move(opened)), next_id(std::max(first_unused, codes->max_id() + 1)) {}

  void NoteUsed(int64_t id) { next_id = std::max(next_id, id + 1); }

  std::unique_ptr<CodeIndex> codes;
  std::mutex giving;  // held while ids are given or taken
  int64_t next_id;
};

Index::Index(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Index::Index(int bits)
    : Index(std::make_unique<Impl>(std::make_unique<CodeIndex>(IndexOptions{.bits = bits}))) {}
Index::~Index() = default;
Index::Index(Index&&) noexcept = default;
Index& Index::operator=(Index&&) noexcept = default;

Index Index::Open(const std::filesystem::path& path, const Run& run) {
  const IndexFile file = IndexFile::Open(Env::Posix(), path);
  return Index(std::make_unique<Impl>(file.Load(false, ContextOf(run)), file.next_id()));
}

void Index::Save(const std::filesystem::path& path) const {
  const std::lock_guard lock(impl_->giving);
  SaveIndex(Env::Posix(), path, impl_->codes->Snapshot(), IfExists::kReplace, impl_->next_id);
}

int Index::bits() const { return impl_->codes->bits(); }
size_t Index::size() const { return static_cast<size_t>(impl_->codes->size()); }
bool Index::Contains(std::int64_t id) const { return impl_->codes->Contains(id); }

std::int64_t Index::Add(const Codes& codes) {
  const std::lock_guard lock(impl_->giving);
  const int64_t first = impl_->next_id;
  const std::vector<int64_t> ids = CountIds(first, static_cast<Eigen::Index>(codes.size()));
  impl_->codes->Add(BinaryCodesOf(codes), ids);
  impl_->next_id += static_cast<int64_t>(ids.size());
  return first;
}

void Index::Add(const Codes& codes, std::span<const std::int64_t> ids) {
  const std::lock_guard lock(impl_->giving);
  impl_->codes->Add(BinaryCodesOf(codes), ids);
  for (const int64_t id : ids) impl_->NoteUsed(id);
}

bool Index::Remove(std::int64_t id) { return impl_->codes->Remove(id); }

void Index::Replace(std::int64_t id, std::span<const std::uint8_t> code) {
  const std::lock_guard lock(impl_->giving);
  impl_->codes->Replace(id, code);
  impl_->NoteUsed(id);
}

Hits Index::Search(const Codes& queries, std::int64_t k, const Run& run) const {
  return HitsOf(impl_->codes->Search(BinaryCodesOf(queries), k, ContextOf(run)), queries.size(),
                HitOf);
}

Hits Index::SearchReal(const Vectors& queries, std::int64_t k, const Run& run) const {
  return HitsOf(impl_->codes->SearchReal(ColumnsOf(queries), k, {}, ContextOf(run)), queries.size(),
                HitOfScored);
}

Hits Index::SearchRadius(const Codes& queries, int radius, const Run& run) const {
  std::vector<Hit> hits;
  std::vector<size_t> ends;
  for (const auto& found :
       impl_->codes->RangeSearch(BinaryCodesOf(queries), radius, ContextOf(run))) {
    for (const Neighbour& near : found) hits.push_back(HitOf(near));
    ends.push_back(hits.size());
  }
  return {std::move(hits), std::move(ends)};
}

}  // namespace v0
}  // namespace bitpool
