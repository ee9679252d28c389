#pragma once

#include <cstddef>
#include <vector>

#include "bitpool/networks/layers_model.h"

namespace bitpool {

// He et al.'s ResNet-50 as ONNX, made from weights under the names of Keras. Batch normalisations
// are folded into the convolutions before them. The network takes pictures of any size, blue first
// with the mean subtracted; of its results, "stage2" to "stage5" are the maps after a stage (256,
// 512, 1024 and 2048 of them, of a quarter to a thirty-second of the side), "pool" is their mean
// over the picture, and "classes" the probabilities of ImageNet's thousand classes.
//
// Throws kCorrupt for weights of another network.
std::vector<std::byte> ResNet50AsOnnx(const LayersModel& weights);

}  // namespace bitpool
