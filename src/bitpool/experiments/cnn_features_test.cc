#include "bitpool/experiments/cnn_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/features/cnn_testing.h"
#include "bitpool/hash/testing.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pictures/network_file.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::TempFolder;

constexpr Index kTrain = 1010, kTest = 10;  // two files and one

void Write(const fs::path& path, const std::string& content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::string Content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string BigEndian(Index number) {
  std::string bytes;
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>(number >> shift));
  return bytes;
}

// Pixel `pixel` of picture `picture`: numbers so small that features are exact in half precision.
int GreyAt(Index picture, Index pixel) { return static_cast<int>((4 * picture + pixel) % 17); }

// Pictures of 2×2 pixels and their classes, as MNIST has them.
void WriteGreyPart(const fs::path& folder, const std::string& prefix, Index count, Index first) {
  std::string pictures = BigEndian(0x803) + BigEndian(count) + BigEndian(2) + BigEndian(2);
  std::string classes = BigEndian(0x801) + BigEndian(count);
  for (Index picture = first; picture < first + count; ++picture) {
    for (Index pixel = 0; pixel < 4; ++pixel) {
      pictures.push_back(static_cast<char>(GreyAt(picture, pixel)));
    }
    classes.push_back(static_cast<char>(picture % 10));
  }
  Write(folder / (prefix + "-images-idx3-ubyte"), pictures);
  Write(folder / (prefix + "-labels-idx1-ubyte"), classes);
}

// A folder with a small "mnist" and a network.
class DataFolder {
 public:
  DataFolder() {
    WriteGreyPart(set(), "train", kTrain, 0);
    WriteGreyPart(set(), "t10k", kTest, kTrain);
    Write(folder_ / "tiny.prototxt", kTinyDefinition);
    Write(folder_ / "tiny.caffemodel", TinyWeights());
  }

  fs::path set() const { return folder_ / "mnist"; }
  CnnPaths network() const {
    return {.definition = folder_ / "tiny.prototxt", .weights = folder_ / "tiny.caffemodel"};
  }
  CnnFeaturesRequest Request() const {
    return {.set = "mnist",
            .folder = folder_.path(),
            .network = network(),
            .options = TinyOptions(),
            .limit = 0};
  }

  CnnFeatures Load(const CnnFeaturesRequest& request, const RunContext& context = RunContext()) {
    said.clear();
    return LoadCnnFeatures(Env::Posix(), request, context,
                           [&](const std::string& line) { said.push_back(line); });
  }
  CnnFeatures Load() { return Load(Request()); }

  // The kept features: names and bytes.
  std::vector<fs::path> Cached() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(set())) {
      if (entry.path().extension() == ".bpf") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
  }

  std::vector<std::string> said;  // by the last Load

 private:
  TempFolder folder_;
};

MatrixF Read(const FeatureSet& set, Index image) {
  MatrixF descriptors;
  set.Read(image, descriptors);
  return descriptors;
}

void ExpectSameFeatures(const FeatureSet& a, const FeatureSet& b, Index count) {
  ASSERT_GE(a.size(), count);
  ASSERT_GE(b.size(), count);
  for (Index image = 0; image < count; ++image) {
    ASSERT_TRUE(SameBits(Read(a, image), Read(b, image))) << "image " << image;
    ASSERT_EQ(a.name(image), b.name(image));
  }
}

TEST(CnnFeatures, AreTheMapsOfEveryPicture) {
  DataFolder data;
  const CnnFeatures features = data.Load();
  EXPECT_EQ(features.name, "mnist");
  EXPECT_EQ(features.features, "mix of tiny at 2 pixels");
  ASSERT_EQ(features.train->size(), kTrain);
  ASSERT_EQ(features.test->size(), kTest);
  ASSERT_EQ(features.train->dimension(), 2);
  ASSERT_EQ(features.train_labels.size(), kTrain);
  ASSERT_EQ(features.test_labels.size(), kTest);
  for (Index picture = 0; picture < kTrain + kTest; ++picture) {
    const bool train = picture < kTrain;
    const Index place = train ? picture : picture - kTrain;
    const MatrixF found = Read(train ? *features.train : *features.test, place);
    // A grey pixel g is red, green and blue: map 0 is (g − 1) + 10 g + 100 g, map 1 is g + 5.
    MatrixF expected(2, 4);
    for (Index pixel = 0; pixel < 4; ++pixel) {
      const auto grey = static_cast<float>(GreyAt(picture, pixel));
      expected.col(pixel) << 111 * grey - 1, grey + 5;
    }
    ASSERT_EQ(found, expected) << "picture " << picture;
    ASSERT_EQ((train ? features.train_labels : features.test_labels).of(place).front(),
              picture % 10);
  }
}

