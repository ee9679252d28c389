#include "bitpool/dataset/convert.h"

#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

class ConvertTest : public ::testing::Test {
 protected:
  template <class T>
  void Write(const std::string& name, const std::vector<uint64_t>& shape,
             const std::vector<T>& values) {
    const auto writer =
        CreateSamples(Env::Posix(), folder_ / name, DTypeOf<T>(), shape, IfExists::kReplace);
    writer->template Append<T>(values);
    writer->Commit();
  }
  template <class T>
  std::vector<T> ReadBack(const std::string& name) {
    return OpenSamples(Env::Posix(), folder_ / name).ReadAll<T>();
  }
  ConvertReport Run(const std::string& in, const std::string& out, ConvertOptions options = {}) {
    if (options.counts) options.counts = folder_ / options.counts->string();
    return Convert(Env::Posix(), folder_ / in, folder_ / out, options, RunContext({.threads = 1}));
  }
  const TempFolder folder_;
};

TEST_F(ConvertTest, BetweenVectorFormats) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  Write<float>("a.npy", {3}, values);
  EXPECT_EQ(Run("a.npy", "a.fvecs").written, 2U);
  Run("a.fvecs", "b.bpv");
  Run("b.bpv", "b.bvecs");
  Run("b.bvecs", "b.ivecs");
  Run("b.ivecs", "c.npy", {.dtype = DType::kF8});
  EXPECT_EQ(OpenSamples(Env::Posix(), folder_ / "c.npy").dtype(), DType::kF8);
  EXPECT_EQ(ReadBack<float>("c.npy"), values);
}

TEST_F(ConvertTest, NumbersThatDoNotFitAreRefused) {
  Write<float>("a.npy", {1}, {1, 300});
  ExpectError(ErrorCode::kCorrupt, {"a.npy", "sample 1", "u1"}, [&] { Run("a.npy", "a.bvecs"); });
  EXPECT_FALSE(Env::Posix().Exists(folder_ / "a.bvecs"));
}

TEST_F(ConvertTest, AnExistingOutputIsKept) {
  Write<float>("a.npy", {1}, {1});
  Write<float>("b.npy", {1}, {2});
  ExpectError(ErrorCode::kInvalidArgument, {"b.npy", "already exists"},
              [&] { Run("a.npy", "b.npy"); });
  EXPECT_EQ(ReadBack<float>("b.npy")[0], 2.0F);
  Run("a.npy", "b.npy", {.if_exists = IfExists::kReplace});
  EXPECT_EQ(ReadBack<float>("b.npy")[0], 1.0F);
}

TEST_F(ConvertTest, ThreeDimensionsBecomeAFeatureSet) {
  Write<float>("a.npy", {2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  EXPECT_EQ(Run("a.npy", "a.bpf", {.dtype = DType::kF2}).written, 2U);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder_ / "a.bpf");
  EXPECT_EQ(file.precision(), Precision::kHalf);
  ASSERT_EQ(file.dimension(), 3);
  MatrixF second;
  file.Read(1, second);
  ASSERT_EQ(second.cols(), 2);
  EXPECT_EQ(second(2, 0), 9.0F);
  EXPECT_EQ(second(0, 1), 10.0F);
}

TEST_F(ConvertTest, PicturesMayBeFollowedByTheirViews) {
  Write<float>("a.npy", {1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(Run("a.npy", "a.bpf", {.images_per_picture = 2}).written, 4U);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder_ / "a.bpf");
  EXPECT_EQ(file.pictures(), 2);
  EXPECT_EQ(file.images_per_picture(), 2);
  EXPECT_EQ(file.name(2), "1");
  EXPECT_EQ(file.name(3), "1#1");
  const auto refuses = [&](Index images, const char* in, const char* out, const char* why) {
    ExpectError(ErrorCode::kInvalidArgument, {in, why},
                [&] { Run(in, out, {.images_per_picture = images}); });
  };
  refuses(3, "a.npy", "b.bpf", "4 images, expected a multiple of the 3");
  refuses(0, "a.npy", "b.bpf", "expected 1 or more");
  refuses(2, "a.npy", "b.npy", "more than 1 only where");
  refuses(2, "a.bpf", "b.npy", "more than 1 only where");
}

TEST_F(ConvertTest, RaggedSetsGoBothWays) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  Write<float>("a.npy", {2}, values);
  Write<int64_t>("n.npy", {}, {3, 0, 1});
  EXPECT_EQ(Run("a.npy", "a.bpf", {.counts = "n.npy"}).written, 3U);
  EXPECT_EQ(Run("a.bpf", "b.fvecs", {.counts = "m.npy"}).written, 4U);
  EXPECT_EQ(ReadBack<float>("b.fvecs"), values);
  EXPECT_EQ(ReadBack<int64_t>("m.npy"), (std::vector<int64_t>{3, 0, 1}));
}

TEST_F(ConvertTest, CountsMustFit) {
  Write<float>("a.npy", {2}, {1, 2, 3, 4});
  Write<int64_t>("n.npy", {}, {3});
  ExpectError(ErrorCode::kInvalidArgument, {"n.npy", "more than the 2 rows"},
              [&] { Run("a.npy", "a.bpf", {.counts = "n.npy"}); });
  Write<int64_t>("n.npy", {}, {1});
  ExpectError(ErrorCode::kInvalidArgument, {"n.npy", "counts 1 rows"},
              [&] { Run("a.npy", "a.bpf", {.counts = "n.npy"}); });
  Write<int64_t>("n.npy", {}, {-1, 3});
  ExpectError(ErrorCode::kCorrupt, {"n.npy"}, [&] { Run("a.npy", "a.bpf", {.counts = "n.npy"}); });
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "--counts"}, [&] { Run("a.npy", "a.bpf"); });
}

