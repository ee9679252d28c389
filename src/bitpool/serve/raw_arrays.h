#pragma once

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bitpool/base/matrix.h"
#include "bitpool/http/message.h"
#include "bitpool/http/problem.h"

namespace bitpool {

// Arrays in bodies: as the bytes of NumPy's, little-endian and row by row, or in JSON. All throw
// ProblemError (400) that names the field.

bool IsRaw(const HttpRequest& request);     // the body is bytes
bool WantsRaw(const HttpRequest& request);  // the answer is to be

HttpResponse RawResponse(std::string bytes);

template <class Number>
std::vector<Number> RawArray(std::string_view bytes) {
  if (bytes.size() % sizeof(Number) != 0) {
    throw ProblemError(
        400, "invalid_argument",
        "the body: expected a multiple of " + std::to_string(sizeof(Number)) + " bytes");
  }
  std::vector<Number> numbers(bytes.size() / sizeof(Number));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

template <class Number>
std::string RawText(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

// Rows of as many floats, each a column of the matrix; all are finite.
MatrixF RawMatrix(std::string_view bytes, Index rows);
MatrixF JsonMatrix(const nlohmann::json& body, const char* field, Index rows);

// A field that is a list of whole numbers; nothing is rounded.
std::vector<int64_t> JsonWholeNumbers(const nlohmann::json& body, const char* field);

// A field of an object; `expected` is for the message.
template <class T>
T FieldOf(const nlohmann::json& body, const char* field, const char* expected) {
  try {
    return body.at(field).get<T>();
  } catch (const nlohmann::json::exception&) {
    throw ProblemError(400, "invalid_argument",
                       std::string(field) + ": expected a list of " + expected);
  }
}

}  // namespace bitpool
