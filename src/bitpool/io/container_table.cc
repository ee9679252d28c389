#include "bitpool/io/container_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/container_layout.h"

namespace bitpool {
namespace {

// Parses a file step by step; every number is checked against the length of the file before it is
// used.
class Parser {
 public:
  explicit Parser(const FileView& view) : view_(view) {}

  ContainerHeader ReadHeader() const {
    const std::span<const std::byte> bytes = view_.bytes();
    ContainerHeader header = {};
    if (bytes.size() < sizeof(ContainerHeader)) {
      Fail("header", fmt::format("the file has {} bytes, a container has at least {}", bytes.size(),
                                 sizeof(ContainerHeader)));
    }
    std::memcpy(&header, bytes.data(), sizeof(ContainerHeader));
    if (header.magic != kContainerMagic) Fail("header", "not a Bitpool file (wrong magic)");
    // We never write the other byte order; a foreign program might.
    if (header.version % 256 == 0 && __builtin_bswap32(header.version) <= kContainerVersion &&
        header.version != 0) {
      throw Error(ErrorCode::kUnsupported, view_.name(),
                  "written on a big-endian machine; expected little-endian numbers");
    }
    if (header.header_checksum != ChecksumOf(header)) Fail("header", "checksum does not match");
    if (header.version > kContainerVersion) {
      throw Error(
          ErrorCode::kUnsupported, view_.name(),
          fmt::format("made by a newer version of Bitpool (format {}, this program reads up to {})",
                      header.version, kContainerVersion));
    }
    if (header.version == 0) Fail("header", "format version 0");
    if (header.reserved != 0) Fail("header", "reserved bytes are not zero");
    if (header.file_length != bytes.size()) {
      Fail("header",
           fmt::format("the file has {} bytes, expected {}", bytes.size(), header.file_length));
    }
    return header;
  }

  std::vector<Section> ReadTable(const ContainerHeader& header) const {
    const uint64_t table_bytes = uint64_t{header.section_count} * sizeof(ContainerEntry);  // < 2³⁹
    const uint64_t size = view_.bytes().size();
    if (header.table_offset > size || size - header.table_offset != table_bytes) {
      Fail("table", fmt::format("{} sections do not fit behind offset {}", header.section_count,
                                header.table_offset));
    }
    if (header.blocks_offset > header.table_offset)
      Fail("header", "the block checksums are not before the table");
    const auto bytes = view_.bytes().subspan(header.table_offset);
    if (Checksum(bytes) != header.table_checksum) Fail("table", "checksum does not match");
    std::vector<Section> sections;
    sections.reserve(header.section_count);
    for (uint64_t i = 0; i < header.section_count; ++i) {
      ContainerEntry entry = {};
      std::memcpy(&entry, bytes.data() + i * sizeof(ContainerEntry), sizeof(ContainerEntry));
      sections.push_back(ReadEntry(entry, i));
    }
    CheckLayout(header, sections);
    return sections;
  }

 private:
  [[noreturn]] void Fail(std::string_view place, std::string_view problem) const {
    throw Error(ErrorCode::kCorrupt, std::string(place), std::string(problem)).In(view_.name());
  }

  Section ReadEntry(const ContainerEntry& entry, uint64_t index) const {
    Section section;
    const auto name_end = std::find(entry.name.begin(), entry.name.end(), '\0');
    section.name.assign(entry.name.begin(), name_end);
    const std::string place = section.name.empty() ? fmt::format("table entry {}", index)
                                                   : fmt::format("section \"{}\"", section.name);
    if (section.name.empty() ||
        std::any_of(name_end, entry.name.end(), [](char c) { return c != '\0'; })) {
      Fail(place, "bad name");
    }
    const std::optional<DType> dtype = DTypeFromNumber(entry.dtype);
    if (!dtype) Fail(place, fmt::format("unknown element type {}", entry.dtype));
    section.dtype = *dtype;
    if (entry.rank < 1 || entry.rank > kMaxSectionDims) {
      Fail(place, fmt::format("{} dimensions, expected 1 to {}", entry.rank, kMaxSectionDims));
    }
    section.dims.assign(entry.dims.begin(), entry.dims.begin() + entry.rank);
    if (std::any_of(entry.dims.begin() + entry.rank, entry.dims.end(),
                    [](uint64_t dim) { return dim != 0; })) {
      Fail(place, "unused dimensions are not zero");
    }
    section.offset = entry.offset;
    section.length = entry.length;
    section.checksum = entry.checksum;
    const std::optional<uint64_t> elements = CheckedProduct(section.dims);
    const std::optional<uint64_t> length =
        elements ? CheckedProduct(*elements, DTypeSize(*dtype)) : std::nullopt;
    if (!length || *length != section.length) {
      Fail(place, fmt::format("dimensions {} of {} do not make {} bytes",
                              fmt::join(section.dims, "×"), DTypeName(*dtype), section.length));
    }
    return section;
  }

  // Sections follow each other without holes, then the block checksums, then the table: there is
  // one place for each.
  void CheckLayout(const ContainerHeader& header, std::vector<Section>& sections) const {
    uint64_t position = sizeof(ContainerHeader);
    uint64_t blocks = 0;
    std::set<std::string_view> names;
    for (Section& section : sections) {
      const std::string place = fmt::format("section \"{}\"", section.name);
      if (!names.insert(section.name).second) Fail(place, "appears twice");
      if (section.offset != position)
        Fail(place, fmt::format("at offset {}, expected {}", section.offset, position));
      if (section.length > header.blocks_offset ||
          position > header.blocks_offset - section.length) {
        Fail(place, fmt::format("{} bytes do not fit into the file", section.length));
      }
      position += section.length;
      const uint64_t aligned = AlignUp(position, kContainerAlignment);
      if (aligned > header.blocks_offset) Fail(place, "its padding does not fit into the file");
      CheckPadding(place, position, aligned);
      position = aligned;
      section.first_block = blocks;
      blocks += BlockCount(section.length);
    }
    if (position != header.blocks_offset)
      Fail("header", "the block checksums are not where the sections end");
    // blocks ≤ file length / 2²⁰ + sections, so nothing overflows here.
    const uint64_t blocks_end = position + blocks * sizeof(uint64_t);
    const uint64_t aligned = AlignUp(blocks_end, kContainerAlignment);
    if (aligned != header.table_offset)
      Fail("header", "the table is not where the block checksums end");
    CheckPadding("block checksums", blocks_end, aligned);
    for (const Section& section : sections) CheckBlockList(header, section);
  }

  void CheckPadding(std::string_view place, uint64_t begin, uint64_t end) const {
    const auto padding = view_.bytes().subspan(begin, end - begin);
    if (std::any_of(padding.begin(), padding.end(),
                    [](std::byte b) { return b != std::byte{0}; })) {
      Fail(place, "the padding behind it is not zero");
    }
  }

  void CheckBlockList(const ContainerHeader& header, const Section& section) const {
    const auto list =
        view_.bytes().subspan(header.blocks_offset + section.first_block * sizeof(uint64_t),
                              BlockCount(section.length) * sizeof(uint64_t));
    if (Checksum(list) != section.checksum) {
      Fail(fmt::format("section \"{}\"", section.name), "checksum does not match");
    }
  }

  const FileView& view_;
};

}  // namespace

ContainerTable ReadContainerTable(const FileView& view) {
  const Parser parser(view);
  const ContainerHeader header = parser.ReadHeader();
  return {.sections = parser.ReadTable(header), .blocks_offset = header.blocks_offset};
}

}  // namespace bitpool