TEST_F(ConvertTest, AFolderBecomesAFeatureSetAndBadFilesAreReported) {
  Env::Posix().MakeFolders(folder_ / "d");
  Write<uint8_t>("d/b.bvecs", {2}, {1, 2});
  Write<uint8_t>("d/a.bvecs", {2}, {3, 4, 5, 6});
  Write<uint8_t>("d/c.bvecs", {3}, {1, 2, 3});
  WriteFile(Env::Posix(), folder_ / "d/damaged.fvecs", testing::ToBytes("xyz"), IfExists::kFail);
  WriteFile(Env::Posix(), folder_ / "d/notes.txt", testing::ToBytes("xyz"), IfExists::kFail);
  const ConvertReport report = Run("d", "d.bpf");
  EXPECT_EQ(report.written, 2U);
  ASSERT_EQ(report.failures.size(), 2U);
  EXPECT_NE(report.failures[0].find("c.bvecs"), std::string::npos);
  EXPECT_NE(report.failures[1].find("damaged.fvecs"), std::string::npos);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder_ / "d.bpf");
  ASSERT_EQ(file.size(), 2);
  EXPECT_EQ(file.name(0), "a.bvecs");
  EXPECT_EQ(file.descriptor_count(0), 2);
}

TEST_F(ConvertTest, AnEmptyFileOfAFolderIsAnImageWithoutDescriptors) {
  Env::Posix().MakeFolders(folder_ / "d");
  WriteFile(Env::Posix(), folder_ / "d/plain.siftgeo", {}, IfExists::kFail);
  EXPECT_EQ(Run("d", "d.bpf").written, 1U);
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder_ / "d.bpf");
  ASSERT_EQ(file.size(), 1);
  EXPECT_EQ(file.descriptor_count(0), 0);
  EXPECT_EQ(file.dimension(), 128);
}

TEST_F(ConvertTest, WhatCannotBeConvertedSaysWhy) {
  Write<float>("a.npy", {2, 2}, {1, 2, 3, 4});
  Run("a.npy", "a.bpf");
  ExpectError(ErrorCode::kInvalidArgument, {"already"}, [&] { Run("a.bpf", "b.bpf"); });
  ExpectError(ErrorCode::kUnsupported, {"a.txt", ".npy"}, [&] { Run("a.npy", "a.txt"); });
  ExpectError(ErrorCode::kInvalidArgument, {"f2 or f4"},
              [&] { Run("a.npy", "b.bpf", {.dtype = DType::kI4}); });
  ExpectError(ErrorCode::kNotFound, {"missing.npy"}, [&] { Run("missing.npy", "b.fvecs"); });
  Env::Posix().MakeFolders(folder_ / "empty");
  ExpectError(ErrorCode::kNotFound, {"empty", "no readable file"}, [&] { Run("empty", "b.bpf"); });
}

TEST_F(ConvertTest, AStopLeavesNothing) {
  Write<float>("a.npy", {1}, {1});
  std::stop_source source;
  source.request_stop();
  ExpectError(ErrorCode::kCancelled, {}, [&] {
    Convert(Env::Posix(), folder_ / "a.npy", folder_ / "b.npy", {},
            RunContext({.stop = source.get_token()}));
  });
  EXPECT_EQ(Env::Posix().List(folder_.path()), std::vector<std::string>{"a.npy"});
}

}  // namespace
}  // namespace bitpool
