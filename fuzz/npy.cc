#include "bitpool/io/npy.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] { fuzz::ReadAllSamples(ParseNpy(fuzz::View(data, size))); });
}
