#include "bitpool/networks/resnet50.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

// The real weights are tried in public_networks_test.cc, where they are at hand.
TEST(ResNet50, WeightsOfAnotherNetworkAreRefused) {
  const testing::TempFolder folder;
  WriteFile(Env::Posix(), folder / "model.json",
            testing::ToBytes(R"({"weightsManifest": [{"paths": ["w.bin"], "weights": [
              {"name": "bn_conv1/gamma", "shape": [2], "dtype": "float32"}]}]})"),
            IfExists::kReplace);
  WriteFile(Env::Posix(), folder / "w.bin", testing::ToBytes("12345678"), IfExists::kReplace);
  const LayersModel weights = LayersModel::Open(Env::Posix(), folder / "model.json");
  testing::ExpectError(ErrorCode::kCorrupt, {"bn_conv1/gamma", "[2]", "expected [64]"},
                       [&] { ResNet50AsOnnx(weights); });
}

}  // namespace
}  // namespace bitpool
