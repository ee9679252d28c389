#pragma once

// The numbers of ONNX's fields, from onnx.proto, where they can never change.
namespace bitpool::onnx {

namespace model {
constexpr int kIrVersion = 1, kProducer = 2, kGraph = 7, kOperatorSet = 8;
}
namespace operator_set {
constexpr int kVersion = 2;
}
namespace graph {
constexpr int kNode = 1, kName = 2, kWeights = 5, kInput = 11, kOutput = 12;
}
namespace node {
constexpr int kInput = 1, kOutput = 2, kName = 3, kOperation = 4, kAttribute = 5;
}
namespace attribute {
constexpr int kName = 1, kInt = 3, kTensor = 5, kGraph = 6, kInts = 8, kTensors = 10, kGraphs = 11,
              kType = 20;
constexpr int kTypeInt = 2, kTypeInts = 7;
}  // namespace attribute
namespace tensor {
constexpr int kDims = 1, kType = 2, kFloats = 4, kInt32s = 5, kInt64s = 7, kName = 8, kRawData = 9,
              kDoubles = 10;
constexpr int kTypeFloat = 1, kTypeUint8 = 2, kTypeInt8 = 3, kTypeInt32 = 6, kTypeInt64 = 7,
              kTypeFloat16 = 10, kTypeDouble = 11;
}  // namespace tensor
namespace value {
constexpr int kName = 1, kType = 2, kTensorType = 1, kElementType = 1, kShape = 2, kDim = 1,
              kDimValue = 1, kDimName = 2;
}

}  // namespace bitpool::onnx
