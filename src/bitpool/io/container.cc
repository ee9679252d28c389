#include "bitpool/io/container.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "bitpool/io/checksum.h"
#include "bitpool/io/container_layout.h"
#include "bitpool/io/container_table.h"
#include "bitpool/io/json_text.h"
#include "bitpool/io/mapping_guard.h"

namespace bitpool {
namespace {

constexpr std::string_view kMetadata = "metadata";

ContainerEntry ToEntry(const Section& section) {
  ContainerEntry entry = {};
  std::copy(section.name.begin(), section.name.end(), entry.name.begin());
  entry.dtype = static_cast<uint32_t>(section.dtype);
  entry.rank = static_cast<uint32_t>(section.dims.size());
  std::copy(section.dims.begin(), section.dims.end(), entry.dims.begin());
  entry.offset = section.offset;
  entry.length = section.length;
  entry.checksum = section.checksum;
  return entry;
}

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
  const ContainerHeader blank = {};  // the real one is written last
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

  ContainerHeader header = {.magic = kContainerMagic,
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
  std::vector<ContainerEntry> table;
  std::transform(sections_.begin(), sections_.end(), std::back_inserter(table), ToEntry);
  header.table_offset = file_.size();
  header.table_checksum = Checksum(std::as_bytes(std::span(table)));
  file_.Append(std::as_bytes(std::span(table)));
  header.file_length = file_.size();
  header.header_checksum = ChecksumOf(header);
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
  ContainerTable table = ReadContainerTable(*view);
  auto parsed = std::make_shared<Parsed>();
  parsed->sections = std::move(table.sections);
  parsed->blocks_offset = table.blocks_offset;
  uint64_t blocks = 0;
  for (const Section& section : parsed->sections) blocks += BlockCount(section.length);
  parsed->verified = std::vector<std::atomic<bool>>(blocks);

  Container container(view, parsed);
  const Section& section = container.Find(kMetadata, DType::kU1, 1);
  parsed->metadata = ParseJson(container.Read(section));
  if (!parsed->metadata.is_object() || !parsed->metadata.contains("kind") ||
      !parsed->metadata["kind"].is_string()) {
    throw container.Damaged(kMetadata, "expected a JSON object with a \"kind\"");
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
  RequireWhole(view_->bytes());  // the offset and length may come from the file, too
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
