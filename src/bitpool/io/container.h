#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/error.h"
#include "bitpool/base/run_context.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/dtype.h"
#include "bitpool/io/env.h"

namespace bitpool {

// One named array of a container. docs/format.md describes the bytes.
struct Section {
  std::string name;
  DType dtype = DType::kU1;
  std::vector<uint64_t> dims;
  uint64_t offset = 0;       // of the first byte in the file, a multiple of kContainerAlignment
  uint64_t length = 0;       // in bytes
  uint64_t checksum = 0;     // over the checksums of its blocks
  uint64_t first_block = 0;  // index of its first block among all blocks of the file
};

inline constexpr uint64_t kContainerAlignment = 64;
inline constexpr uint64_t kContainerBlockBytes = uint64_t{1}
                                                 << 20;  // each block of a section has a checksum
inline constexpr uint32_t kContainerVersion = 1;
inline constexpr size_t kMaxSectionDims = 4;
inline constexpr size_t kMaxSectionName = 40;

// Writes a container, section after section, in bounded memory.
class ContainerWriter {
 public:
  // `kind` says what the file is, for example "features".
  ContainerWriter(Env& env, std::filesystem::path path, std::string kind, IfExists if_exists);

  // A whole section at once.
  void Add(const std::string& name, DType dtype, std::vector<uint64_t> dims,
           std::span<const std::byte> bytes);

  template <class T>
  void Add(const std::string& name, std::vector<uint64_t> dims, std::span<const T> values) {
    Add(name, DTypeOf<T>(), std::move(dims), std::as_bytes(values));
  }

  // A section in pieces: Begin, any number of Append, End with the dimensions, known by then.
  void Begin(const std::string& name, DType dtype);
  void Append(std::span<const std::byte> bytes);
  void End(std::vector<uint64_t> dims);

  // Writes the metadata and makes the file appear. "kind" is added to the metadata.
  void Commit(const nlohmann::json& metadata);

 private:
  void PadTo(uint64_t alignment);
  void CloseBlock();

  AtomicFile file_;
  std::string kind_;
  std::vector<Section> sections_;
  std::vector<uint64_t> block_checksums_;
  std::vector<std::byte> block_;  // the bytes of the block being filled
  bool open_ = false;             // between Begin and End
};

// A container opened for reading. Opening checks everything but the content of the sections; every
// block of a section is checked when it is read for the first time. So nothing damaged is ever
// returned, and opening is fast at any size. Copies share the file. May be used from many threads.
class Container {
 public:
  static Container Open(Env& env, const std::filesystem::path& path);
  // Throws kCorrupt, naming the section, or kUnsupported for a newer version.
  static Container Parse(const std::shared_ptr<const FileView>& view);

  const std::string& name() const { return view_->name(); }
  const std::string& kind() const;
  const nlohmann::json& metadata() const;  // without "kind"
  const std::vector<Section>& sections() const;

  // Throws kInvalidArgument when the container is of another kind, with a message that the user
  // understands.
  void ExpectKind(std::string_view kind) const;

  // Throws kCorrupt when there is no such section or it has another type or number of dimensions.
  const Section& Find(std::string_view section, DType dtype, size_t rank) const;
  const Section& Find(std::string_view section) const;
  bool Has(std::string_view section) const;

  // For the readers of a kind of file to throw: the error as one about this section of this file,
  // and kCorrupt for a problem of their own.
  Error InSection(std::string_view section, const Error& error) const;
  Error Damaged(std::string_view section, const std::string& problem) const {
    return InSection(section, {ErrorCode::kCorrupt, problem});
  }

  // Bytes [offset, offset + length) of a section, verified. REQUIRES: within the section.
  std::span<const std::byte> Read(const Section& section, uint64_t offset, uint64_t length) const;
  std::span<const std::byte> Read(const Section& section) const {
    return Read(section, 0, section.length);
  }

  // The bytes of a section as they are, not verified: for data that is scanned where it lies.
  // Verify finds damage.
  std::span<const std::byte> Peek(const Section& section) const {
    return view_->bytes().subspan(section.offset, section.length);
  }

  // A whole section of known type and rank, verified.
  template <class T>
  std::span<const T> ReadArray(std::string_view section, size_t rank) const {
    const Section& found = Find(section, DTypeOf<T>(), rank);
    const std::span<const std::byte> bytes = Read(found);
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // Reads and verifies every byte.
  void Verify(const RunContext& context) const;

 private:
  struct Parsed;
  Container(std::shared_ptr<const FileView> view, std::shared_ptr<const Parsed> parsed);
  void VerifyBlock(const Section& section, uint64_t block) const;

  std::shared_ptr<const FileView> view_;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace bitpool
