#include "bitpool/pictures/shipped_coder.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/container.h"
#include "bitpool/io/file_view.h"

// The coder's file, as it lies in the repository, between two symbols of the program.
asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".local bitpool_shipped_coder_begin\n"
    "bitpool_shipped_coder_begin:\n"
    ".incbin \"" BITPOOL_SHIPPED_CODER
    "\"\n"
    ".local bitpool_shipped_coder_end\n"
    "bitpool_shipped_coder_end:\n"
    ".popsection\n");
extern "C" {
extern const std::byte bitpool_shipped_coder_begin[] __attribute__((visibility("hidden")));
extern const std::byte bitpool_shipped_coder_end[] __attribute__((visibility("hidden")));
}

namespace bitpool {

const PictureCoder& ShippedCoder() {
  static const PictureCoder kCoder = ParseCoder(Container::Parse(FileView::FromBytes(
      "the coder of the program",
      std::vector<std::byte>(bitpool_shipped_coder_begin, bitpool_shipped_coder_end))));
  return kCoder;
}

CoderTraining TrainingLikeShipped(ViewKind kind, int bits) {
  if (kind == ViewKind::kClasses) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("learn: expected copies or scenes, got {}", NameOf(kind)));
  }
  CoderTraining training;
  training.extractor.kind = "dense";
  training.extractor.max_side = 320;
  training.extractor.dense = {.step = 10, .bin_sizes = {4, 6, 8, 11}, .side = 128};
  training.embedding.anchors = 5;
  training.hash = {.method = "itq", .bits = bits, .options = {{"whiten", 1}}};
  training.views = {.count = 6, .kind = kind, .seed = 1};
  training.pictures = 5000;
  training.sample = 100'000;
  return training;
}

}  // namespace bitpool
