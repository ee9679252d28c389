#include "bitpool/io/vecs.h"

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] {
    if (size == 0) return;
    const DType dtype = data[0] % 3 == 0 ? DType::kF4 : data[0] % 3 == 1 ? DType::kU1 : DType::kI4;
    fuzz::ReadAllSamples(ParseVecs(fuzz::View(data + 1, size - 1), dtype));
  });
}
