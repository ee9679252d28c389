#include "bitpool/training/record_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

constexpr const char* kRecordsKind = "records";
constexpr const char* kRecords = "records";
constexpr const char* kRecordEnds = "record_ends";

// Every record starts at a multiple of this, so that its numbers can be read where they lie.
constexpr uint64_t kRecordAlignment = 8;

uint64_t AlignUp(uint64_t offset) {
  return (offset + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}

Index ReadDimension(const Container& container) {
  const auto& metadata = container.metadata();
  const auto found = metadata.find("dimension");
  if (found == metadata.end() || !found->is_number_unsigned() || *found == 0 || *found > 1 << 20) {
    throw container.Damaged("metadata", "expected a whole number \"dimension\"");
  }
  return found->get<Index>();
}

}  // namespace

FileRecords::FileRecords(Env& env, std::filesystem::path path, Index dimension)
    : RecordStore(dimension), env_(env), path_(std::move(path)) {
  if (env_.Exists(path_)) Container::Open(env_, path_).ExpectKind(kRecordsKind);
  writer_ = std::make_unique<ContainerWriter>(env_, path_, kRecordsKind, IfExists::kReplace);
  writer_->Begin(kRecords, DType::kU1);
}

FileRecords::FileRecords(Env& env, const std::filesystem::path& path, Container container)
    : RecordStore(ReadDimension(container)),
      env_(env),
      path_(path),
      container_(std::move(container)) {
  const uint64_t length = container_->Find(kRecords, DType::kU1, 1).length;
  for (const uint64_t end : container_->ReadArray<uint64_t>(kRecordEnds, 1)) {
    if (end < Start(ends_.size()) || end > length) {
      throw container_->Damaged(kRecordEnds, "not ascending, or outside of the records");
    }
    ends_.push_back(end);
  }
}

std::unique_ptr<FileRecords> FileRecords::Open(Env& env, const std::filesystem::path& path) {
  Container container = Container::Open(env, path);
  container.ExpectKind(kRecordsKind);
  return std::unique_ptr<FileRecords>(new FileRecords(env, path, std::move(container)));
}

FileRecords::~FileRecords() {
  if (!named_) return;
  try {
    env_.Remove(path_);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a scratch file that stays can be replaced later
  }
}

ContainerWriter& FileRecords::Writer() {
  if (!writer_) throw Error(ErrorCode::kInternal, "FileRecords changed after Finish");
  return *writer_;
}

uint64_t FileRecords::Start(size_t record) const {
  return record == 0 ? 0 : AlignUp(ends_[record - 1]);
}

void FileRecords::Append(std::vector<std::byte> record) {
  const uint64_t end = Start(ends_.size()) + record.size();
  record.resize(AlignUp(record.size()));
  Writer().Append(record);
  ends_.push_back(end);
}

void FileRecords::Finish() {
  Writer().End({Start(ends_.size())});
  writer_->Add<uint64_t>(kRecordEnds, {ends_.size()}, ends_);
  named_ = true;  // Commit may fail after it has given the file its name
  writer_->Commit({{"dimension", dimension()}});
  writer_.reset();
  Container container = Container::Open(env_, path_);
  container.ExpectKind(kRecordsKind);
  container.Find(kRecords, DType::kU1, 1);
  // Then every record lies within its section, as it does in our own file.
  if (!std::ranges::equal(container.ReadArray<uint64_t>(kRecordEnds, 1), ends_) ||
      container.Find(kRecords).length != Start(ends_.size())) {
    throw container.Damaged(
        kRecordEnds, "not the records that were written; does another process use this file?");
  }
  container_ = std::move(container);
}

std::span<const std::byte> FileRecords::ReadBytes(Index image,
                                                  std::vector<std::byte>& /*buffer*/) const {
  if (!container_) throw Error(ErrorCode::kInternal, "FileRecords read before Finish");
  const auto record = static_cast<size_t>(image);
  const uint64_t end = ends_.at(record);
  try {
    return container_->Read(container_->Find(kRecords), Start(record), end - Start(record));
  } catch (const Error& error) {
    throw error.With(fmt::format("record {}", image));
  }
}

std::unique_ptr<RecordStore> MakeRecordStore(Env& env, const FeatureSet& features,
                                             RecordPrecision precision, uint64_t memory_bytes,
                                             const std::filesystem::path& spill_path) {
  uint64_t bytes = 0;
  for (Index image = 0; image < features.size(); ++image) {
    const Index descriptors = features.descriptor_count(image);
    if (descriptors == 0) continue;
    bytes += ImageRecord::PackedBytes(features.dimension(), descriptors, precision);
  }
  if (bytes <= memory_bytes) return std::make_unique<MemoryRecords>(features.dimension());
  return std::make_unique<FileRecords>(env, spill_path, features.dimension());
}

}  // namespace bitpool
