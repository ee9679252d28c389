#include "bitpool/pictures/picture_coder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "bitpool/hash/feature_encoder.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/pictures/picture_files.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

namespace fs = std::filesystem;
using testing::ExpectError;
using testing::SpottedJpeg;
using testing::TempFolder;
using testing::ToBytes;
using testing::ToString;
using testing::UniformPicture;
using testing::WriteBytes;
using testing::WriteText;

RunContext Threads(int threads, uint64_t seed = 1) {
  return RunContext({.threads = threads, .seed = seed});
}

// `count` different pictures in a folder.
std::vector<fs::path> WritePictures(const TempFolder& folder, int count) {
  std::vector<fs::path> paths;
  for (int i = 0; i < count; ++i) {
    paths.push_back(folder / ("pictures/" + std::to_string(i) + ".jpg"));
    WriteBytes(paths.back(), SpottedJpeg(static_cast<uint64_t>(i)));
  }
  return paths;
}

// Quick to learn: small pictures, few iterations.
CoderTraining QuickTraining() {
  CoderTraining training;
  training.extractor.max_side = 160;
  training.extractor.hesaff.max_regions = 200;
  training.embedding.anchors = 2;
  training.embedding.kmeans_iterations = 3;
  training.hash.bits = 16;
  training.hash.options["iterations"] = 1;
  return training;
}

TrainedCoder Train(const CoderTraining& training, const TempFolder& folder,
                   const std::vector<fs::path>& pictures, const RunContext& context = Threads(2)) {
  TrainedCoder trained = TrainCoder(Env::Posix(), training, pictures, folder / "scratch", context);
  EXPECT_FALSE(fs::exists(folder / "scratch")) << "scratch files are left";
  return trained;
}

int Distance(const PictureCode& a, const PictureCode& b) {
  int distance = 0;
  for (size_t i = 0; i < a.code.size(); ++i) {
    distance += std::popcount(static_cast<unsigned>(a.code[i] ^ b.code[i]));
  }
  return distance;
}

std::string FileText(const fs::path& path) {
  return ToString(Env::Posix().Read(path, uint64_t{1} << 30));
}

// Caffe's binary weights by hand: field 100 of NetParameter is a layer {1: name, 2: type, 7: blob
// {5: data (packed floats), 7: shape {1: dims}}}.
std::string Field(int number, const std::string& content) {
  std::string out;
  for (auto value : {static_cast<size_t>(number << 3 | 2), content.size()}) {
    while (value >= 128) {
      out.push_back(static_cast<char>(value | 128));
      value >>= 7;
    }
    out.push_back(static_cast<char>(value));
  }
  return out + content;
}

// A network of one 1×1 convolution with four maps.
CoderTraining NetworkTraining(const TempFolder& folder) {
  const std::vector<float> mixture = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, -1, 1};
  std::string values(mixture.size() * sizeof(float), '\0');
  std::memcpy(values.data(), mixture.data(), values.size());
  const std::string blob = Field(5, values) + Field(7, Field(1, {"\x04\x03\x01\x01", 4}));
  WriteText(folder / "net.caffemodel",
            Field(100, Field(1, "mix") + Field(2, "Convolution") + Field(7, blob)));
  WriteText(folder / "net.prototxt", R"(
name: "tiny" input: "data" input_dim: 1 input_dim: 3 input_dim: 8 input_dim: 8
layer { name: "mix" type: "Convolution" bottom: "data" top: "mix"
        convolution_param { num_output: 4 kernel_size: 1 bias_term: false } })");
  CoderTraining training = QuickTraining();
  training.extractor.kind = "cnn";
  training.extractor.cnn.layer = "mix";
  training.extractor.cnn.size = 8;
  training.extractor.network = {.definition = folder / "net.prototxt",
                                .weights = folder / "net.caffemodel"};
  return training;
}

