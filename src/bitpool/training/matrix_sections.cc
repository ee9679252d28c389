#include "bitpool/training/matrix_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bitpool/base/error.h"

namespace bitpool {
namespace {

std::string WeightsOf(const std::string& map) { return map + "_weights"; }
std::string BiasOf(const std::string& map) { return map + "_bias"; }

}  // namespace

void AddMatrix(ContainerWriter& writer, const std::string& name, const MatrixF& matrix) {
  writer.Add<float>(name,
                    {static_cast<uint64_t>(matrix.cols()), static_cast<uint64_t>(matrix.rows())},
                    {matrix.data(), static_cast<size_t>(matrix.size())});
}

MatrixF ReadMatrix(const Container& container, const std::string& name) {
  const Section& section = container.Find(name, DType::kF4, 2);
  // With a number in it, both dimensions are at most the length of the file.
  if (section.length == 0) throw container.Damaged(name, "expected numbers, found none");
  const std::span<const float> values = container.ReadArray<float>(name, 2);
  MatrixF matrix(static_cast<Index>(section.dims[1]), static_cast<Index>(section.dims[0]));
  std::ranges::copy(values, matrix.data());
  if (!matrix.allFinite()) throw container.Damaged(name, "a number is not finite");
  return matrix;
}

VectorF ReadVector(const Container& container, const std::string& name) {
  const MatrixF matrix = ReadMatrix(container, name);
  if (matrix.cols() != 1) {
    throw container.Damaged(
        name, fmt::format("expected a vector, got {} × {}", matrix.rows(), matrix.cols()));
  }
  return matrix.col(0);
}

void AddLinearMap(ContainerWriter& writer, const std::string& name, const LinearMap& map) {
  AddMatrix(writer, WeightsOf(name), map.weights);
  AddMatrix(writer, BiasOf(name), map.bias);
}

LinearMap ReadLinearMap(const Container& container, const std::string& name) {
  LinearMap map{.weights = ReadMatrix(container, WeightsOf(name)),
                .bias = ReadVector(container, BiasOf(name))};
  if (map.bias.size() != map.weights.rows()) {
    throw container.Damaged(BiasOf(name), fmt::format("expected {} numbers, got {}",
                                                      map.weights.rows(), map.bias.size()));
  }
  return map;
}

LinearMap ReadLinearMap(const Container& container, const std::string& name, Index rows,
                        Index columns) {
  LinearMap map = ReadLinearMap(container, name);
  if (map.weights.rows() != rows || map.weights.cols() != columns) {
    throw container.Damaged(WeightsOf(name),
                            fmt::format("expected {} × {} weights, got {} × {}", rows, columns,
                                        map.weights.rows(), map.weights.cols()));
  }
  return map;
}

}  // namespace bitpool
