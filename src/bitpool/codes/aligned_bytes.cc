#include "bitpool/codes/aligned_bytes.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace bitpool {
namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kLargePage = size_t{2} << 20;

}  // namespace

AlignedBytes::AlignedBytes(size_t size) : size_(size) {
  if (size == 0) return;
  const size_t alignment = size >= kLargePage ? kLargePage : kCacheLine;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  data_.reset(static_cast<uint8_t*>(std::aligned_alloc(alignment, rounded)));
  if (data_ == nullptr) throw std::bad_alloc();
  if (alignment == kLargePage) madvise(data_.get(), rounded, MADV_HUGEPAGE);  // wanted, not needed
}

void AlignedBytes::Free::operator()(uint8_t* data) const { std::free(data); }

}  // namespace bitpool
