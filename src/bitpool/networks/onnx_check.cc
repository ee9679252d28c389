#include "bitpool/networks/onnx_check.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "bitpool/base/error.h"
#include "bitpool/networks/onnx_fields.h"

namespace bitpool {
namespace {

using namespace onnx;

// Graphs within attributes of graphs: more than any network has, few enough for the stack.
constexpr int kDeepestGraph = 16;

[[noreturn]] void Refuse(std::string_view what) {
  throw Error(ErrorCode::kCorrupt, fmt::format("not a network that can be read: {}", what));
}

// How Protocol Buffers keep a field's content.
enum class Wire { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

struct Field {
  int number = 0;
  Wire wire = Wire::kVarint;
  uint64_t value = 0;           // of kVarint
  std::string_view bytes = {};  // of all others

  bool Is(int expected, Wire expected_wire) const {
    return number == expected && wire == expected_wire;
  }
};

uint64_t TakeVarint(std::string_view& message) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (message.empty()) Refuse("it ends within a number");
    const auto byte = static_cast<unsigned char>(message.front());
    message.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return value;
  }
  Refuse("a number of more than ten bytes");
}

std::string_view TakeBytes(std::string_view& message, uint64_t size) {
  if (size > message.size()) Refuse("it ends within a field");
  const std::string_view bytes = message.substr(0, size);
  message.remove_prefix(size);
  return bytes;
}

Field TakeField(std::string_view& message) {
  const uint64_t key = TakeVarint(message);
  if (key >> 3 == 0 || key >> 3 > std::numeric_limits<int>::max()) {
    Refuse("a field with an impossible number");
  }
  Field field{.number = static_cast<int>(key >> 3), .wire = static_cast<Wire>(key & 7)};
  switch (field.wire) {
    case Wire::kVarint:
      field.value = TakeVarint(message);
      return field;
    case Wire::kEightBytes:
      field.bytes = TakeBytes(message, 8);
      return field;
    case Wire::kBytes:
      field.bytes = TakeBytes(message, TakeVarint(message));
      return field;
    case Wire::kFourBytes:
      field.bytes = TakeBytes(message, 4);
      return field;
  }
  Refuse("a field of an unknown kind");
}

// The numbers in a repeated field, kept one by one or packed together.
uint64_t CountNumbers(const Field& field, Wire one) {
  if (field.wire == one) return 1;
  if (field.wire != Wire::kBytes) return 0;  // to Protocol Buffers an unknown field
  if (one == Wire::kFourBytes) return field.bytes.size() / 4;
  if (one == Wire::kEightBytes) return field.bytes.size() / 8;
  uint64_t count = 0;
  for (std::string_view rest = field.bytes; !rest.empty(); ++count) TakeVarint(rest);
  return count;
}

// The types of tensors that OpenCV takes: the field with their numbers, how one number is kept
// there, and its bytes among raw data.
struct TensorType {
  int type;
  int field;
  Wire wire;
  uint64_t raw_bytes;
};
constexpr std::array<TensorType, 7> kTensorTypes = {{
    {tensor::kTypeFloat, tensor::kFloats, Wire::kFourBytes, 4},
    {tensor::kTypeDouble, tensor::kDoubles, Wire::kEightBytes, 8},
    {tensor::kTypeInt64, tensor::kInt64s, Wire::kVarint, 8},
    {tensor::kTypeInt32, tensor::kInt32s, Wire::kVarint, 4},
    {tensor::kTypeInt8, tensor::kInt32s, Wire::kVarint, 1},
    {tensor::kTypeUint8, tensor::kInt32s, Wire::kVarint, 1},
    {tensor::kTypeFloat16, tensor::kInt32s, Wire::kVarint, 2},
}};

// What a tensor states about itself.
struct TensorFacts {
  std::string_view name;
  int type = 0;
  uint64_t numbers = 1;  // by its shape; without one it is a single number
  std::string_view raw_data;
  std::array<uint64_t, kTensorTypes.size()> listed = {};  // numbers in each type's own field
  bool has_numbers = false;

