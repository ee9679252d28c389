#include "bitpool/index/index_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/container.h"

namespace bitpool {
namespace {

constexpr const char* kKind = "index";
constexpr const char* kBlocks = "blocks";
constexpr const char* kIds = "ids";
constexpr const char* kRows = "rows";
constexpr const char* kRepeated = "repeated";
constexpr const char* kOffsets = "table_offsets";
constexpr const char* kPositions = "table_positions";
constexpr const char* kNextId = "next_id";

int64_t ReadNumber(const Container& container, const char* key, int64_t least, int64_t most) {
  const nlohmann::json& metadata = container.metadata();
  if (!metadata.contains(key) || !metadata[key].is_number_integer() || metadata[key] < least ||
      metadata[key] > most) {
    throw container.Damaged("metadata",
                            fmt::format("expected \"{}\" from {} to {}", key, least, most));
  }
  return metadata[key].get<int64_t>();
}

std::span<const int64_t> ReadIds(const Container& container, size_t size) {
  const std::span<const int64_t> ids = container.ReadArray<int64_t>(kIds, 1);
  if (ids.size() != size)
    throw container.Damaged(kIds, fmt::format("{} ids for {} codes", ids.size(), size));
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] > kMaxId || (i > 0 && ids[i] <= ids[i - 1])) {
      throw container.Damaged(kIds, fmt::format("id {} is not larger than the one before", i));
    }
  }
  return ids;
}

template <class T>
std::span<const T> PeekArray(const Container& container, std::string_view section, size_t rank) {
  const std::span<const std::byte> bytes =
      container.Peek(container.Find(section, DTypeOf<T>(), rank));
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

bool HasSection(const Container& container, std::string_view name) {
  const auto& sections = container.sections();
  return std::any_of(sections.begin(), sections.end(),
                     [&](const Section& section) { return section.name == name; });
}

CodeSegment::MappedIds ReadMappedIds(const Container& container, size_t size) {
  CodeSegment::MappedIds ids;
  ids.first_id = ReadNumber(container, "first_id", 0, INT64_MAX - static_cast<int64_t>(size));
  if (HasSection(container, kIds)) ids.ids = ReadIds(container, size);
  return ids;
}

std::shared_ptr<const CodeSegment> OpenBlocks(const std::shared_ptr<const Container>& container,
                                              int bits, size_t size) {
  const Section& blocks = container->Find(kBlocks, DType::kU1, 2);
  if (blocks.dims[1] != BlockBytes(BytesPerCode(bits)) ||
      (size + kBlockCodes - 1) / kBlockCodes != blocks.dims[0]) {
    throw container->Damaged(kBlocks,
                             fmt::format("{} blocks of {} bytes do not hold {} codes of {} bits",
                                         blocks.dims[0], blocks.dims[1], size, bits));
  }
  return CodeSegment::ViewBlocks(bits, size, PeekArray<uint8_t>(*container, kBlocks, 2),
                                 ReadMappedIds(*container, size), container);
}

std::shared_ptr<const CodeSegment> OpenTables(const std::shared_ptr<const Container>& container,
                                              int bits, size_t size, const RunContext& context) {
  if (container->Find(kRows, DType::kU1, 2).dims[1] != BytesPerCode(bits)) {
    throw container->Damaged(kRows, fmt::format("rows do not hold codes of {} bits", bits));
  }
  SegmentTables::Parts parts;
  parts.rows = PeekArray<uint8_t>(*container, kRows, 2);
  if (HasSection(*container, kRepeated)) {
    const std::span<const uint32_t> numbers = PeekArray<uint32_t>(*container, kRepeated, 2);
    if (numbers.size() % 2 != 0) throw container->Damaged(kRepeated, "expected pairs of numbers");
    parts.repeated = {reinterpret_cast<const RepeatedSlot*>(numbers.data()), numbers.size() / 2};
  }
  parts.tables = {.substrings = static_cast<int>(ReadNumber(*container, "substrings", 1, kMaxBits)),
                  .key_bits = static_cast<int>(ReadNumber(*container, "key_bits", 0, 32)),
                  .offsets = PeekArray<uint32_t>(*container, kOffsets, 1),
                  .positions = PeekArray<uint32_t>(*container, kPositions, 1)};
  const CodeSegment::MappedIds ids = ReadMappedIds(*container, size);
  try {
    return CodeSegment::ViewTables(bits, size, SegmentTables::View(bits, size, parts, context), ids,
                                   container);
  } catch (const Error& error) {
    throw container->InSection(kOffsets, error);
  }
}

}  // namespace

