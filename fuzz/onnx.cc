#include "bitpool/networks/onnx_check.h"
#include "fuzz.h"

// A network as ONNX, whose tensors are checked before OpenCV reads it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  return fuzz::Try([&] { RequireWholeTensors(fuzz::View(data, size)->bytes()); });
}
