#include "bitpool/io/siftgeo.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] { fuzz::ReadAllSamples(ParseSiftgeo(fuzz::View(data, size))); });
}