void SaveIndex(Env& env, const std::filesystem::path& path, const IndexSnapshot& index,
               IfExists if_exists, int64_t next_id) {
  index.RequireVerified();
  const std::shared_ptr<const CodeSegment> segment = index.Compacted();
  const size_t bytes = BytesPerCode(index.bits());
  nlohmann::json metadata = {{"bits", index.bits()},
                             {"codes", segment->size()},
                             {"first_id", segment->size() == 0 ? 0 : segment->first_id()}};
  if (next_id > (segment->size() == 0 ? 0 : segment->last_id() + 1)) metadata[kNextId] = next_id;
  ContainerWriter writer(env, path, kKind, if_exists);
  if (segment->tables() == nullptr) {
    writer.Add<uint8_t>(kBlocks, {segment->block_count(), BlockBytes(bytes)}, segment->blocks());
  } else {
    const SegmentTables::Parts parts = segment->tables()->parts();
    writer.Add<uint8_t>(kRows, {parts.rows.size() / bytes, bytes}, parts.rows);
    if (!parts.repeated.empty()) {
      writer.Add(kRepeated, DType::kU4, {parts.repeated.size(), 2}, std::as_bytes(parts.repeated));
    }
    writer.Add<uint32_t>(kOffsets, {parts.tables.offsets.size()}, parts.tables.offsets);
    writer.Add<uint32_t>(kPositions, {parts.tables.positions.size()}, parts.tables.positions);
    metadata["substrings"] = parts.tables.substrings;
    metadata["key_bits"] = parts.tables.key_bits;
  }
  if (!segment->ids().empty()) writer.Add<int64_t>(kIds, {segment->ids().size()}, segment->ids());
  writer.Commit(metadata);
}

IndexFile IndexFile::Open(Env& env, const std::filesystem::path& path) {
  return Parse(env.Map(path));
}

IndexFile IndexFile::Parse(const std::shared_ptr<const FileView>& view) {
  auto container = std::make_shared<const Container>(Container::Parse(view));
  container->ExpectKind(kKind);
  return IndexFile(std::move(container));
}

int64_t IndexFile::next_id() const {
  if (!container_->metadata().contains(kNextId)) return 0;
  return ReadNumber(*container_, kNextId, 1, INT64_MAX);
}

std::string IndexFile::digest() const {
  // Opening has checked the lists of checksums of the blocks against those of the sections.
  std::string described = container_->metadata().dump();
  for (const Section& section : container_->sections()) {
    described += fmt::format(" {} {} {} {:x}", section.name, DTypeName(section.dtype),
                             fmt::join(section.dims, "×"), section.checksum);
  }
  return ContentDigest(std::as_bytes(std::span(described)));
}

std::unique_ptr<CodeIndex> IndexFile::Load(bool verify, const RunContext& context) const {
  const auto bits = static_cast<int>(ReadNumber(*container_, "bits", 1, kMaxBits));
  const auto size = static_cast<size_t>(ReadNumber(*container_, "codes", 0, INT64_C(1) << 32));
  std::shared_ptr<BackgroundCheck> check;
  if (verify) {
    container_->Verify(context);
  } else {
    check =
        std::make_shared<BackgroundCheck>([container = container_](const std::stop_token& stop) {
          container->Verify(RunContext({.threads = 1, .stop = stop}));
        });
  }
  const bool tables = HasSection(*container_, kRows);
  return CodeIndex::FromSegment(
      tables ? IndexKind::kMultiIndex : IndexKind::kFlat,
      tables ? OpenTables(container_, bits, size, context) : OpenBlocks(container_, bits, size),
      std::move(check));
}

std::unique_ptr<CodeIndex> OpenIndex(Env& env, const std::filesystem::path& path, bool verify,
                                     const RunContext& context) {
  return IndexFile::Open(env, path).Load(verify, context);
}

}  // namespace bitpool
