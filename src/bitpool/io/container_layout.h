#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "bitpool/io/checksum.h"
#include "bitpool/io/container.h"

// What this room shares: the bytes of a container (docs/format.md). Not for users.
namespace bitpool {

inline constexpr std::array<char, 8> kContainerMagic = {'\x89', 'B', 'I', 'T', 'P', 'O', 'O', 'L'};

// The first bytes of a file. It never changes, so that any version can tell a newer file from a
// damaged one.
struct ContainerHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t file_length;
  uint64_t blocks_offset;  // of the block checksums
  uint64_t table_offset;   // of the section table, which ends the file
  uint64_t table_checksum;
  uint64_t reserved;         // 0
  uint64_t header_checksum;  // over everything before it
};
static_assert(sizeof(ContainerHeader) == 64 && std::is_trivially_copyable_v<ContainerHeader>);

struct ContainerEntry {
  std::array<char, kMaxSectionName> name;  // padded with zeros
  uint32_t dtype;
  uint32_t rank;
  std::array<uint64_t, kMaxSectionDims> dims;  // unused ones are 0
  uint64_t offset;
  uint64_t length;
  uint64_t checksum;
};
static_assert(sizeof(ContainerEntry) == 104 && std::is_trivially_copyable_v<ContainerEntry>);

inline uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

inline uint64_t BlockCount(uint64_t length) {
  return length / kContainerBlockBytes + (length % kContainerBlockBytes != 0 ? 1 : 0);
}

inline uint64_t ChecksumOf(const ContainerHeader& header) {
  return Checksum(
      std::as_bytes(std::span(&header, 1)).first(offsetof(ContainerHeader, header_checksum)));
}

}  // namespace bitpool
