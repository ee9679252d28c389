#include "bitpool/networks/layers_model.h"

#include "fuzz_files.h"

// The files of a network of TensorFlow.js: the description, and two files of numbers.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  std::span<const uint8_t> rest(data, size);
  fuzz::FuzzFiles files;
  files.Add("model/model.json", fuzz::TakeFile(rest));
  files.Add("model/1.bin", fuzz::TakeFile(rest));
  files.Add("model/2.bin", rest);
  return fuzz::Try([&] {
    const LayersModel model = LayersModel::Open(files, "model/model.json");
    (void)model.Weight("a", {2, 1});
    (void)model.Weight("b", {1});
  });
}
