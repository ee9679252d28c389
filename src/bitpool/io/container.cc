#include "bitpool/io/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "bitpool/io/checksum.h"
#include "bitpool/io/json_text.h"
#include "bitpool/io/mapping_guard.h"

namespace bitpool {
namespace {

constexpr std::array<char, 8> kMagic = {'\x89', 'B', 'I', 'T', 'P', 'O', 'O', 'L'};
constexpr std::string_view kMetadata = "metadata";

// The first bytes of a file. It never changes, so that any version can tell a newer file from a
// damaged one.
struct Header {
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
static_assert(sizeof(Header) == 64 && std::is_trivially_copyable_v<Header>);

struct TableEntry {
  std::array<char, kMaxSectionName> name;  // padded with zeros
  uint32_t dtype;
  uint32_t rank;
  std::array<uint64_t, kMaxSectionDims> dims;  // unused ones are 0
  uint64_t offset;
  uint64_t length;
  uint64_t checksum;
};
static_assert(sizeof(TableEntry) == 104 && std::is_trivially_copyable_v<TableEntry>);

uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

uint64_t BlockCount(uint64_t length) {
  return length / kContainerBlockBytes + (length % kContainerBlockBytes != 0 ? 1 : 0);
}

uint64_t HeaderChecksum(const Header& header) {
  return Checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(Header, header_checksum)));
}

TableEntry ToEntry(const Section& section) {
  TableEntry entry = {};
  std::copy(section.name.begin(), section.name.end(), entry.name.begin());
  entry.dtype = static_cast<uint32_t>(section.dtype);
  entry.rank = static_cast<uint32_t>(section.dims.size());
  std::copy(section.dims.begin(), section.dims.end(), entry.dims.begin());
  entry.offset = section.offset;
  entry.length = section.length;
  entry.checksum = section.checksum;
  return entry;
}

// Parses a file step by step; every number is checked against the length of the file before it is
// used.
class Parser {
 public:
  explicit Parser(const FileView& view) : view_(view) {}

  [[noreturn]] void Fail(std::string_view place, std::string_view problem) const {
    throw Error(ErrorCode::kCorrupt, std::string(place), std::string(problem)).In(view_.name());
  }

  Header ReadHeader() const {
    const std::span<const std::byte> bytes = view_.bytes();
    Header header = {};
    if (bytes.size() < sizeof(Header)) {
      Fail("header", fmt::format("the file has {} bytes, a container has at least {}", bytes.size(),
                                 sizeof(Header)));
    }
    std::memcpy(&header, bytes.data(), sizeof(Header));
    if (header.magic != kMagic) Fail("header", "not a Bitpool file (wrong magic)");
    // Nothing of ours is written the other way round; a foreign program might.
    if (header.version % 256 == 0 && __builtin_bswap32(header.version) <= kContainerVersion &&
        header.version != 0) {
      throw Error(ErrorCode::kUnsupported, view_.name(),
                  "written on a big-endian machine; expected little-endian numbers");
    }
    if (header.header_checksum != HeaderChecksum(header)) Fail("header", "checksum does not match");
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

  std::vector<Section> ReadTable(const Header& header) const {
    const uint64_t table_bytes = uint64_t{header.section_count} * sizeof(TableEntry);  // < 2³⁹
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
      TableEntry entry = {};
      std::memcpy(&entry, bytes.data() + i * sizeof(TableEntry), sizeof(TableEntry));
      sections.push_back(ReadEntry(entry, i));
    }
    CheckLayout(header, sections);
    return sections;
  }

