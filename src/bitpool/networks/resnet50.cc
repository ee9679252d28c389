#include "bitpool/networks/resnet50.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "bitpool/networks/onnx_graph.h"

namespace bitpool {
namespace {

// What the weights were learned with, although the package's model.json says 1e-3: with that the
// classes of photographs come out wrong.
constexpr double kNormalisationEpsilon = 1.001e-5;

struct Convolution {
  std::string name = {};           // as Keras has it
  std::string normalisation = {};  // the batch normalisation after it
  int64_t side = 1;                // of the kernel
  int64_t stride = 1;
  int64_t in = 0, out = 0;  // maps
};

struct Stage {
  int number;
  int blocks;
  int64_t inner;  // maps inside a block, a quarter of those it gives
};
constexpr Stage kStages[] = {{2, 3, 64}, {3, 4, 128}, {4, 6, 256}, {5, 3, 512}};

class Writer {
 public:
  explicit Writer(const LayersModel& weights) : weights_(weights), graph_("resnet50") {}

  std::vector<std::byte> Write() {
    graph_.AddInput("data", {0, 3, 0, 0});
    Convolve(
        {.name = "conv1", .normalisation = "bn_conv1", .side = 7, .stride = 2, .in = 3, .out = 64},
        "data");
    graph_.AddNode("Relu", "conv1_relu", {"conv1"});
    // Padding with zeros, as Keras does it: nothing is below zero here.
    graph_.AddNode("MaxPool", "pool1", {"conv1_relu"}, Window(3, 2));
    std::string last = "pool1";
    int64_t maps = 64;
    for (const Stage& stage : kStages) {
      for (int block = 0; block < stage.blocks; ++block) {
        last = AddBlock(stage, block, last, maps);
        maps = 4 * stage.inner;
      }
    }
    AddClassifier(last, maps);
    return graph_.Write();
  }

 private:
  // Of convolutions and pooling, with the padding that keeps the size at stride 1.
  static std::vector<OnnxGraph::Attribute> Window(int64_t side, int64_t stride) {
    const int64_t pad = side / 2;
    return {{"kernel_shape", std::vector<int64_t>{side, side}},
            {"strides", std::vector<int64_t>{stride, stride}},
            {"pads", std::vector<int64_t>{pad, pad, pad, pad}}};
  }

  // A convolution with its normalisation γ (x − mean) / √(variance + ε) + β in its kernel and bias.
  void Convolve(const Convolution& layer, const std::string& input) {
    const auto of_bn = [&](const char* part) {
      return weights_.Weight(layer.normalisation + part, {layer.out});
    };
    const auto gamma = of_bn("/gamma"), beta = of_bn("/beta"), mean = of_bn("/moving_mean"),
               variance = of_bn("/moving_variance");
    const auto kernel =
        weights_.Weight(layer.name + "/kernel", {layer.side, layer.side, layer.in, layer.out});
    const auto bias = weights_.Weight(layer.name + "/bias", {layer.out});
    const auto positions = static_cast<size_t>(layer.side * layer.side);
    const auto in = static_cast<size_t>(layer.in), out = static_cast<size_t>(layer.out);
    std::vector<float> folded(kernel.size()), folded_bias(out);
    for (size_t to = 0; to < out; ++to) {
      const double scale = gamma[to] / std::sqrt(variance[to] + kNormalisationEpsilon);
      // Keras has position × in × out, ONNX out × in × position.
      for (size_t from = 0; from < in; ++from) {
        for (size_t at = 0; at < positions; ++at) {
          folded[(to * in + from) * positions + at] =
              static_cast<float>(scale * kernel[(at * in + from) * out + to]);
        }
      }
      // Fused by name, so that the file has the same bytes on every machine.
      folded_bias[to] =
          static_cast<float>(std::fma(static_cast<double>(bias[to]) - mean[to], scale, beta[to]));
    }
    graph_.AddWeights(layer.name + "/kernel", {layer.out, layer.in, layer.side, layer.side},
                      folded);
    graph_.AddWeights(layer.name + "/bias", {layer.out}, folded_bias);
    graph_.AddNode("Conv", layer.name, {input, layer.name + "/kernel", layer.name + "/bias"},
                   Window(layer.side, layer.stride));
  }

  // A block: 1×1, 3×3 and 1×1 beside a shortcut, which in the first block of a stage is a
  // convolution too. A stage halves the side in its first 1×1 convolutions, as the paper has it.
  std::string AddBlock(const Stage& stage, int block, const std::string& input, int64_t maps) {
    const std::string place = fmt::format("{}{}", stage.number, static_cast<char>('a' + block));
    const std::string name =
        block + 1 == stage.blocks ? fmt::format("stage{}", stage.number) : "block" + place;
    const int64_t stride = block == 0 && stage.number > 2 ? 2 : 1;
    const auto convolve = [&](const char* branch, const Convolution& shape,
                              const std::string& from) {
      Convolution layer = shape;
      layer.name = fmt::format("res{}_branch{}", place, branch);
      layer.normalisation = fmt::format("bn{}_branch{}", place, branch);
      Convolve(layer, from);
      return layer.name;
    };
    const auto rectified = [&](const std::string& from) {
      graph_.AddNode("Relu", from + "_relu", {from});
      return from + "_relu";
    };
    std::string shortcut = input;
    if (block == 0) {
      shortcut = convolve("1", {.stride = stride, .in = maps, .out = 4 * stage.inner}, input);
    }
    const std::string a =
        rectified(convolve("2a", {.stride = stride, .in = maps, .out = stage.inner}, input));
    const std::string b =
        rectified(convolve("2b", {.side = 3, .in = stage.inner, .out = stage.inner}, a));
    const std::string c = convolve("2c", {.in = stage.inner, .out = 4 * stage.inner}, b);
    graph_.AddNode("Add", name + "_sum", {c, shortcut});
    graph_.AddNode("Relu", name, {name + "_sum"});
    return name;
  }

  void AddClassifier(const std::string& input, int64_t maps) {
    constexpr int64_t kClasses = 1000;
    graph_.AddNode("GlobalAveragePool", "pool_maps", {input});
    graph_.AddNode("Flatten", "pool", {"pool_maps"}, {{"axis", int64_t{1}}});
    const auto kernel = weights_.Weight("fc1000/kernel", {maps, kClasses});
    const auto in = static_cast<size_t>(maps), out = static_cast<size_t>(kClasses);
    std::vector<float> rows(kernel.size());  // a class is a row, which all readers of ONNX can take
    for (size_t from = 0; from < in; ++from) {
      for (size_t to = 0; to < out; ++to) rows[to * in + from] = kernel[from * out + to];
    }
    graph_.AddWeights("fc1000/kernel", {kClasses, maps}, rows);
    graph_.AddWeights("fc1000/bias", {kClasses}, weights_.Weight("fc1000/bias", {kClasses}));
    graph_.AddNode("Gemm", "fc1000", {"pool", "fc1000/kernel", "fc1000/bias"},
                   {{"transB", int64_t{1}}});
    graph_.AddNode("Softmax", "classes", {"fc1000"}, {{"axis", int64_t{1}}});
    graph_.AddOutput("classes", {0, kClasses});
  }

  const LayersModel& weights_;
  OnnxGraph graph_;
};

}  // namespace

std::vector<std::byte> ResNet50AsOnnx(const LayersModel& weights) {
  return Writer(weights).Write();
}

}  // namespace bitpool
