#include "bitpool/serve/raw_arrays.h"

#include <fmt/format.h>

#include <algorithm>

#include "bitpool/http/negotiation.h"

namespace bitpool {
namespace {

constexpr const char* kRawType = "application/octet-stream";

void RequireFiniteValues(const MatrixF& matrix) {
  if (matrix.allFinite()) return;
  throw ProblemError(400, "invalid_argument", "a value is infinite or not a number");
}

}  // namespace

bool IsRaw(const HttpRequest& request) {
  return MediaType(request.headers.Find("Content-Type")) == kRawType;
}

bool WantsRaw(const HttpRequest& request) {
  return Accepts(request.headers.Find("Accept"), kRawType);
}

HttpResponse RawResponse(std::string bytes) {
  return {.headers = {{"Content-Type", kRawType}, {"Cache-Control", "no-store"}},
          .body = std::move(bytes)};
}

MatrixF RawMatrix(std::string_view bytes, Index rows) {
  const std::vector<float> numbers = RawArray<float>(bytes);
  if (numbers.size() % static_cast<size_t>(rows) != 0) {
    throw ProblemError(400, "invalid_argument",
                       fmt::format("the body: expected rows of {} numbers of 4 bytes", rows));
  }
  MatrixF matrix(rows, static_cast<Index>(numbers.size()) / rows);
  std::ranges::copy(numbers, matrix.data());  // of no numbers there is no address
  RequireFiniteValues(matrix);
  return matrix;
}

std::vector<int64_t> JsonWholeNumbers(const nlohmann::json& body, const char* field) {
  const auto found = body.find(field);
  bool fine = found != body.end() && found->is_array();
  std::vector<int64_t> numbers;
  for (size_t i = 0; fine && i < found->size(); ++i) {
    const nlohmann::json& one = (*found)[i];
    fine = one.is_number_integer() &&
           (!one.is_number_unsigned() || one.get<uint64_t>() <= uint64_t{INT64_MAX});
    if (fine) numbers.push_back(one.get<int64_t>());
  }
  if (fine) return numbers;
  throw ProblemError(400, "invalid_argument",
                     fmt::format("{}: expected a list of whole numbers", field));
}

MatrixF JsonMatrix(const nlohmann::json& body, const char* field, Index rows) {
  const auto lists = FieldOf<std::vector<std::vector<float>>>(body, field, "rows of numbers");
  MatrixF matrix(rows, static_cast<Index>(lists.size()));
  for (size_t column = 0; column < lists.size(); ++column) {
    if (static_cast<Index>(lists[column].size()) != rows) {
      throw ProblemError(400, "invalid_argument",
                         fmt::format("{}[{}]: expected {} numbers, got {}", field, column, rows,
                                     lists[column].size()));
    }
    matrix.col(static_cast<Index>(column)) = Eigen::Map<const VectorF>(lists[column].data(), rows);
  }
  RequireFiniteValues(matrix);
  return matrix;
}

}  // namespace bitpool
