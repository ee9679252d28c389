#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "bitpool/io/checksum.h"

// For tests and fuzzing: changes inside a container whose checksums are then made right again, so
// that the change itself has to be found. The offsets are those of docs/format.md, written down a
// second time on purpose.
namespace bitpool::testing {

// In the header.
inline constexpr size_t kVersionAt = 8, kCountAt = 12, kLengthAt = 16, kBlocksAt = 24,
                        kTableAt = 32, kTableSumAt = 40, kHeaderSumAt = 56, kHeaderBytes = 64;
// In an entry of the table.
inline constexpr size_t kEntryDtype = 40, kEntryRank = 44, kEntryDims = 48, kEntryOffset = 80,
                        kEntryLength = 88, kEntryChecksum = 96, kEntryBytes = 104;

template <class T>
T Get(const std::string& bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <class T>
void Put(std::string& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(T));
}

// Makes the checksums of table and header right again. REQUIRES: bytes.size() >= kHeaderBytes.
inline void Reseal(std::string& bytes) {
  const auto table = Get<uint64_t>(bytes, kTableAt);
  if (table <= bytes.size()) {
    Put(bytes, kTableSumAt, Checksum(std::as_bytes(std::span(bytes)).subspan(table)));
  }
  Put(bytes, kHeaderSumAt, Checksum(std::as_bytes(std::span(bytes)).first(kHeaderSumAt)));
}

// Makes the checksums of the sections right too, where their entries are sound enough to find them.
inline void ResealSections(std::string& bytes) {
  constexpr uint64_t kBlock = uint64_t{1} << 20;
  const auto size = static_cast<uint64_t>(bytes.size());
  const auto table = Get<uint64_t>(bytes, kTableAt);
  const auto blocks = Get<uint64_t>(bytes, kBlocksAt);
  const auto count = uint64_t{Get<uint32_t>(bytes, kCountAt)};
  if (table > size || (size - table) / kEntryBytes < count || blocks > table) return;
  uint64_t list = blocks;  // where the block checksums of the next section are
  for (uint64_t i = 0; i < count; ++i) {
    const size_t entry = table + i * kEntryBytes;
    const auto offset = Get<uint64_t>(bytes, entry + kEntryOffset);
    const auto length = Get<uint64_t>(bytes, entry + kEntryLength);
    if (offset > size || length > size - offset) return;
    const uint64_t list_start = list;
    for (uint64_t done = 0; done < length; done += kBlock, list += sizeof(uint64_t)) {
      if (list + sizeof(uint64_t) > table) return;
      const uint64_t piece = length - done < kBlock ? length - done : kBlock;
      Put(bytes, list, Checksum(std::as_bytes(std::span(bytes)).subspan(offset + done, piece)));
    }
    Put(bytes, entry + kEntryChecksum,
        Checksum(std::as_bytes(std::span(bytes)).subspan(list_start, list - list_start)));
  }
}

}  // namespace bitpool::testing
