#include "bitpool/linalg/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

[[noreturn]] void RefuseSum(const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, problem);
}

// Visits a value as another type that has the same content.
template <class Stored, class Value, class ToStored, class FromStored>
void VisitAs(FieldVisitor& fields, const std::string& name, Value& value, const ToStored& to,
             const FromStored& from) {
  Stored stored = to(value);
  fields.Visit(name, stored);
  value = from(stored);
}

template <class Matrix, class Vector>
void VisitVector(FieldVisitor& fields, const std::string& name, Vector& values) {
  VisitAs<Matrix>(
      fields, name, values, [](const Vector& vector) -> Matrix { return vector; },
      [&](const Matrix& matrix) -> Vector {
        if (matrix.cols() != 1) {
          RefuseSum(fmt::format("{}: expected a vector, got {} columns", name, matrix.cols()));
        }
        return matrix.col(0);
      });
}

}  // namespace

void ShardPlace::Validate() const {
  if (first < 0 || count < 0 || total < 0 || first > total || count > total - first) {
    RefuseSum(fmt::format("a shard of {} samples from sample {} on is not inside {} samples", count,
                          first, total));
  }
  const Index end = first + count;
  if ((first % kShardAlignment != 0 && first != total) ||
      (end % kShardAlignment != 0 && end != total)) {
    RefuseSum(
        fmt::format("a shard of {} samples from sample {} on: expected to begin and, but for the "
                    "last, to end at a multiple of {}",
                    count, first, kShardAlignment));
  }
}

void FieldVisitor::Visit(const std::string& name, VectorD& values) {
  VisitVector<MatrixD>(*this, name, values);
}

void FieldVisitor::Visit(const std::string& name, VectorF& values) {
  VisitVector<MatrixF>(*this, name, values);
}

void FieldVisitor::Visit(const std::string& name, double& value) {
  VisitAs<MatrixD>(
      *this, name, value, [](double number) { return MatrixD::Constant(1, 1, number); },
      [&](const MatrixD& matrix) {
        if (matrix.size() != 1) RefuseSum(name + ": expected one number");
        return matrix(0, 0);
      });
}

void FieldVisitor::Visit(const std::string& name, Index& value) {
  VisitAs<std::vector<int64_t>>(
      *this, name, value, [](Index number) { return std::vector<int64_t>{number}; },
      [&](const std::vector<int64_t>& numbers) {
        if (numbers.size() != 1) RefuseSum(name + ": expected one whole number");
        return numbers[0];
      });
}

void FieldVisitor::Visit(const std::string& name, int& value) {
  Index wide = value;
  Visit(name, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    RefuseSum(fmt::format("{}: {} is too large", name, wide));
  }
  value = static_cast<int>(wide);
}

void FieldVisitor::Visit(const std::string& name, bool& value) {
  Index number = value ? 1 : 0;
  Visit(name, number);
  value = number != 0;
}

void FieldVisitor::Visit(const std::string& name, std::string& text) {
  VisitAs<std::vector<uint8_t>>(
      *this, name, text,
      [](const std::string& letters) {
        return std::vector<uint8_t>(letters.begin(), letters.end());
      },
      [](const std::vector<uint8_t>& bytes) { return std::string(bytes.begin(), bytes.end()); });
}

void FieldVisitor::Visit(const std::string& name, std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + '\n';
  Visit(name, lines);
  texts.clear();
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = lines.find('\n', begin);
    if (end == std::string::npos) RefuseSum(name + ": expected lines of text");
    texts.push_back(lines.substr(begin, end - begin));
    begin = end + 1;
  }
}

Sums::Sums(std::initializer_list<Shape> shapes) {
  for (const Shape& shape : shapes) {
    matrices_.emplace_back(shape.name, MatrixD::Zero(shape.rows, shape.cols));
  }
}

const MatrixD& Sums::operator[](std::string_view name) const {
  const auto found =
      std::ranges::find_if(matrices_, [&](const auto& matrix) { return matrix.first == name; });
  if (found == matrices_.end()) {
    throw Error(ErrorCode::kInternal, fmt::format("there is no sum \"{}\"", name));
  }
  return found->second;
}

MatrixD& Sums::operator[](std::string_view name) {
  return const_cast<MatrixD&>(std::as_const(*this)[name]);
}

void Sums::SetZero() {
  for (auto& [name, matrix] : matrices_) matrix.setZero();
}

void Sums::Merge(const Sums& other) {
  const bool alike =
      std::ranges::equal(matrices_, other.matrices_, [](const auto& a, const auto& b) {
        return a.first == b.first && a.second.rows() == b.second.rows() &&
               a.second.cols() == b.second.cols();
      });
  if (!alike) RefuseSum("sums of other sizes cannot be merged");
  for (size_t i = 0; i < matrices_.size(); ++i) matrices_[i].second += other.matrices_[i].second;
}

void Sums::Visit(FieldVisitor& fields) {
  std::vector<std::string> names;
  for (const auto& [name, matrix] : matrices_) names.push_back(name);
  fields.Visit("sums", names);
  matrices_.resize(names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    matrices_[i].first = names[i];
    fields.Visit("sum." + names[i], matrices_[i].second);
  }
}

}  // namespace bitpool
