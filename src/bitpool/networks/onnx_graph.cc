#include "bitpool/networks/onnx_graph.h"

#include <bit>
#include <cstring>

#include "bitpool/networks/onnx_fields.h"

namespace bitpool {
namespace {

using namespace onnx;

constexpr int kIrVersion = 6, kOperatorSetVersion = 11;  // of ONNX 1.6; every reader knows them

static_assert(std::endian::native == std::endian::little, "ONNX keeps numbers little-endian");

void AddVarint(std::string& message, uint64_t value) {
  for (; value >= 128; value >>= 7) message.push_back(static_cast<char>(value | 128));
  message.push_back(static_cast<char>(value));
}

void AddInt(std::string& message, int field, int64_t value) {
  AddVarint(message, static_cast<uint64_t>(field) << 3);
  AddVarint(message, static_cast<uint64_t>(value));
}

// A text, bytes, or a message within the message.
void AddBytes(std::string& message, int field, std::string_view bytes) {
  AddVarint(message, static_cast<uint64_t>(field) << 3 | 2);
  AddVarint(message, bytes.size());
  message += bytes;
}

std::string Value(std::string_view name, const OnnxGraph::Shape& shape) {
  std::string dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    std::string dim;
    if (shape[i] > 0) {
      AddInt(dim, value::kDimValue, shape[i]);
    } else {
      AddBytes(dim, value::kDimName, "any" + std::to_string(i));
    }
    AddBytes(dims, value::kDim, dim);
  }
  std::string tensor_type, type, message;
  AddInt(tensor_type, value::kElementType, tensor::kTypeFloat);
  AddBytes(tensor_type, value::kShape, dims);
  AddBytes(type, value::kTensorType, tensor_type);
  AddBytes(message, value::kName, name);
  AddBytes(message, value::kType, type);
  return message;
}

std::string AttributeMessage(const OnnxGraph::Attribute& stated) {
  std::string message;
  AddBytes(message, attribute::kName, stated.first);
  if (const auto* number = std::get_if<int64_t>(&stated.second)) {
    AddInt(message, attribute::kInt, *number);
    AddInt(message, attribute::kType, attribute::kTypeInt);
  } else {
    for (const int64_t item : std::get<std::vector<int64_t>>(stated.second)) {
      AddInt(message, attribute::kInts, item);
    }
    AddInt(message, attribute::kType, attribute::kTypeInts);
  }
  return message;
}

}  // namespace

OnnxGraph::OnnxGraph(std::string_view name) { AddBytes(graph_, graph::kName, name); }

void OnnxGraph::AddInput(std::string_view name, const Shape& shape) {
  AddBytes(graph_, graph::kInput, Value(name, shape));
}

void OnnxGraph::AddOutput(std::string_view name, const Shape& shape) {
  AddBytes(graph_, graph::kOutput, Value(name, shape));
}

void OnnxGraph::AddWeights(std::string_view name, const Shape& shape,
                           std::span<const float> values) {
  std::string message;
  for (const int64_t size : shape) AddInt(message, tensor::kDims, size);
  AddInt(message, tensor::kType, tensor::kTypeFloat);
  AddBytes(message, tensor::kName, name);
  AddBytes(message, tensor::kRawData,
           {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  AddBytes(graph_, graph::kWeights, message);
}

void OnnxGraph::AddNode(std::string_view operation, std::string_view name,
                        const std::vector<std::string>& inputs,
                        const std::vector<Attribute>& attributes) {
  std::string message;
  for (const std::string& input : inputs) AddBytes(message, node::kInput, input);
  AddBytes(message, node::kOutput, name);
  AddBytes(message, node::kName, name);
  AddBytes(message, node::kOperation, operation);
  for (const Attribute& stated : attributes) {
    AddBytes(message, node::kAttribute, AttributeMessage(stated));
  }
  AddBytes(graph_, graph::kNode, message);
}

std::vector<std::byte> OnnxGraph::Write() const {
  std::string operators, message;
  AddInt(operators, operator_set::kVersion, kOperatorSetVersion);
  AddInt(message, model::kIrVersion, kIrVersion);
  AddBytes(message, model::kProducer, "bitpool");
  AddBytes(message, model::kOperatorSet, operators);
  AddBytes(message, model::kGraph, graph_);
  std::vector<std::byte> bytes(message.size());
  std::memcpy(bytes.data(), message.data(), message.size());
  return bytes;
}

}  // namespace bitpool
