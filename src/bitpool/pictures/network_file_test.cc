#include "bitpool/pictures/network_file.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

TEST(FindNetwork, SqueezeNetIsTheDefault) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{}, std::vector<std::string>{"squeezenet"}}) {
    const NamedNetwork network = FindNetwork(names, "/data");
    EXPECT_EQ(network.files.definition, "/data/squeezenet/SqueezeNet_deploy.prototxt");
    EXPECT_EQ(network.files.weights, "/data/squeezenet/squeezenet_v1.0.caffemodel");
    EXPECT_EQ(network.scenes.options.layer, "fire9/concat");
    EXPECT_EQ(network.scenes.reduced, 0);
  }
}

TEST(FindNetwork, ANameBringsWhatTheNetworkWants) {
  const NamedNetwork network = FindNetwork({"resnet50"}, "/data");
  EXPECT_EQ(network.files.definition, "/data/resnet50/resnet50.onnx");
  EXPECT_TRUE(network.files.weights.empty());
  EXPECT_EQ(network.scenes.options.layer, "stage4");
  EXPECT_EQ(network.scenes.options.size, 416);
  EXPECT_EQ(network.scenes.reduced, 512);
  EXPECT_EQ(network.classes.options.layer, "stage5");
  EXPECT_EQ(network.classes.options.size, 224);
  EXPECT_DOUBLE_EQ(network.classes.options.mean[0], 103.939);
  ExpectError(ErrorCode::kNotFound, {"resnet50.onnx", "bitpool data get resnet50 --dir /data"},
              [&] { MappedNetwork(Env::Posix(), network.files); });
}

TEST(FindNetwork, FilesAreTakenAsTheyAre) {
  const NamedNetwork caffe = FindNetwork({"a.prototxt", "a.caffemodel"}, "/data");
  EXPECT_EQ(caffe.files.definition, "a.prototxt");
  EXPECT_EQ(caffe.files.weights, "a.caffemodel");
  const NamedNetwork onnx = FindNetwork({"net.onnx"}, "/data");
  EXPECT_EQ(onnx.files.definition, "net.onnx");
  EXPECT_TRUE(onnx.files.weights.empty());
  EXPECT_EQ(onnx.scenes.options.size, CnnOptions().size);
  ExpectError(ErrorCode::kNotFound, {"net.onnx", "--network"},
              [&] { MappedNetwork(Env::Posix(), onnx.files); });
  ExpectError(ErrorCode::kInvalidArgument, {"\"vgg16\"", "squeezenet, resnet50", ".onnx"},
              [] { FindNetwork({"vgg16"}, "/data"); });
}

}  // namespace
}  // namespace bitpool
