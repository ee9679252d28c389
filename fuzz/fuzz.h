#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bitpool/base/error.h"
#include "bitpool/io/file_view.h"
#include "bitpool/io/sample_file.h"

// What the fuzz targets share. A target may throw Error with any code but kInternal; anything else
// is a finding.
namespace bitpool::fuzz {

template <class Action>
int Try(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) __builtin_trap();
  }
  return 0;
}

inline std::shared_ptr<const FileView> View(const uint8_t* data, size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  return FileView::FromBytes("input", {bytes, bytes + size});
}

// Reads every sample, in its own type and as floats.
inline void ReadAllSamples(const SampleFile& file) {
  std::vector<std::byte> raw(file.sample_bytes());
  std::vector<float> floats(file.dimension());
  for (uint64_t i = 0; i < file.count(); ++i) {
    file.Read(i, 1, file.dtype(), raw);
    file.Read<float>(i, 1, std::span(floats));
  }
}

}  // namespace bitpool::fuzz
