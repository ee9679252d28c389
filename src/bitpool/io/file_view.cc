#include "bitpool/io/file_view.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "bitpool/io/mapping_guard.h"

namespace bitpool {
namespace {

// A mapped file begins at a page, and what is read in vectors in place relies on it: sections of a
// container are at multiples of this.
constexpr size_t kAlignment = 64;

}  // namespace

std::shared_ptr<const FileView> FileView::FromBytes(std::string name,
                                                    std::vector<std::byte> bytes) {
  std::shared_ptr<FileView> view(new FileView(std::move(name)));
  view->owned_ = std::move(bytes);
  const size_t length = view->owned_.size();
  const auto misplaced = reinterpret_cast<uintptr_t>(view->owned_.data()) % kAlignment;
  if (misplaced == 0) {
    view->bytes_ = view->owned_;
    return view;
  }
  std::vector<std::byte> roomy(length + kAlignment);
  const auto begin = reinterpret_cast<uintptr_t>(roomy.data());
  const size_t skipped = (kAlignment - begin % kAlignment) % kAlignment;
  std::ranges::copy(view->owned_, roomy.begin() + static_cast<ptrdiff_t>(skipped));
  view->owned_ = std::move(roomy);
  view->bytes_ = std::span(view->owned_).subspan(skipped, length);
  return view;
}

std::shared_ptr<const FileView> FileView::FromMapping(std::string name, void* data, size_t length) {
  std::shared_ptr<FileView> view(new FileView(std::move(name)));
  view->mapping_ = data;
  view->bytes_ = {static_cast<const std::byte*>(data), length};
  return view;
}

FileView::~FileView() {
  if (mapping_ != nullptr) EndMapping(mapping_);
}

void FileView::NoteTouched(size_t count) const {
  if (mapping_ == nullptr) return;
  const size_t before = touched_.fetch_add(count, std::memory_order_relaxed);
  if (before / kResidentBudget == (before + count) / kResidentBudget) return;
  // Other threads may be reading: their pages come back by themselves, from the page cache or the
  // disk.
  madvise(mapping_, bytes_.size(), MADV_DONTNEED);
}

}  // namespace bitpool
