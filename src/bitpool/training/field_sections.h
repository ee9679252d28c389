#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "bitpool/io/container.h"
#include "bitpool/linalg/sums.h"

// The fields of an object (see FieldVisitor) as sections of a container, one section per field:
// matrices with dimensions columns × rows, lists with their length.
namespace bitpool {

class FieldWriter : public FieldVisitor {
 public:
  explicit FieldWriter(ContainerWriter& writer) : writer_(writer) {}

  void Visit(const std::string& name, MatrixD& values) override;
  void Visit(const std::string& name, MatrixF& values) override;
  void Visit(const std::string& name, std::vector<uint8_t>& values) override;
  void Visit(const std::string& name, std::vector<int32_t>& values) override;
  void Visit(const std::string& name, std::vector<int64_t>& values) override;

 private:
  ContainerWriter& writer_;
};

// Throws kCorrupt, naming the section, for one that is missing, has another type, or numbers that
// are not finite.
class FieldReader : public FieldVisitor {
 public:
  explicit FieldReader(const Container& container) : container_(container) {}

  void Visit(const std::string& name, MatrixD& values) override;
  void Visit(const std::string& name, MatrixF& values) override;
  void Visit(const std::string& name, std::vector<uint8_t>& values) override;
  void Visit(const std::string& name, std::vector<int32_t>& values) override;
  void Visit(const std::string& name, std::vector<int64_t>& values) override;

 private:
  const Container& container_;
};

// Reads an object: visit(fields) goes over it. What the object itself refuses (kInvalidArgument) is
// an error of the file: kCorrupt, with its name.
template <class VisitObject>
void ReadFields(const Container& container, const VisitObject& visit) {
  FieldReader reader(container);
  try {
    visit(reader);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    throw error.As(ErrorCode::kCorrupt).In(container.name());
  }
}

// Names the content of all fields that were visited, in their order.
class FieldDigest : public FieldVisitor {
 public:
  void Visit(const std::string& name, MatrixD& values) override;
  void Visit(const std::string& name, MatrixF& values) override;
  void Visit(const std::string& name, std::vector<uint8_t>& values) override;
  void Visit(const std::string& name, std::vector<int32_t>& values) override;
  void Visit(const std::string& name, std::vector<int64_t>& values) override;

  std::string Take() const;

 private:
  void Add(const std::string& name, std::vector<uint64_t> dims, std::span<const std::byte> bytes);

  std::string digests_;
};

}  // namespace bitpool
