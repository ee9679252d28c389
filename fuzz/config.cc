#include <nlohmann/json.hpp>

#include "bitpool/io/json_text.h"
#include "bitpool/training/methods.h"
#include "bitpool/training/tune.h"
#include "fuzz.h"

// The constants of a method as `tune` writes them: the first byte says which method.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  if (size == 0) return 0;
  const Method& method = Methods()[data[0] % Methods().size()];
  return fuzz::Try([&] {
    const nlohmann::json config = ParseJson(std::as_bytes(std::span(data + 1, size - 1)));
    const MethodSettings settings = ReadConfig(config, {.method = method.name, .bits = 16});
    RequireValid(settings);
    (void)DescribeOptions(settings).dump();
    (void)TuningOf(settings);
  });
}
