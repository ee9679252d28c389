#include <array>
#include <string>

#include "bitpool/index/code_files.h"
#include "fuzz_files.h"

// Files of codes: the first byte says which kind, and whether a length is given.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace bitpool;
  if (size == 0) return 0;
  constexpr std::array<const char*, 4> kNames = {"codes.hex", "codes.npy", "codes.bpv",
                                                 "codes.bvecs"};
  const std::string name = kNames[data[0] % kNames.size()];
  const std::optional<int> bits =
      data[0] < 128 ? std::nullopt : std::optional<int>((data[0] - 128) / 4);
  fuzz::FuzzFiles files;
  files.Add(name, {data + 1, size - 1});
  return fuzz::Try([&] {
    const BinaryCodes codes = LoadCodes(files, name, bits);
    std::vector<std::string> texts;
    for (Index i = 0; i < codes.size(); ++i) texts.push_back(codes.ToHex(i));
    const BinaryCodes again = BinaryCodes::FromHex(codes.bits(), texts);
    if (!std::ranges::equal(again.rows(), codes.rows())) __builtin_trap();
  });
}
