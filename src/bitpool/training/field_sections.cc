#include "bitpool/training/field_sections.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "bitpool/base/error.h"
#include "bitpool/io/checksum.h"

namespace bitpool {
namespace {

template <class Matrix>
std::vector<uint64_t> DimsOf(const Matrix& matrix) {
  return {static_cast<uint64_t>(matrix.cols()), static_cast<uint64_t>(matrix.rows())};
}

template <class Values>
auto SpanOf(const Values& values) {
  return std::span(values.data(), static_cast<size_t>(values.size()));
}

template <class Matrix>
void WriteMatrix(ContainerWriter& writer, const std::string& name, const Matrix& matrix) {
  writer.Add<typename Matrix::Scalar>(name, DimsOf(matrix), SpanOf(matrix));
}

template <class T>
void WriteList(ContainerWriter& writer, const std::string& name, const std::vector<T>& values) {
  writer.Add<T>(name, {values.size()}, values);
}

[[noreturn]] void Fail(const Container& container, const std::string& section,
                       const char* problem) {
  throw Error(ErrorCode::kCorrupt,
              fmt::format("{}: section \"{}\": {}", container.name(), section, problem));
}

template <class Matrix>
void ReadMatrixField(const Container& container, const std::string& name, Matrix& matrix) {
  using Scalar = typename Matrix::Scalar;
  const Section& section = container.Find(name, DTypeOf<Scalar>(), 2);
  // With a number in it, both dimensions are at most the length of the file; without, they are only
  // a size.
  constexpr auto kLargest = static_cast<uint64_t>(std::numeric_limits<int32_t>::max());
  if (section.length == 0 && std::ranges::max(section.dims) > kLargest) {
    Fail(container, name, "the size of a matrix without numbers is too large");
  }
  const std::span<const Scalar> values = container.ReadArray<Scalar>(name, 2);
  matrix.resize(static_cast<Index>(section.dims[1]), static_cast<Index>(section.dims[0]));
  std::ranges::copy(values, matrix.data());
  if (!matrix.allFinite()) Fail(container, name, "a number is not finite");
}

template <class T>
void ReadList(const Container& container, const std::string& name, std::vector<T>& values) {
  const std::span<const T> found = container.ReadArray<T>(name, 1);
  values.assign(found.begin(), found.end());
}

}  // namespace

void FieldWriter::Visit(const std::string& name, MatrixD& values) {
  WriteMatrix(writer_, name, values);
}
void FieldWriter::Visit(const std::string& name, MatrixF& values) {
  WriteMatrix(writer_, name, values);
}
void FieldWriter::Visit(const std::string& name, std::vector<uint8_t>& values) {
  WriteList(writer_, name, values);
}
void FieldWriter::Visit(const std::string& name, std::vector<int32_t>& values) {
  WriteList(writer_, name, values);
}
void FieldWriter::Visit(const std::string& name, std::vector<int64_t>& values) {
  WriteList(writer_, name, values);
}

void FieldReader::Visit(const std::string& name, MatrixD& values) {
  ReadMatrixField(container_, name, values);
}
void FieldReader::Visit(const std::string& name, MatrixF& values) {
  ReadMatrixField(container_, name, values);
}
void FieldReader::Visit(const std::string& name, std::vector<uint8_t>& values) {
  ReadList(container_, name, values);
}
void FieldReader::Visit(const std::string& name, std::vector<int32_t>& values) {
  ReadList(container_, name, values);
}
void FieldReader::Visit(const std::string& name, std::vector<int64_t>& values) {
  ReadList(container_, name, values);
}

void FieldDigest::Add(const std::string& name, std::vector<uint64_t> dims,
                      std::span<const std::byte> bytes) {
  digests_ += fmt::format("{} {} {}\n", name, fmt::join(dims, "×"), ContentDigest(bytes));
}

void FieldDigest::Visit(const std::string& name, MatrixD& values) {
  Add(name, DimsOf(values), std::as_bytes(SpanOf(values)));
}
void FieldDigest::Visit(const std::string& name, MatrixF& values) {
  Add(name, DimsOf(values), std::as_bytes(SpanOf(values)));
}
void FieldDigest::Visit(const std::string& name, std::vector<uint8_t>& values) {
  Add(name, {values.size()}, std::as_bytes(std::span(values)));
}
void FieldDigest::Visit(const std::string& name, std::vector<int32_t>& values) {
  Add(name, {values.size()}, std::as_bytes(std::span(values)));
}
void FieldDigest::Visit(const std::string& name, std::vector<int64_t>& values) {
  Add(name, {values.size()}, std::as_bytes(std::span(values)));
}

std::string FieldDigest::Take() const { return ContentDigest(std::as_bytes(std::span(digests_))); }

}  // namespace bitpool
