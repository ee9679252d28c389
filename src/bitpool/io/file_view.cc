#include "bitpool/io/file_view.h"

#include <sys/mman.h>

#include <utility>

namespace bitpool {

std::shared_ptr<const FileView> FileView::FromBytes(std::string name,
                                                    std::vector<std::byte> bytes) {
  std::shared_ptr<FileView> view(new FileView(std::move(name)));
  view->owned_ = std::move(bytes);
  view->bytes_ = view->owned_;
  return view;
}

std::shared_ptr<const FileView> FileView::FromMapping(std::string name, void* data, size_t length) {
  std::shared_ptr<FileView> view(new FileView(std::move(name)));
  view->mapping_ = data;
  view->bytes_ = {static_cast<const std::byte*>(data), length};
  return view;
}

FileView::~FileView() {
  if (mapping_ != nullptr) munmap(mapping_, bytes_.size());
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
