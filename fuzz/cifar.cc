#include "bitpool/io/cifar.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] {
    const CifarBatch batch = ParseCifar(fuzz::View(data, size));
    fuzz::ReadAllSamples(batch.pictures);
    fuzz::ReadAllSamples(batch.labels);
  });
}
