#include "bitpool/io/container.h"

#include "bitpool/io/forged_container.h"
#include "fuzz.h"

// Half of the inputs are taken as they are; in the others the checksums are corrected first, so
// that the checks after them are reached.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size >= testing::kHeaderBytes && size % 2 == 0) {
    testing::ResealSections(bytes);
    testing::Reseal(bytes);
  }
  return fuzz::Try([&] {
    static const RunContext context({.threads = 1});
    const auto* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    Container::Parse(fuzz::View(begin, bytes.size())).Verify(context);
  });
}
