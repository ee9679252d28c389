#include "bitpool/networks/layers_model.h"

#include <fmt/format.h>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

constexpr const char* kModel = R"({"format": "layers-model", "weightsManifest": [
  {"paths": ["a.bin", "b.bin"], "weights": [
    {"name": "conv/kernel", "shape": [2, 2], "dtype": "float32"},
    {"name": "conv/bias", "shape": [1], "dtype": "float32"}]}]})";

class LayersModelTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    WriteFile(Env::Posix(), folder_ / name, testing::ToBytes(text), IfExists::kReplace);
  }
  void WriteNumbers(const std::string& name, const std::vector<float>& numbers) {
    Write(name, {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)});
  }
  LayersModel Open() { return LayersModel::Open(Env::Posix(), folder_ / "model.json"); }

  const TempFolder folder_;
};

TEST_F(LayersModelTest, WeightsGoOnFromFileToFile) {
  Write("model.json", kModel);
  WriteNumbers("a.bin", {1, 2, 3});
  WriteNumbers("b.bin", {4, 5});
  const LayersModel model = Open();
  const auto kernel = model.Weight("conv/kernel", {2, 2});
  EXPECT_EQ(std::vector<float>(kernel.begin(), kernel.end()), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(model.Weight("conv/bias", {1})[0], 5);
  ExpectError(ErrorCode::kCorrupt, {"model.json", "conv/gamma"},
              [&] { model.Weight("conv/gamma", {1}); });
  ExpectError(ErrorCode::kCorrupt, {"conv/kernel", "[2, 2]", "expected [4]"},
              [&] { model.Weight("conv/kernel", {4}); });
}

TEST_F(LayersModelTest, AnythingElseIsRefused) {
  ExpectError(ErrorCode::kNotFound, {"model.json"}, [&] { Open(); });
  Write("model.json", "[]");
  ExpectError(ErrorCode::kCorrupt, {"model.json", "TensorFlow.js"}, [&] { Open(); });
  Write("model.json", "{}");
  ExpectError(ErrorCode::kCorrupt, {"model.json", "weightsManifest"}, [&] { Open(); });
  Write("model.json", kModel);
  WriteNumbers("a.bin", {1, 2, 3});
  ExpectError(ErrorCode::kNotFound, {"b.bin"}, [&] { Open(); });
  WriteNumbers("b.bin", {4});
  ExpectError(ErrorCode::kCorrupt, {"model.json", "16 bytes", "expected 20"}, [&] { Open(); });
  for (const char* shape : {"[0]", "[-1]", "[4294967296, 4294967296, 16]"}) {
    Write("model.json", fmt::format(R"({{"weightsManifest": [{{"paths": [], "weights": [
      {{"name": "x", "dtype": "float32", "shape": {}}}]}}]}})",
                                    shape));
    ExpectError(ErrorCode::kCorrupt, {"model.json", "shape"}, [&] { Open(); });
  }
  Write("model.json", R"({"weightsManifest": [{"paths": [], "weights": [
    {"name": "x", "dtype": "uint8", "shape": [1]}]}]})");
  ExpectError(ErrorCode::kCorrupt, {"float32"}, [&] { Open(); });
}

}  // namespace
}  // namespace bitpool
