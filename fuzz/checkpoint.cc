#include "bitpool/io/forged_container.h"
#include "bitpool/training/checkpoint_file.h"
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
    const Container container = Container::Parse(fuzz::View(begin, bytes.size()));
    const nlohmann::json job = container.metadata().value("job", nlohmann::json());
    if (container.kind() == "checkpoint") {
      (void)ParseCheckpoint(container, job);
    } else {
      (void)ParseContrastCheckpoint(container, job);
    }
  });
}
