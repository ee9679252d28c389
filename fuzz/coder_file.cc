#include "bitpool/io/forged_container.h"
#include "bitpool/pictures/picture_coder.h"
#include "fuzz.h"

// The checksums are always corrected first: wrong ones are tested by the container's own target.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size < testing::kHeaderBytes) return 0;
  testing::ResealSections(bytes);
  testing::Reseal(bytes);
  return fuzz::Try([&] {
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const PictureCoder coder = ParseCoder(Container::Parse(fuzz::View(begin, bytes.size())));
    // What the coder makes of one feature; pictures have a target of their own.
    const MatrixF feature = MatrixF::Constant(coder.describer().dimension(), 1, 0.5F);
    (void)coder.EncodeFeatures(feature, {});
  });
}
