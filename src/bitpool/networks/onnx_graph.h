#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bitpool {

// A network being written as ONNX, operation by operation. ONNX is a Protocol Buffers message, and
// writing one takes two kinds of fields only (whole numbers, and bytes with their length), so that
// no library is needed for it.
class OnnxGraph {
 public:
  using Shape = std::vector<int64_t>;
  using Attribute = std::pair<std::string, std::variant<int64_t, std::vector<int64_t>>>;

  explicit OnnxGraph(std::string_view name);

  // What the network is fed with, and what it gives. A size of 0 in a shape may be any.
  void AddInput(std::string_view name, const Shape& shape);
  void AddOutput(std::string_view name, const Shape& shape);

  // Numbers that nodes take by this name. REQUIRES: as many values as the shape says.
  void AddWeights(std::string_view name, const Shape& shape, std::span<const float> values);

  // An operation of ONNX (operator set 11) on what has these names. Its own name is also that of
  // its result.
  void AddNode(std::string_view operation, std::string_view name,
               const std::vector<std::string>& inputs,
               const std::vector<Attribute>& attributes = {});

  // The bytes of the file. The same calls give the same bytes.
  std::vector<std::byte> Write() const;

 private:
  std::string graph_;  // the fields of the graph so far
};

}  // namespace bitpool
