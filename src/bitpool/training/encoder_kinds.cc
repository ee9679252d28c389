#include "bitpool/training/encoder_kinds.h"

#include <fmt/format.h>

#include "bitpool/hash/baselines/product_encoder.h"
#include "bitpool/hash/baselines/sphere_encoder.h"
#include "bitpool/hash/kernel_encoder.h"
#include "bitpool/hash/two_layer_encoder.h"
#include "bitpool/training/matrix_sections.h"

namespace bitpool {
namespace {

using Encoder = std::shared_ptr<const HashEncoder>;

float ReadNumber(const Container& container, const char* name) {
  const MatrixF number = ReadMatrix(container, name);
  if (number.size() != 1) {
    throw container.Damaged(
        name, fmt::format("expected 1 × 1, got {} × {}", number.rows(), number.cols()));
  }
  return number(0, 0);
}

}  // namespace

EncoderKind LinearEncoders() {
  return {.name = "linear", .read = [](const Container& container) -> Encoder {
            return std::make_shared<LinearEncoder>(ReadLinearMap(container, "encoder"));
          }};
}

EncoderKind SphereEncoders() {
  return {.name = "spheres", .read = [](const Container& container) -> Encoder {
            return std::make_shared<SphereEncoder>(ReadMatrix(container, "sphere_centres"),
                                                   ReadVector(container, "sphere_squared_radii"));
          }};
}

EncoderKind ProductEncoders() {
  return {.name = "product", .read = [](const Container& container) -> Encoder {
            return std::make_shared<ProductEncoder>(ReadVector(container, "product_mean"),
                                                    ReadMatrix(container, "product_codewords"),
                                                    ReadVector(container, "product_subspace_bits"));
          }};
}

EncoderKind KernelEncoders() {
  return {.name = "kernel", .read = [](const Container& container) -> Encoder {
            return std::make_shared<KernelEncoder>(ReadMatrix(container, "kernel_anchors"),
                                                   ReadNumber(container, "kernel_width"),
                                                   ReadLinearMap(container, "kernel_map"));
          }};
}

EncoderKind TwoLayerEncoders() {
  return {.name = "two_layer", .read = [](const Container& container) -> Encoder {
            return std::make_shared<TwoLayerEncoder>(
                TwoLayerMap{.linear = ReadLinearMap(container, "encoder"),
                            .hidden = ReadLinearMap(container, "hidden"),
                            .output = ReadMatrix(container, "output_weights")});
          }};
}

}  // namespace bitpool
