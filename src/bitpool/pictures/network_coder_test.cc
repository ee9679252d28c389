#include "bitpool/pictures/network_coder.h"

#include "bitpool/hash/itq.h"
#include "bitpool/image/decode.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"
#include "bitpool/networks/onnx_graph.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::TempFolder;

constexpr Index kOutputs = 6;
constexpr int kSide = 8;  // of the pictures that the network takes

// Mean of the colours of a picture, mixed to six numbers.
MatrixF Mixture() {
  MatrixF mixture(kOutputs, 3);
  mixture << 1, -1, 0, 0, 1, -1, 1, 0, -1, 1, 1, -2, -2, 1, 1, 1, -2, 1;
  return mixture;
}

// Written as ONNX: `light` gives the pixels, `mean` their mean, `code` the mixture of that mean.
fs::path WriteNetwork(const TempFolder& folder) {
  const MatrixF rows = Mixture().transpose();  // column-major: one output after another
  OnnxGraph graph("colours");
  graph.AddInput("data", {1, 3, kSide, kSide});
  graph.AddNode("Relu", "light", {"data"});
  graph.AddNode("GlobalAveragePool", "mean", {"light"});
  graph.AddNode("Flatten", "flat", {"mean"}, {{"axis", int64_t{1}}});
  graph.AddWeights("w", {kOutputs, 3}, std::span(rows.data(), 3 * kOutputs));
  graph.AddWeights("b", {kOutputs}, std::vector<float>(static_cast<size_t>(kOutputs), 0));
  graph.AddNode("Gemm", "code", {"flat", "w", "b"}, {{"transB", int64_t{1}}});
  graph.AddOutput("code", {1, kOutputs});
  WriteFile(Env::Posix(), folder / "net.onnx", graph.Write(), IfExists::kReplace);
  return folder / "net.onnx";
}

// A picture of one colour, for which the network's output is known.
std::vector<std::byte> Plain(int red, int green, int blue) {
  Picture picture{.width = 32, .height = 32, .pixels = {}};
  for (int i = 0; i < 32 * 32; ++i) {
    for (const int value : {red, green, blue}) {
      picture.pixels.push_back(static_cast<uint8_t>(value));
    }
  }
  return EncodeJpeg(picture, 100);
}

VectorF Expected(const std::vector<std::byte>& plain) {
  const Picture decoded = DecodePicture(plain, {});
  return Mixture() * Eigen::Vector3f(decoded.pixels[2], decoded.pixels[1], decoded.pixels[0]);
}

CodeNetwork Network(const TempFolder& folder) {
  CodeNetwork network{.files = {.definition = WriteNetwork(folder), .weights = {}}};
  network.options.size = kSide;
  network.options.mean = {0, 0, 0};
  return network;
}

RunContext OneThread() { return RunContext({.threads = 1}); }

TEST(CoderFromNetwork, TheSignsOfTheOutputsAreTheCode) {
  const TempFolder folder;
  const MadeCoder made = CoderFromNetwork(Env::Posix(), Network(folder), OneThread());
  EXPECT_EQ(made.coder.bits(), kOutputs);
  EXPECT_EQ(made.coder.describer().settings().cnn.layer, "code");
  SaveCoder(Env::Posix(), folder / "c.bpc", made.coder, IfExists::kFail);
  fs::remove(folder / "net.onnx");  // the coder has it
  const PictureCoder opened = OpenCoder(Env::Posix(), folder / "c.bpc");
  EXPECT_EQ(opened.digest(), made.coder.digest());
  const int colours[][3] = {{200, 100, 20}, {10, 200, 90}, {0, 0, 255}, {7, 130, 131}};
  for (const auto& [red, green, blue] : colours) {
    const std::vector<std::byte> picture = Plain(red, green, blue);
    const VectorF expected = Expected(picture);
    const PictureCode code = opened.Encode(picture);
    EXPECT_LT((code.projection - expected).cwiseAbs().maxCoeff(), 1e-2F);
    for (Index bit = 0; bit < kOutputs; ++bit) {
      EXPECT_EQ(code.code[0] >> bit & 1, expected[bit] >= 0 ? 1 : 0) << bit;
    }
  }
}

