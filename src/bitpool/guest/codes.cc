#include "bitpool/codes.h"

#include <optional>
#include <utility>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/guest/conversions.h"
#include "bitpool/index/code_files.h"

namespace bitpool {
inline namespace v0 {

Codes::Codes(int bits) : bits_(bits) { RequireBits(bits); }

Codes::Codes(int bits, std::vector<std::uint8_t> rows)
    : bits_(bits), rows_(BinaryCodes(bits, std::move(rows)).TakeRows()) {}

Codes Codes::Open(const std::filesystem::path& path, int bits) {
  return CodesOf(
      LoadCodes(Env::Posix(), path, bits == 0 ? std::nullopt : std::optional<int>(bits)));
}

void Codes::Save(const std::filesystem::path& path) const {
  SaveCodes(Env::Posix(), path, BinaryCodesOf(*this), IfExists::kReplace);
}

}  // namespace v0
}  // namespace bitpool
