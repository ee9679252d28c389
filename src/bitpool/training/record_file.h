#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bitpool/hash/image_record.h"
#include "bitpool/io/container.h"
#include "bitpool/io/env.h"
#include "bitpool/samples/feature_set.h"

namespace bitpool {

// Records in a scratch file, mapped when they are read: memory stays bounded however many there
// are. The file has its name from Finish on, and is removed with the store unless it is kept.
class FileRecords : public RecordStore {
 public:
  // Replaces records that a killed process left there. Throws kInvalidArgument or kCorrupt when the
  // path is anything else.
  FileRecords(Env& env, std::filesystem::path path, Index dimension);
  ~FileRecords() override;
  // Opens records that another store has kept. Throws kCorrupt, or kInvalidArgument for another
  // kind.
  static std::unique_ptr<FileRecords> Open(Env& env, const std::filesystem::path& path);
  FileRecords(const FileRecords&) = delete;
  FileRecords& operator=(const FileRecords&) = delete;

  Index size() const override { return static_cast<Index>(ends_.size()); }
  void Append(std::vector<std::byte> record) override;
  void Finish() override;
  // The file stays when the store goes away.
  void Keep() { named_ = false; }

 private:
  FileRecords(Env& env, const std::filesystem::path& path, Container container);

  // Throws kCorrupt, naming the record, when it is damaged.
  std::span<const std::byte> ReadBytes(Index image, std::vector<std::byte>& buffer) const override;

  ContainerWriter& Writer();
  uint64_t Start(size_t record) const;

  Env& env_;
  std::filesystem::path path_;
  std::vector<uint64_t> ends_;               // the byte after each record, without its padding
  std::unique_ptr<ContainerWriter> writer_;  // until Finish
  bool named_ = false;                       // the file may be there under its name
  std::optional<Container> container_;       // from Finish on
};

// A store for the records of all images in this precision: in memory when they fit into
// `memory_bytes`, else in a scratch file.
std::unique_ptr<RecordStore> MakeRecordStore(Env& env, const FeatureSet& features,
                                             RecordPrecision precision, uint64_t memory_bytes,
                                             const std::filesystem::path& spill_path);

}  // namespace bitpool