TEST(CoderFromNetwork, AThresholdMovesTheSigns) {
  const TempFolder folder;
  CodeNetwork network = Network(folder);
  network.threshold = 50;
  const PictureCoder coder = CoderFromNetwork(Env::Posix(), network, OneThread()).coder;
  const std::vector<std::byte> picture = Plain(200, 100, 20);
  const VectorF expected = Expected(picture).array() - 50;
  EXPECT_LT((coder.Encode(picture).projection - expected).cwiseAbs().maxCoeff(), 1e-2F);
}

// Against ITQ on the outputs, which are known.
TEST(CoderFromNetwork, ARotationIsLearnedFromPictures) {
  const TempFolder folder;
  CodeNetwork network = Network(folder);
  MatrixF outputs(kOutputs, 30);
  Random random(1);
  for (Index i = 0; i < outputs.cols(); ++i) {
    const auto level = [&] { return static_cast<int>(random.Below(256)); };
    const int red = level(), green = level(), blue = level();
    const std::vector<std::byte> picture = Plain(red, green, blue);
    network.rotate_on.push_back(folder / ("p" + std::to_string(i) + ".jpg"));
    WriteFile(Env::Posix(), network.rotate_on.back(), picture, IfExists::kFail);
    outputs.col(i) = Expected(picture);
  }
  network.rotate_on.push_back(folder / "none.jpg");
  network.bits = 2;
  const MadeCoder made = CoderFromNetwork(Env::Posix(), network, OneThread());
  ASSERT_EQ(made.failed.size(), 1U);
  EXPECT_EQ(made.failed[0].path, folder / "none.jpg");
  EXPECT_EQ(made.coder.bits(), 2);
  const HashModel expected = TrainItq({.bits = 2}, MatrixColumns(outputs), OneThread()).model;
  const std::vector<std::byte> picture = Plain(200, 100, 20);
  const VectorF projected = expected.encoder->Project(Expected(picture));
  EXPECT_LT((made.coder.Encode(picture).projection - projected).cwiseAbs().maxCoeff(), 0.1F);
}

TEST(CoderFromNetwork, RefusesWhatIsNoCode) {
  const TempFolder folder;
  const CodeNetwork fine = Network(folder);
  const auto refuse = [&](std::initializer_list<const char*> words, const auto& change) {
    CodeNetwork network = fine;
    change(network);
    ExpectError(ErrorCode::kInvalidArgument, std::vector<std::string>(words.begin(), words.end()),
                [&] { CoderFromNetwork(Env::Posix(), network, OneThread()); });
  };
  refuse({"layer light", "one vector", "several of 3"},
         [](CodeNetwork& network) { network.options.layer = "light"; });
  refuse({"no layer \"hash\""}, [](CodeNetwork& network) { network.options.layer = "hash"; });
  refuse({"bits", "pictures"}, [](CodeNetwork& network) { network.bits = 4; });
  refuse({"net.onnx",
          fmt::format("codes of {} bits: expected at most {}", kOutputs + 1, kOutputs).c_str()},
         [](CodeNetwork& network) {
           network.bits = kOutputs + 1;
           network.rotate_on = {"never read.jpg"};
         });
  refuse({"threshold"}, [](CodeNetwork& network) { network.threshold = 1.0 / 0.0; });
  refuse({"threshold", "1e+40"}, [](CodeNetwork& network) { network.threshold = 1e40; });
}

TEST(SceneTraining, TakesWhatTheNetworkHas) {
  const CoderTraining training = SceneTraining(FindNetwork({"resnet50"}, "/data"));
  training.Validate();
  EXPECT_EQ(training.extractor.cnn.layer, "stage4");
  EXPECT_EQ(training.reduced, 512);
  EXPECT_GT(training.views.count, 0);
}

}  // namespace
}  // namespace bitpool
