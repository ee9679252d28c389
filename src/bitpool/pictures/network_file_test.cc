#include "bitpool/pictures/network_file.h"

#include <gtest/gtest.h>

namespace bitpool {
namespace {

TEST(OpenCnn, TheDefaultNetworkIsInTheFolderOfTheData) {
  const CnnPaths paths = DefaultNetwork("/data");
  EXPECT_EQ(paths.definition, "/data/squeezenet/SqueezeNet_deploy.prototxt");
  EXPECT_EQ(paths.weights, "/data/squeezenet/squeezenet_v1.0.caffemodel");
}

}  // namespace
}  // namespace bitpool
