#include "bitpool/samples/labels.h"

#include "bitpool/dataset/label_file.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] { ParseTextLabels(*fuzz::View(data, size)); });
}