TEST(PictureCoder, CodesAreThoseOfTheSeparateSteps) {
  const TempFolder folder;
  const auto pictures = WritePictures(folder, 40);
  const TrainedCoder trained = Train(QuickTraining(), folder, pictures);
  EXPECT_TRUE(trained.failed.empty());
  EXPECT_EQ(trained.coder.bits(), 16);
  ASSERT_TRUE(trained.coder.describer().embedding().has_value());
  const HashModel& model = trained.coder.model().model;
  const DecodeOptions decode{.max_side = 160};
  HessianAffineOptions regions;
  regions.max_regions = 200;
  for (const fs::path& path : pictures) {
    const auto bytes = Env::Posix().Read(path, 1 << 20);
    const MatrixF raw = HessianAffineSift(regions).Extract(DecodePicture(bytes, decode));
    const MatrixF features = trained.coder.describer().embedding()->Apply(raw);
    MemoryFeatureSet one(features.rows());
    one.Add("", features);
    const EncodedImages expected = EncodeImages(model, one, Threads(1));
    const PictureCode code = trained.coder.Encode(bytes);
    EXPECT_TRUE(std::ranges::equal(code.code, expected.codes.rows()));
    EXPECT_EQ(code.descriptors, raw.cols());
    EXPECT_EQ(code.facts.width, 160);
    EXPECT_EQ(code.facts.height, 120);
    EXPECT_EQ(code.facts.format, "jpeg");
    ASSERT_EQ(code.projection.size(), 16);
    for (Index bit = 0; bit < 16; ++bit) {
      const auto byte = static_cast<size_t>(bit / 8);
      EXPECT_EQ(code.projection[bit] >= 0, (code.code[byte] >> (bit % 8) & 1) != 0);
    }
  }
}

TEST(PictureCoder, SimilarPicturesHaveSimilarCodes) {
  const TempFolder folder;
  const TrainedCoder trained = Train(QuickTraining(), folder, WritePictures(folder, 40));
  int same = 0, other = 0;
  for (uint64_t i = 100; i < 110; ++i) {
    const PictureCode code = trained.coder.Encode(SpottedJpeg(i));
    same +=
        Distance(code, trained.coder.Encode(EncodeJpeg(testing::SpottedPicture(160, 120, i), 50)));
    other += Distance(code, trained.coder.Encode(SpottedJpeg(i + 50)));
  }
  EXPECT_LT(2 * same, other) << same << " bits of 160 for other quality, " << other;
}

TEST(PictureCoder, TheSameAtAnyNumberOfThreadsAndAfterOpening) {
  const TempFolder folder;
  const auto pictures = WritePictures(folder, 30);
  const TrainedCoder one = Train(QuickTraining(), folder, pictures, Threads(1));
  const TrainedCoder two = Train(QuickTraining(), folder, pictures, Threads(2));
  EXPECT_EQ(one.coder.digest(), two.coder.digest());
  EXPECT_NE(one.coder.digest(),
            Train(QuickTraining(), folder, pictures, Threads(2, 7)).coder.digest());
  SaveCoder(Env::Posix(), folder / "c.bpc", one.coder, IfExists::kFail);
  const PictureCoder opened = OpenCoder(Env::Posix(), folder / "c.bpc");
  EXPECT_EQ(opened.digest(), one.coder.digest());
  std::vector<PictureCode> codes(8);
  Threads(2).ParallelFor(8, 1,
                         [&](size_t i, size_t) { codes[i] = two.coder.Encode(SpottedJpeg(i)); });
  for (size_t i = 0; i < 8; ++i) {
    const PictureCode expected = one.coder.Encode(SpottedJpeg(i));
    const PictureCode reopened = opened.Encode(SpottedJpeg(i));
    EXPECT_TRUE(SameBits(codes[i].projection, expected.projection));
    EXPECT_TRUE(SameBits(reopened.projection, expected.projection));
    EXPECT_EQ(codes[i].code, expected.code);
    EXPECT_EQ(reopened.code, expected.code);
  }
  ExpectError(ErrorCode::kInvalidArgument, {"exists"},
              [&] { SaveCoder(Env::Posix(), folder / "c.bpc", opened, IfExists::kFail); });
}

TEST(PictureCoder, OneFileIsAllThatANetworkNeeds) {
  const TempFolder folder;
  const CoderTraining training = NetworkTraining(folder);
  const TrainedCoder trained = Train(training, folder, WritePictures(folder, 20));
  EXPECT_FALSE(trained.coder.describer().embedding().has_value());
  EXPECT_EQ(trained.coder.describer().dimension(), 4);
  SaveCoder(Env::Posix(), folder / "c.bpc", trained.coder, IfExists::kFail);
  fs::remove(training.extractor.network.definition);
  fs::remove(training.extractor.network.weights);
  const PictureCoder opened = OpenCoder(Env::Posix(), folder / "c.bpc");
  EXPECT_EQ(opened.digest(), trained.coder.digest());
  EXPECT_EQ(opened.Encode(SpottedJpeg(3)).code, trained.coder.Encode(SpottedJpeg(3)).code);
  ExpectError(ErrorCode::kNotFound, {"net.prototxt"},
              [&] { TrainCoder(Env::Posix(), training, {}, folder / "scratch", Threads(1)); });
}