TEST(CnnFeatures, OfPicturesInColourKeepTheColoursApart) {
  const DataFolder network;
  const TempFolder folder;
  for (int batch = 1; batch <= 6; ++batch) {
    // One picture of one colour: red b, green 2, blue 3.
    std::string record(1, static_cast<char>(batch));
    for (const int value : {batch, 2, 3}) record += std::string(1024, static_cast<char>(value));
    const std::string name = batch == 6 ? "test_batch" : "data_batch_" + std::to_string(batch);
    Write(folder / "cifar10" / (name + ".bin"), record);
  }
  const CnnFeatures features = LoadCnnFeatures(Env::Posix(),
                                               {.set = "cifar10",
                                                .folder = folder.path(),
                                                .network = network.network(),
                                                .options = TinyOptions()},
                                               RunContext(), [](const std::string&) {});
  ASSERT_EQ(features.train->size(), 5);
  ASSERT_EQ(features.test->size(), 1);
  // Map 0: (blue − 1) + 10 green + 100 red.
  EXPECT_EQ(Read(*features.train, 3)(0, 0), 2 + 20 + 400);
  EXPECT_EQ(Read(*features.test, 0)(0, 3), 2 + 20 + 600);
  EXPECT_EQ(features.train_labels.of(4).front(), 5);
}

TEST(CnnFeatures, AreExtractedOnce) {
  DataFolder data;
  const CnnFeatures first = data.Load();
  ASSERT_FALSE(data.said.empty());
  EXPECT_NE(data.said[0].find("1020 pictures"), std::string::npos) << data.said[0];
  const auto cached = data.Cached();
  ASSERT_EQ(cached.size(), 3U);
  std::vector<fs::file_time_type> times;
  for (const fs::path& file : cached) times.push_back(fs::last_write_time(file));
  // A context that is stopped already could not extract anything.
  std::stop_source stop;
  stop.request_stop();
  const CnnFeatures second =
      data.Load(data.Request(), RunContext({.threads = 1, .seed = 1, .stop = stop.get_token()}));
  EXPECT_TRUE(data.said.empty());
  EXPECT_EQ(data.Cached(), cached);
  for (size_t i = 0; i < cached.size(); ++i) EXPECT_EQ(fs::last_write_time(cached[i]), times[i]);
  ExpectSameFeatures(*first.train, *second.train, kTrain);
  ExpectSameFeatures(*first.test, *second.test, kTest);
}

TEST(CnnFeatures, AnInterruptedExtractionGoesOn) {
  DataFolder data, whole;
  ExpectError(ErrorCode::kCancelled, {},
              [&] { data.Load(data.Request(), StoppedContext("extracting", 1001)); });
  ASSERT_EQ(data.Cached().size(), 1U) << "the first thousand are kept, and nothing unfinished";
  const fs::path first = data.Cached()[0];
  const auto time = fs::last_write_time(first);
  const CnnFeatures resumed = data.Load();
  ASSERT_FALSE(data.said.empty());
  EXPECT_NE(data.said[0].find(" 20 pictures"), std::string::npos) << data.said[0];
  EXPECT_EQ(fs::last_write_time(first), time);
  EXPECT_EQ(data.Cached().size(), 3U);
  const CnnFeatures expected = whole.Load();
  ExpectSameFeatures(*resumed.train, *expected.train, kTrain);
  ExpectSameFeatures(*resumed.test, *expected.test, kTest);
}

TEST(CnnFeatures, ALimitIsAPartOfTheWhole) {
  DataFolder data;
  CnnFeaturesRequest request = data.Request();
  request.limit = 102;  // a tenth
  const CnnFeatures part = data.Load(request);
  EXPECT_EQ(part.train->size(), 101);
  EXPECT_EQ(part.test->size(), 1);
  EXPECT_EQ(part.train_labels.size(), 101);
  EXPECT_EQ(part.test_labels.size(), 1);
  EXPECT_EQ(data.Cached().size(), 2U) << "what is beyond the limit is not extracted";
  const CnnFeatures whole = data.Load();
  ASSERT_FALSE(data.said.empty());
  EXPECT_NE(data.said[0].find(" 10 pictures"), std::string::npos) << data.said[0];
  ExpectSameFeatures(*part.train, *whole.train, 101);
  ExpectSameFeatures(*part.test, *whole.test, 1);
  request.limit = 100000;
  EXPECT_EQ(data.Load(request).train->size(), kTrain);
  request.limit = 1;
  EXPECT_EQ(data.Load(request).test->size(), 1) << "a part is never empty";
}

