#include "bitpool/index/code_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/io/sample_formats.h"

namespace bitpool {
namespace {

std::vector<std::string> ReadLines(const FileView& view) {
  std::string_view text(reinterpret_cast<const char*>(view.bytes().data()), view.bytes().size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

BinaryCodes FromText(const FileView& view, std::optional<int> bits) {
  const std::vector<std::string> lines = ReadLines(view);
  if (lines.empty() && !bits) {
    throw Error(ErrorCode::kInvalidArgument, view.name(), "no codes in it, and no length given");
  }
  const size_t digits = lines.empty() ? 0 : std::min<size_t>(lines[0].size(), kMaxBits);
  return BinaryCodes::FromHex(bits.value_or(static_cast<int>(digits) * 4), lines);
}

BinaryCodes FromSamples(const SampleFile& file, std::optional<int> bits) {
  if (file.dtype() != DType::kU1 || file.sample_shape().size() != 1) {
    throw Error(ErrorCode::kInvalidArgument, file.name(),
                "expected packed codes, an array of bytes (u1) with a row per code");
  }
  const auto stored = static_cast<int>(std::min<uint64_t>(file.dimension(), kMaxBits) * 8);
  const int length = bits.value_or(stored);
  RequireBits(length);
  if (BytesPerCode(length) != file.dimension()) {
    throw Error(
        ErrorCode::kInvalidArgument, file.name(),
        fmt::format("rows of {} bytes do not hold codes of {} bits", file.dimension(), length));
  }
  return {length, file.ReadAll<uint8_t>()};
}

}  // namespace

BinaryCodes LoadCodes(Env& env, const std::filesystem::path& path, std::optional<int> bits) {
  return InContext(path.string(), [&] {
    const std::string extension = path.extension().string();
    if (extension == ".hex" || extension == ".txt") return FromText(*env.Map(path), bits);
    return FromSamples(OpenSamples(env, path), bits);
  });
}

void SaveCodes(Env& env, const std::filesystem::path& path, const BinaryCodes& codes,
               IfExists if_exists) {
  if (path.extension() == ".hex") {
    std::string text;
    for (Index i = 0; i < codes.size(); ++i) text += codes.ToHex(i) + "\n";
    WriteFile(env, path, std::as_bytes(std::span(text)), if_exists);
    return;
  }
  const auto writer = CreateSamples(env, path, DType::kU1, {codes.bytes_per_code()}, if_exists);
  writer->Append<uint8_t>(codes.rows());
  writer->Commit();
}

}  // namespace bitpool