TEST(PictureCoder, AReductionIsPartOfTheCoder) {
  const TempFolder folder;
  CoderTraining training = NetworkTraining(folder);
  const auto pictures = WritePictures(folder, 20);
  const std::string whole = Train(training, folder, pictures).coder.digest();
  training.reduced = 2;
  const TrainedCoder trained = Train(training, folder, pictures);
  EXPECT_EQ(trained.coder.describer().dimension(), 2);
  EXPECT_NE(trained.coder.digest(), whole);
  SaveCoder(Env::Posix(), folder / "c.bpc", trained.coder, IfExists::kFail);
  const PictureCoder opened = OpenCoder(Env::Posix(), folder / "c.bpc");
  EXPECT_EQ(opened.digest(), trained.coder.digest());
  const auto bytes = SpottedJpeg(3);
  EXPECT_EQ(opened.Encode(bytes).code, trained.coder.Encode(bytes).code);
  const Picture decoded = opened.describer().Decode(bytes);
  const MatrixF features = opened.Describe(decoded);
  EXPECT_LT((features.colwise().norm().array() - 1).abs().maxCoeff(), 1e-4F);
  training.extractor.kind = "dense";
  ExpectError(ErrorCode::kInvalidArgument, {"reduced"}, [&] { training.Validate(); });
}

// `index` takes these instead of encoding the pictures again.
TEST(PictureCoder, TheCodesOfATrainingAreThoseOfTheCoder) {
  const TempFolder folder;
  const std::vector<fs::path> pictures = WritePictures(folder, 12);
  const TrainedCoder trained = Train(QuickTraining(), folder, pictures);
  ASSERT_EQ(trained.codes.size(), pictures.size());
  for (const fs::path& picture : pictures) {
    const std::vector<std::byte> bytes = Env::Posix().Read(picture, MaxPictureBytes());
    const PictureCode& kept = trained.codes.at(Checksum(bytes));
    const PictureCode made = trained.coder.Encode(bytes);
    EXPECT_EQ(kept.code, made.code);
    EXPECT_EQ(kept.projection, made.projection);
    EXPECT_EQ(kept.facts.width, made.facts.width);
    EXPECT_EQ(kept.facts.format, made.facts.format);
    EXPECT_EQ(kept.descriptors, made.descriptors);
  }
}

TEST(PictureCoder, DenseFeaturesToo) {
  const TempFolder folder;
  CoderTraining training = QuickTraining();
  training.extractor.kind = "dense";
  training.extractor.max_side = 64;
  training.extractor.dense.step = 4;
  training.extractor.dense.bin_sizes = {4};
  const TrainedCoder trained = Train(training, folder, WritePictures(folder, 20));
  SaveCoder(Env::Posix(), folder / "c.bpc", trained.coder, IfExists::kFail);
  const PictureCode code = OpenCoder(Env::Posix(), folder / "c.bpc").Encode(SpottedJpeg(3));
  EXPECT_EQ(code.code, trained.coder.Encode(SpottedJpeg(3)).code);
  EXPECT_GT(code.descriptors, 50);
}

// Few pictures are enough for all bits: the bits differ, and tell apart pictures that were not
// learned from.
TEST(PictureCoder, LearnsFromFewPictures) {
  for (const int count : {1, 2, 3, 10}) {
    const TempFolder folder;
    CoderTraining training = QuickTraining();
    training.embedding = {};
    training.hash.bits = 64;
    const TrainedCoder trained = Train(training, folder, WritePictures(folder, count));
    EXPECT_EQ(trained.coder.bits(), 64) << count;
    EXPECT_GE(trained.summary.samples, 256) << count;
    int same = 0, other = 0;
    for (uint64_t i = 100; i < 106; ++i) {
      const PictureCode code = trained.coder.Encode(SpottedJpeg(i));
      same += Distance(code,
                       trained.coder.Encode(EncodeJpeg(testing::SpottedPicture(160, 120, i), 60)));
      other += Distance(code, trained.coder.Encode(SpottedJpeg(i + 50)));
    }
    EXPECT_LT(2 * same, other) << count << " pictures: " << same << " and " << other << " of 384";
  }
}