TEST(CnnFeatures, OtherOptionsOrAnotherNetworkAreKeptApart) {
  DataFolder data;
  CnnFeaturesRequest request = data.Request();
  request.limit = 2;  // one file of each part
  const MatrixF plain = Read(*data.Load(request).train, 0);
  size_t files = data.Cached().size();
  ASSERT_EQ(files, 2U);
  const auto expect_apart = [&](const CnnFeaturesRequest& changed, const char* what) {
    const MatrixF found = Read(*data.Load(changed).train, 0);
    EXPECT_FALSE(SameBits(found, plain)) << what;  // they may be of another size
    EXPECT_EQ(data.Cached().size(), files += 2) << what;
  };
  CnnFeaturesRequest changed = request;
  changed.options.scale = 2;
  expect_apart(changed, "scale");
  changed = request;
  changed.options.mean = {0, 1, 2};
  expect_apart(changed, "mean");
  changed = request;
  changed.options.rgb = true;
  expect_apart(changed, "order of colours");
  changed = request;
  changed.options.layer = "whole";
  expect_apart(changed, "layer");
  changed = request;
  changed.network.definition.replace_filename("other.prototxt");
  Write(changed.network.definition, kTinyDefinition + "# with a remark\n");
  EXPECT_EQ(Read(*data.Load(changed).train, 0), plain);
  EXPECT_EQ(data.Cached().size(), files += 2) << "definition";
  changed = request;
  changed.network.weights.replace_filename("other.caffemodel");
  std::string weights = TinyWeights();
  const float one = 1, two = 2;  // the first number of the convolution
  const auto place = weights.find(std::string(reinterpret_cast<const char*>(&one), sizeof(one)));
  ASSERT_NE(place, std::string::npos);
  weights.replace(place, sizeof(two), reinterpret_cast<const char*>(&two), sizeof(two));
  Write(changed.network.weights, weights);
  expect_apart(changed, "weights");
  // The same bytes under another name are the same network.
  changed.network.weights.replace_filename("copy.caffemodel");
  Write(changed.network.weights, TinyWeights());
  EXPECT_EQ(Read(*data.Load(changed).train, 0), plain);
  EXPECT_EQ(data.Cached().size(), files);
}

TEST(CnnFeatures, ADamagedFileIsNamed) {
  DataFolder data;
  (void)data.Load();
  const fs::path file = data.Cached().at(2);  // the second of the training part
  ASSERT_NE(file.string().find("train-001"), std::string::npos) << file;
  const std::string good = Content(file);
  Write(file, good.substr(0, good.size() / 2));
  ExpectError(ErrorCode::kCorrupt, {file.filename().string()}, [&] { data.Load(); });
  // Whole, but of fewer pictures.
  FeatureFileWriter writer(Env::Posix(), file, 2, Precision::kHalf, IfExists::kReplace);
  writer.Append("1000", MatrixF::Zero(2, 4));
  writer.Commit({});
  ExpectError(ErrorCode::kCorrupt, {file.filename().string(), "1 pictures, expected 10", "remove"},
              [&] { data.Load(); });
  fs::remove(file);
  EXPECT_EQ(data.Load().train->size(), kTrain) << "made anew";
}

TEST(CnnFeatures, SayWhichFileIsMissing) {
  DataFolder data;
  CnnFeaturesRequest request = data.Request();
  request.network.weights.replace_filename("none.caffemodel");
  ExpectError(ErrorCode::kNotFound, {"none.caffemodel", "--network"}, [&] { data.Load(request); });
  request = data.Request();
  request.network.definition.replace_filename("none.prototxt");
  ExpectError(ErrorCode::kNotFound, {"none.prototxt", "--network"}, [&] { data.Load(request); });
  request = data.Request();
  request.set = "fashion-mnist";
  ExpectError(ErrorCode::kNotFound, {"bitpool data get fashion-mnist"},
              [&] { data.Load(request); });
  request.set = "imagenet";
  ExpectError(ErrorCode::kInvalidArgument, {"imagenet"}, [&] { data.Load(request); });
  EXPECT_TRUE(data.Cached().empty());
}

TEST(OpenCnn, NamesTheFileOfWhatIsWrong) {
  const DataFolder data;
  EXPECT_EQ(OpenCnn(Env::Posix(), data.network(), TinyOptions())->dimension(), 2);
  CnnOptions options = TinyOptions();
  options.layer = "fire9";
  ExpectError(ErrorCode::kInvalidArgument, {"tiny.prototxt", "fire9"},
              [&] { OpenCnn(Env::Posix(), data.network(), options); });
  CnnPaths swapped{.definition = data.network().weights, .weights = data.network().definition};
  ExpectError(ErrorCode::kCorrupt, {"tiny.caffemodel", "not a network"},
              [&] { OpenCnn(Env::Posix(), swapped, TinyOptions()); });
}

// Each of the first training pictures is followed by its views, which a second load finds again.
TEST(CnnFeatures, ViewsAreOfTheFirstTrainingPictures) {
  DataFolder data;
  CnnFeaturesRequest request = data.Request();
  EXPECT_EQ(data.Load(request).views, nullptr);
  request.views = {.count = 2, .kind = ViewKind::kClasses};
  request.with_views = 5;
  const CnnFeatures features = data.Load(request);
  ASSERT_NE(features.views, nullptr);
  EXPECT_EQ(features.views->images_per_picture(), 3);
  ASSERT_EQ(features.views->pictures(), 5);
  bool differs = false;
  for (Index picture = 0; picture < 5; ++picture) {
    const MatrixF own = Read(*features.train, picture);
    EXPECT_TRUE(SameBits(Read(*features.views, 3 * picture), own)) << picture;
    differs |= !SameBits(Read(*features.views, 3 * picture + 1), own);
  }
  EXPECT_TRUE(differs);
  const size_t kept = data.Cached().size();
  ExpectSameFeatures(*data.Load(request).views, *features.views, 15);
  EXPECT_EQ(data.Cached().size(), kept);
  request.views.count = 1;  // another plan, other files
  EXPECT_EQ(data.Load(request).views->size(), 10);
}

}  // namespace
}  // namespace bitpool