 private:
  Section ReadEntry(const TableEntry& entry, uint64_t index) const {
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
  void CheckLayout(const Header& header, std::vector<Section>& sections) const {
    uint64_t position = sizeof(Header);
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

  void CheckBlockList(const Header& header, const Section& section) const {
    const auto list =
        view_.bytes().subspan(header.blocks_offset + section.first_block * sizeof(uint64_t),
                              BlockCount(section.length) * sizeof(uint64_t));
    if (Checksum(list) != section.checksum) {
      Fail(fmt::format("section \"{}\"", section.name), "checksum does not match");
    }
  }

  const FileView& view_;
};

void CheckNewSection(const std::filesystem::path& path, const std::vector<Section>& sections,
                     const std::string& name) {
  const bool taken = std::any_of(sections.begin(), sections.end(),
                                 [&](const Section& s) { return s.name == name; });
  if (name.empty() || name.size() > kMaxSectionName || name.find('\0') != std::string::npos ||
      taken) {
    throw Error(ErrorCode::kInvalidArgument, path.string(),
                fmt::format("section name \"{}\": expected a new name of 1 to {} bytes", name,
                            kMaxSectionName));
  }
}

}  // namespace

ContainerWriter::ContainerWriter(Env& env, std::filesystem::path path, std::string kind,
                                 IfExists if_exists)
    : file_(env, std::move(path), if_exists), kind_(std::move(kind)) {
  const Header blank = {};  // the real one is written last
  file_.Append(std::as_bytes(std::span(&blank, 1)));
}

void ContainerWriter::Add(const std::string& name, DType dtype, std::vector<uint64_t> dims,
                          std::span<const std::byte> bytes) {
  Begin(name, dtype);
  Append(bytes);
  End(std::move(dims));
}

void ContainerWriter::Begin(const std::string& name, DType dtype) {
  if (open_) throw Error(ErrorCode::kInternal, "ContainerWriter::Begin inside a section");
  CheckNewSection(file_.path(), sections_, name);
  open_ = true;
  sections_.push_back({.name = name,
                       .dtype = dtype,
                       .dims = {},
                       .offset = file_.size(),
                       .length = 0,
                       .checksum = 0,
                       .first_block = block_checksums_.size()});
}

void ContainerWriter::Append(std::span<const std::byte> bytes) {
  if (!open_) throw Error(ErrorCode::kInternal, "ContainerWriter::Append outside a section");
  file_.Append(bytes);
  sections_.back().length += bytes.size();
  while (!bytes.empty()) {
    const size_t taken = std::min<size_t>(bytes.size(), kContainerBlockBytes - block_.size());
    if (taken == kContainerBlockBytes) {  // a whole block: no need to copy it first
      block_checksums_.push_back(Checksum(bytes.first(taken)));
    } else {
      block_.insert(block_.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(taken));
      if (block_.size() == kContainerBlockBytes) CloseBlock();
    }
    bytes = bytes.subspan(taken);
  }
}

void ContainerWriter::End(std::vector<uint64_t> dims) {
  Section& section = sections_.back();
  const std::optional<uint64_t> elements = CheckedProduct(dims);
  if (!open_ || dims.empty() || dims.size() > kMaxSectionDims || !elements ||
      CheckedProduct(*elements, DTypeSize(section.dtype)) != section.length) {
    throw Error(
        ErrorCode::kInternal,
        fmt::format("ContainerWriter::End: section \"{}\" has {} bytes, not {} of {}", section.name,
                    section.length, fmt::join(dims, "×"), DTypeName(section.dtype)));
  }
  if (!block_.empty()) CloseBlock();
  section.dims = std::move(dims);
  const auto list = std::span(block_checksums_).subspan(section.first_block);
  section.checksum = Checksum(std::as_bytes(list));
  PadTo(kContainerAlignment);
  open_ = false;
}

void ContainerWriter::CloseBlock() {
  block_checksums_.push_back(Checksum(block_));
  block_.clear();
}

void ContainerWriter::PadTo(uint64_t alignment) {
  const std::array<std::byte, kContainerAlignment> zeros = {};
  file_.Append(std::span(zeros).first(AlignUp(file_.size(), alignment) - file_.size()));
}

void ContainerWriter::Commit(const nlohmann::json& metadata) {
  nlohmann::json complete = metadata.is_null() ? nlohmann::json::object() : metadata;
  complete["kind"] = kind_;
  const std::string text = complete.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Add(std::string(kMetadata), DType::kU1, {text.size()}, std::as_bytes(std::span(text)));

  Header header = {.magic = kMagic,
                   .version = kContainerVersion,
                   .section_count = static_cast<uint32_t>(sections_.size()),
                   .file_length = 0,
                   .blocks_offset = file_.size(),
                   .table_offset = 0,
                   .table_checksum = 0,
                   .reserved = 0,
                   .header_checksum = 0};
  file_.Append(std::as_bytes(std::span(block_checksums_)));
  PadTo(kContainerAlignment);
  std::vector<TableEntry> table;
  std::transform(sections_.begin(), sections_.end(), std::back_inserter(table), ToEntry);
  header.table_offset = file_.size();
  header.table_checksum = Checksum(std::as_bytes(std::span(table)));
  file_.Append(std::as_bytes(std::span(table)));
  header.file_length = file_.size();
  header.header_checksum = HeaderChecksum(header);
  file_.WriteAt(0, std::as_bytes(std::span(&header, 1)));
  file_.Commit();
}

struct Container::Parsed {  // NOLINT(bugprone-exception-escape): nothing here is noexcept
  std::vector<Section> sections;
  uint64_t blocks_offset = 0;
  std::string kind;
  nlohmann::json metadata;
  // One flag per block: whether it was found good. Set by whichever thread reads it first.
  mutable std::vector<std::atomic<bool>> verified;
};

Container::Container(std::shared_ptr<const FileView> view, std::shared_ptr<const Parsed> parsed)
    : view_(std::move(view)), parsed_(std::move(parsed)) {}

Container Container::Open(Env& env, const std::filesystem::path& path) {
  return Parse(env.Map(path));
}

Container Container::Parse(const std::shared_ptr<const FileView>& view) {
  const Parser parser(*view);
  const Header header = parser.ReadHeader();
  auto parsed = std::make_shared<Parsed>();
  parsed->sections = parser.ReadTable(header);
  parsed->blocks_offset = header.blocks_offset;
  uint64_t blocks = 0;
  for (const Section& section : parsed->sections) blocks += BlockCount(section.length);
  parsed->verified = std::vector<std::atomic<bool>>(blocks);

  Container container(view, parsed);
  const Section& section = container.Find(kMetadata, DType::kU1, 1);
  parsed->metadata = ParseJson(container.Read(section));
  if (!parsed->metadata.is_object() || !parsed->metadata.contains("kind") ||
      !parsed->metadata["kind"].is_string()) {
    parser.Fail("section \"metadata\"", "expected a JSON object with a \"kind\"");
  }
  parsed->kind = parsed->metadata["kind"].get<std::string>();
  parsed->metadata.erase("kind");
  return container;
}

const std::string& Container::kind() const { return parsed_->kind; }
const nlohmann::json& Container::metadata() const { return parsed_->metadata; }
const std::vector<Section>& Container::sections() const { return parsed_->sections; }

void Container::ExpectKind(std::string_view kind) const {
  if (parsed_->kind != kind) {
    throw Error(ErrorCode::kInvalidArgument, name(),
                fmt::format("expected a file of kind \"{}\", found \"{}\"", kind, parsed_->kind));
  }
}

Error Container::InSection(std::string_view section, const Error& error) const {
  return error.In(fmt::format("section \"{}\"", section)).In(name());
}

const Section& Container::Find(std::string_view section) const {
  for (const Section& candidate : parsed_->sections) {
    if (candidate.name == section) return candidate;
  }
  throw Error(ErrorCode::kCorrupt, name(), fmt::format("section \"{}\" is missing", section));
}

bool Container::Has(std::string_view section) const {
  return std::ranges::any_of(parsed_->sections,
                             [&](const Section& candidate) { return candidate.name == section; });
}

const Section& Container::Find(std::string_view section, DType dtype, size_t rank) const {
  const Section& found = Find(section);
  if (found.dtype != dtype || found.dims.size() != rank) {
    throw Damaged(
        section, fmt::format("expected {} dimensions of {}, found {} of {}", rank, DTypeName(dtype),
                             found.dims.size(), DTypeName(found.dtype)));
  }
  return found;
}

std::span<const std::byte> Container::Read(const Section& section, uint64_t offset,
                                           uint64_t length) const {
  RequireWhole(view_->bytes());  // where to read may have been read from the file, too
  if (length > 0) {
    const uint64_t last = (offset + length - 1) / kContainerBlockBytes;
    for (uint64_t block = offset / kContainerBlockBytes; block <= last; ++block)
      VerifyBlock(section, block);
  }
  view_->NoteTouched(length);
  return view_->bytes().subspan(section.offset + offset, length);
}

void Container::VerifyBlock(const Section& section, uint64_t block) const {
  std::atomic<bool>& verified = parsed_->verified[section.first_block + block];
  if (verified.load(std::memory_order_relaxed)) return;
  const uint64_t begin = block * kContainerBlockBytes;
  const uint64_t length = std::min(kContainerBlockBytes, section.length - begin);
  uint64_t expected = 0;
  std::memcpy(&expected,
              view_->bytes().data() + parsed_->blocks_offset +
                  (section.first_block + block) * sizeof(uint64_t),
              sizeof(expected));
  if (Checksum(view_->bytes().subspan(section.offset + begin, length)) != expected) {
    RequireWhole(view_->bytes());  // that would be the reason
    throw Damaged(section.name,
                  fmt::format("bytes {} to {} do not match their checksum", begin, begin + length));
  }
  view_->NoteTouched(length);
  verified.store(true, std::memory_order_relaxed);
}

void Container::Verify(const RunContext& context) const {
  uint64_t total = 0;
  for (const Section& section : parsed_->sections) total += section.length;
  Progress progress = context.StartProgress("verifying", "bytes", total);
  for (const Section& section : parsed_->sections) {
    context.ParallelFor(section.length, 16 * kContainerBlockBytes, [&](size_t begin, size_t end) {
      Read(section, begin, end - begin);
      progress.Advance(end - begin);
    });
  }
}

}  // namespace bitpool