  void MultiplyBy(uint64_t size) {
    constexpr uint64_t kMost = std::numeric_limits<int>::max();
    if (size > kMost) Refuse("a tensor with a negative or enormous size");
    numbers *= size;
    if (numbers > kMost) Refuse("a tensor with an enormous shape");
  }
};

void ReadField(TensorFacts& facts, const Field& field) {
  if (field.Is(tensor::kDims, Wire::kVarint)) {
    facts.MultiplyBy(field.value);
  } else if (field.Is(tensor::kDims, Wire::kBytes)) {
    for (std::string_view rest = field.bytes; !rest.empty();) facts.MultiplyBy(TakeVarint(rest));
  } else if (field.Is(tensor::kType, Wire::kVarint)) {
    facts.type = static_cast<int>(field.value);
  } else if (field.Is(tensor::kName, Wire::kBytes)) {
    facts.name = field.bytes;
  } else if (field.Is(tensor::kRawData, Wire::kBytes)) {
    facts.raw_data = field.bytes;
  }
  for (size_t i = 0; i < kTensorTypes.size(); ++i) {
    if (field.number != kTensorTypes[i].field) continue;
    facts.listed[i] += CountNumbers(field, kTensorTypes[i].wire);
    facts.has_numbers |= facts.listed[i] > 0;
  }
}

void CheckTensor(std::string_view message) {
  TensorFacts facts;
  while (!message.empty()) ReadField(facts, TakeField(message));
  if (facts.raw_data.empty() && !facts.has_numbers) return;  // to OpenCV it is no tensor at all
  for (size_t i = 0; i < kTensorTypes.size(); ++i) {
    if (kTensorTypes[i].type != facts.type) continue;
    const bool is_listed = facts.listed[i] > 0;
    const uint64_t expected = facts.numbers * (is_listed ? 1 : kTensorTypes[i].raw_bytes);
    const uint64_t found = is_listed ? facts.listed[i] : facts.raw_data.size();
    if (found != expected) {
      Refuse(fmt::format("tensor \"{}\": expected {} {} by its shape, found {}", facts.name,
                         expected, is_listed ? "numbers" : "bytes", found));
    }
  }
}

void CheckGraph(std::string_view message, int depth);

void CheckAttribute(std::string_view message, int depth) {
  bool has_tensor = false;
  while (!message.empty()) {
    const Field field = TakeField(message);
    if (field.wire != Wire::kBytes) continue;
    if (field.number == attribute::kTensor || field.number == attribute::kTensors) {
      // Protocol Buffers would join two tensors in the place of one.
      if (field.number == attribute::kTensor && std::exchange(has_tensor, true)) {
        Refuse("an attribute with two tensors in the place of one");
      }
      CheckTensor(field.bytes);
    } else if (field.number == attribute::kGraph || field.number == attribute::kGraphs) {
      CheckGraph(field.bytes, depth + 1);
    }
  }
}

void CheckNode(std::string_view message, int depth) {
  while (!message.empty()) {
    const Field field = TakeField(message);
    if (field.Is(node::kAttribute, Wire::kBytes)) CheckAttribute(field.bytes, depth);
  }
}

void CheckGraph(std::string_view message, int depth) {
  if (depth > kDeepestGraph) Refuse("graphs within graphs without end");
  while (!message.empty()) {
    const Field field = TakeField(message);
    if (field.Is(graph::kWeights, Wire::kBytes)) CheckTensor(field.bytes);
    if (field.Is(graph::kNode, Wire::kBytes)) CheckNode(field.bytes, depth);
  }
}

}  // namespace

void RequireWholeTensors(std::span<const std::byte> file) {
  std::string_view message(reinterpret_cast<const char*>(file.data()), file.size());
  while (!message.empty()) {
    const Field field = TakeField(message);
    if (field.Is(model::kGraph, Wire::kBytes)) CheckGraph(field.bytes, 0);
  }
}

}  // namespace bitpool
