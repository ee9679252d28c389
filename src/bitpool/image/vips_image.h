#pragma once

#include <vips/vips.h>

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "bitpool/base/error.h"
#include "bitpool/image/picture.h"

// What this room shares: libvips behind small owners. Not for users.
namespace bitpool {

struct VipsUnref {
  void operator()(void* object) const { g_object_unref(object); }
};
using VipsImagePtr = std::unique_ptr<VipsImage, VipsUnref>;

// Thrown when a call of libvips failed; the reason stands in its error buffer.
struct VipsFailure {};

inline void CheckVips(int result) {
  if (result != 0) throw VipsFailure();
}

// libvips has one error buffer for all threads, so a reason found there may be another thread's.
// Work therefore shares the library, and what failed is done once more alone: the reason is then
// its own.
class VipsLibrary {
 public:
  // Prepares libvips at the first call, for the whole process.
  static VipsLibrary& Instance();

  // Returns work(). When it throws VipsFailure twice, throws Error(code, libvips's reason). The
  // work gives the same result when it is done again.
  template <class Work>
  auto Run(ErrorCode code, const Work& work) {
    if (auto result = TryShared(work)) return *std::move(result);
    const std::lock_guard turn(turn_);
    const std::lock_guard lock(mutex_);
    ForgetReasons();
    try {
      return work();
    } catch (const VipsFailure&) {
      ThrowReason(code);
    }
  }

 private:
  VipsLibrary();

  template <class Work>
  auto TryShared(const Work& work) -> std::optional<decltype(work())> {
    std::unique_lock turn(turn_);
    const std::shared_lock lock(mutex_);
    turn.unlock();
    try {
      return work();
    } catch (const VipsFailure&) {
      return std::nullopt;
    }
  }

  static void ForgetReasons();
  [[noreturn]] static void ThrowReason(ErrorCode code);

  std::mutex turn_;  // held by whoever waits to be alone, so that sharers cannot starve them
  std::shared_mutex mutex_;
};

// An image of the picture's pixels, which must outlive it.
VipsImagePtr WrapPicture(const Picture& picture);

// Computes an image of three bands of 8 bits, on this thread.
Picture ComputePicture(VipsImage* image);

struct PictureSize {
  Index width;
  Index height;
};

// The size with the longest side at most `max_side` (0: any) and the same proportions, never
// larger than it was and never empty.
PictureSize FitWithin(PictureSize size, Index max_side);

// Scaled to a size that is not larger.
VipsImagePtr ScaleDown(VipsImagePtr image, PictureSize size);

}  // namespace bitpool