TEST(PictureCoder, WithFewFeaturesTheEmbeddingIsSmallerOrNone) {
  const TempFolder folder;
  const auto pictures = WritePictures(folder, 40);
  const auto features = [&](int count, Index sample) {
    CoderTraining training = QuickTraining();
    training.embedding.anchors = 9;
    training.sample = sample;
    return Train(training, folder, {pictures.begin(), pictures.begin() + count})
        .coder.describer()
        .dimension();
  };
  EXPECT_EQ(features(40, 4 * 128 * 3), 2 * 128);
  EXPECT_EQ(features(40, 4 * 128 * 2), 128);
  EXPECT_EQ(features(40, 4 * 128 * 2 - 1), 128) << "as they are, not embedded";
  EXPECT_EQ(features(1, 200'000), 128);
}

TEST(PictureCoder, LearnsFromADrawnPart) {
  const TempFolder folder;
  const auto pictures = WritePictures(folder, 30);
  CoderTraining training = QuickTraining();
  training.hash.bits = 4;
  training.pictures = 20;
  const TrainedCoder a = Train(training, folder, pictures);
  EXPECT_EQ(a.summary.samples, 20);
  EXPECT_EQ(a.coder.model().training.at("pictures"), 20);
  EXPECT_NE(a.coder.digest(), Train(training, folder, pictures, Threads(2, 9)).coder.digest());
}

TEST(PictureCoder, ReportsPicturesThatCannotBeUsed) {
  const TempFolder folder;
  auto pictures = WritePictures(folder, 5);
  const auto jpeg = SpottedJpeg(1);
  std::map<std::string, std::string> reasons = {{"cut.jpg", ""},
                                                {"text.jpg", ""},
                                                {"empty.jpg", ""},
                                                {"plain.jpg", "no local features"},
                                                {"missing.jpg", "cannot open"}};
  WriteBytes(folder / "cut.jpg", std::span(jpeg).first(jpeg.size() / 2));
  WriteText(folder / "text.jpg", "This is no picture, whatever its name says.");
  WriteText(folder / "empty.jpg", "");
  WriteBytes(folder / "plain.jpg", EncodeJpeg(UniformPicture(160, 120), 90));
  std::vector<fs::path> bad;
  for (const auto& [name, reason] : reasons) bad.push_back(folder / name);
  pictures.insert(pictures.begin() + 2, bad.begin(), bad.end());

  const TrainedCoder trained = Train(QuickTraining(), folder, pictures);
  ASSERT_EQ(trained.failed.size(), reasons.size());
  for (const FailedPicture& failed : trained.failed) {
    EXPECT_FALSE(failed.reason.empty());
    EXPECT_THAT(failed.reason, ::testing::HasSubstr(reasons.at(failed.path.filename().string())));
    EXPECT_THAT(failed.reason, ::testing::Not(::testing::HasSubstr(folder.path().string())));
  }
  ExpectError(ErrorCode::kInvalidArgument, {"none of 5 pictures", "cut.jpg"},
              [&] { Train(QuickTraining(), folder, bad); });
  ExpectError(ErrorCode::kInvalidArgument, {"no pictures"},
              [&] { Train(QuickTraining(), folder, {}); });
  EXPECT_FALSE(fs::exists(folder / "scratch"));

  const auto encode = [&](const char* name) {
    trained.coder.Encode(Env::Posix().Read(folder / name, 1 << 20));
  };
  ExpectError(ErrorCode::kCorrupt, {}, [&] { encode("cut.jpg"); });
  ExpectError(ErrorCode::kUnsupported, {}, [&] { encode("text.jpg"); });
  ExpectError(ErrorCode::kCorrupt, {}, [&] { encode("empty.jpg"); });
  ExpectError(ErrorCode::kUnsupported, {"no local features"}, [&] { encode("plain.jpg"); });
}

TEST(PictureCoder, StopsWhenAskedAndCleansUp) {
  const TempFolder folder;
  const auto pictures = WritePictures(folder, 20);
  class StopAt : public ProgressSink {
   public:
    StopAt(std::stop_source& source, std::string task) : source_(source), task_(std::move(task)) {}
    void Report(const ProgressUpdate& update) override {
      if (update.task == task_) source_.request_stop();
    }

   private:
    std::stop_source& source_;
    std::string task_;
  };
  for (const char* task : {"describing", "reducing"}) {
    std::stop_source stop;
    const RunContext context(
        {.threads = 2, .stop = stop.get_token(), .progress = std::make_shared<StopAt>(stop, task)});
    ExpectError(ErrorCode::kCancelled, {}, [&] {
      TrainCoder(Env::Posix(), QuickTraining(), pictures, folder / "scratch", context);
    });
    EXPECT_FALSE(fs::exists(folder / "scratch")) << task;
  }
}

TEST(PictureCoder, RefusesSettingsWithoutMeaning) {
  const auto refuse = [](const std::vector<std::string>& words, const auto& change) {
    CoderTraining training;
    change(training);
    ExpectError(ErrorCode::kInvalidArgument, words, [&] { training.Validate(); });
  };
  CoderTraining().Validate();
  refuse({"hesaff, dense or cnn"}, [](CoderTraining& t) { t.extractor.kind = "surf"; });
  refuse({"max_side"}, [](CoderTraining& t) { t.extractor.max_side = 15; });
  refuse({"max_side"}, [](CoderTraining& t) { t.extractor.max_side = 4097; });
  refuse({"anchors"}, [](CoderTraining& t) { t.embedding.anchors = 0; });
  refuse({"sdh"}, [](CoderTraining& t) { t.hash.method = "sdh"; });
  refuse({"0"}, [](CoderTraining& t) { t.hash.bits = 0; });
  refuse({"pictures"}, [](CoderTraining& t) { t.pictures = 0; });
  refuse({"sample"}, [](CoderTraining& t) { t.sample = 0; });
}

// A file as SaveCoder writes it, with other metadata.
TEST(PictureCoder, RefusesFilesThatAreNoCompleteCoder) {
  const TempFolder folder;
  const PictureCoder coder =
      Train(NetworkTraining(folder), folder, WritePictures(folder, 20)).coder;
  SaveCoder(Env::Posix(), folder / "c.bpc", coder, IfExists::kFail);
  const Container good = Container::Open(Env::Posix(), folder / "c.bpc");

  const auto rewritten = [&](const std::string& without, const auto& change) {
    nlohmann::json metadata = good.metadata();
    change(metadata);
    ContainerWriter writer(Env::Posix(), folder / "d.bpc", "coder", IfExists::kReplace);
    for (const Section& section : good.sections()) {
      if (section.name == "metadata" || section.name == without) continue;
      writer.Add(section.name, section.dtype, section.dims, good.Read(section));
    }
    writer.Commit(metadata);
    OpenCoder(Env::Posix(), folder / "d.bpc");
  };
  const auto unchanged = [](nlohmann::json&) {};
  rewritten("", unchanged);
  for (const char* section : {"network_definition", "network_weights", "encoder_weights",
                              "encoder_bias", "decoder_weights"}) {
    ExpectError(ErrorCode::kCorrupt, {"d.bpc", section}, [&] { rewritten(section, unchanged); });
  }
  using Json = nlohmann::json;
  for (const auto& [code, word, change] :
       std::vector<std::tuple<ErrorCode, std::string, std::function<void(Json&)>>>{
           {ErrorCode::kUnsupported, "newer", [](Json& m) { m["extractor"]["version"] = 2; }},
           {ErrorCode::kCorrupt, "version", [](Json& m) { m["extractor"]["version"] = 0; }},
           {ErrorCode::kCorrupt, "metadata", [](Json& m) { m.erase("extractor"); }},
           {ErrorCode::kCorrupt, "metadata", [](Json& m) { m["extractor"] = 3; }},
           {ErrorCode::kCorrupt, "kind", [](Json& m) { m["extractor"].erase("kind"); }},
           {ErrorCode::kCorrupt, "surf", [](Json& m) { m["extractor"]["kind"] = "surf"; }},
           {ErrorCode::kCorrupt, "size", [](Json& m) { m["extractor"]["options"]["size"] = 0; }},
           {ErrorCode::kCorrupt, "layer",
            [](Json& m) { m["extractor"]["options"]["layer"] = "x"; }},
           {ErrorCode::kCorrupt, "embedded", [](Json& m) { m.erase("embedded"); }},
           {ErrorCode::kCorrupt, "embedding_anchors", [](Json& m) { m["embedded"] = true; }},
           {ErrorCode::kCorrupt, "takes vectors", [](Json& m) { m.erase("pooling"); }}}) {
    ExpectError(code, {"d.bpc", word}, [&] { rewritten("", change); });
  }
  ExpectError(ErrorCode::kNotFound, {"none.bpc"},
              [&] { OpenCoder(Env::Posix(), folder / "none.bpc"); });
  SaveModel(Env::Posix(), folder / "m.bpm", coder.model(), IfExists::kFail);
  ExpectError(ErrorCode::kInvalidArgument, {"coder"},
              [&] { OpenCoder(Env::Posix(), folder / "m.bpm"); });

  const std::string whole = FileText(folder / "c.bpc");
  for (size_t i = 0; i < whole.size(); i += 13) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    ExpectError(ErrorCode::kCorrupt, {},
                [&] { ParseCoder(Container::Parse(testing::View(damaged))); });
  }
}

}  // namespace
}  // namespace bitpool
