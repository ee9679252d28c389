#include "bitpool/dataset/inspect.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "bitpool/dataset/feature_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

class InspectTest : public ::testing::Test {
 protected:
  void WriteFeatures() {
    FeatureFileWriter writer(Env::Posix(), folder_ / "a.bpf", 3, Precision::kHalf, IfExists::kFail);
    writer.Append("one", MatrixF::Ones(3, 4));
    writer.Append("two", MatrixF::Ones(3, 1));
    writer.Commit({{"extractor", "test"}});
  }
  void WriteVectors(const std::string& name, const std::vector<float>& values) {
    const auto writer =
        CreateSamples(Env::Posix(), folder_ / name, DType::kF4, {2}, IfExists::kFail);
    writer->Append<float>(values);
    writer->Commit();
  }
  const RunContext context_ = RunContext({.threads = 2});
  const TempFolder folder_;
};

TEST_F(InspectTest, FeatureSets) {
  WriteFeatures();
  const nlohmann::json found = InspectFile(Env::Posix(), folder_ / "a.bpf");
  EXPECT_EQ(found["kind"], "features");
  EXPECT_EQ(found["images"], 2);
  EXPECT_EQ(found["descriptors"], 5);
  EXPECT_EQ(found["dimension"], 3);
  EXPECT_EQ(found["descriptors_per_image"],
            (nlohmann::json{{"min", 1}, {"mean", 2.5}, {"max", 4}}));
  EXPECT_EQ(found["metadata"]["extractor"], "test");
  EXPECT_EQ(found["sections"][0]["name"], "descriptors");
  EXPECT_EQ(found["sections"][0]["dims"], (nlohmann::json{5, 3}));
  EXPECT_EQ(found["bytes"], std::filesystem::file_size(folder_ / "a.bpf"));
}

TEST_F(InspectTest, VectorsByNameAndContainersByContent) {
  WriteVectors("a.fvecs", {1, 2, 3, 4});
  const nlohmann::json found = InspectFile(Env::Posix(), folder_ / "a.fvecs");
  EXPECT_EQ(found["format"], "fvecs");
  EXPECT_EQ(found["dtype"], "f4");
  EXPECT_EQ(found["count"], 2);
  EXPECT_EQ(found["sample_shape"], nlohmann::json{2});
  WriteFeatures();
  std::filesystem::rename(folder_ / "a.bpf", folder_ / "renamed");
  EXPECT_EQ(InspectFile(Env::Posix(), folder_ / "renamed")["kind"], "features");
}

TEST_F(InspectTest, VerifyReadsEverything) {
  WriteVectors("good.fvecs", {1, 2, 3, 4});
  VerifyFile(Env::Posix(), folder_ / "good.fvecs", context_);
  WriteVectors("bad.fvecs", {1, 2, 3, std::numeric_limits<float>::quiet_NaN()});
  InspectFile(Env::Posix(), folder_ / "bad.fvecs");
  ExpectError(ErrorCode::kCorrupt, {"bad.fvecs", "offset 20"},
              [&] { VerifyFile(Env::Posix(), folder_ / "bad.fvecs", context_); });

  WriteFeatures();
  VerifyFile(Env::Posix(), folder_ / "a.bpf", context_);
  std::string bytes = testing::ToString(Env::Posix().Map(folder_ / "a.bpf")->bytes());
  bytes[70] ^= 1;
  WriteFile(Env::Posix(), folder_ / "a.bpf", testing::ToBytes(bytes), IfExists::kReplace);
  ExpectError(ErrorCode::kCorrupt, {"a.bpf", "\"descriptors\""},
              [&] { VerifyFile(Env::Posix(), folder_ / "a.bpf", context_); });
}

TEST_F(InspectTest, UnknownAndMissingFiles) {
  WriteFile(Env::Posix(), folder_ / "a.txt", testing::ToBytes("hello"), IfExists::kFail);
  ExpectError(ErrorCode::kUnsupported, {"a.txt"},
              [&] { InspectFile(Env::Posix(), folder_ / "a.txt"); });
  ExpectError(ErrorCode::kNotFound, {"none"}, [&] { InspectFile(Env::Posix(), folder_ / "none"); });
}

}  // namespace
}  // namespace bitpool
