#include "bitpool/dataset/feature_file.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "bitpool/base/random.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;
using testing::ToString;
using testing::View;

// Numbers that half precision holds exactly.
MatrixF Eighths(Index rows, Index cols) {
  MatrixF matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i)
    matrix.data()[i] = static_cast<float>(i * 7 % 31 - 15) / 8;
  return matrix;
}

// Three images, one without descriptors, with names that are not easy.
std::vector<std::pair<std::string, MatrixF>> SmallSet() {
  return {{"holiday one.jpg", Eighths(5, 4)},
          {"", MatrixF(5, 0)},
          {"\xff\n\"quote\".png", Eighths(5, 1)}};
}

void WriteSmall(const std::filesystem::path& path, Precision precision) {
  FeatureFileWriter writer(Env::Posix(), path, 5, precision, IfExists::kFail);
  for (const auto& [name, descriptors] : SmallSet()) writer.Append(name, descriptors);
  writer.Commit({{"extractor", "test"}});
}

void ExpectSmallSet(const FeatureFile& file, Precision precision) {
  const auto expected = SmallSet();
  ASSERT_EQ(file.size(), 3);
  EXPECT_EQ(file.dimension(), 5);
  EXPECT_EQ(file.precision(), precision);
  EXPECT_EQ(file.about(), (nlohmann::json{{"extractor", "test"}}));
  MatrixF read;
  for (Index image : {2, 0, 1}) {
    const auto& [name, descriptors] = expected[static_cast<size_t>(image)];
    EXPECT_EQ(file.name(image), name);
    EXPECT_EQ(file.descriptor_count(image), descriptors.cols());
    file.Read(image, read);
    EXPECT_EQ(read, descriptors);
  }
}

class FeatureFileTest : public ::testing::TestWithParam<Precision> {};

TEST_P(FeatureFileTest, RoundTrips) {
  const TempFolder folder;
  WriteSmall(folder / "a.bpf", GetParam());
  ExpectSmallSet(FeatureFile::Open(Env::Posix(), folder / "a.bpf"), GetParam());
}

TEST_P(FeatureFileTest, EveryDamageIsRejected) {
  const TempFolder folder;
  WriteSmall(folder / "a.bpf", GetParam());
  const std::string bytes = ToString(Env::Posix().Map(folder / "a.bpf")->bytes());
  testing::ExpectEveryDamageIsRejected(bytes, [](const std::shared_ptr<const FileView>& view) {
    const FeatureFile file = FeatureFile::Parse(Container::Parse(view));
    MatrixF read;
    for (Index image = 0; image < file.size(); ++image) file.Read(image, read);
  });
}

TEST_P(FeatureFileTest, AFileOfVersion1StaysReadable) {
  const bool half = GetParam() == Precision::kHalf;
  const auto golden = std::filesystem::path(BITPOOL_SOURCE_DIR) / "tests/golden" /
                      (half ? "features-half.bpf" : "features-single.bpf");
  ExpectSmallSet(FeatureFile::Open(Env::Posix(), golden), GetParam());
  // And what is written today is the same to the byte, or the version would have to change.
  const TempFolder folder;
  WriteSmall(folder / "a.bpf", GetParam());
  EXPECT_EQ(ToString(Env::Posix().Map(folder / "a.bpf")->bytes()),
            ToString(Env::Posix().Map(golden)->bytes()));
}

TEST(FeatureFile, HalfPrecisionRoundsToThreeDigits) {
  const TempFolder folder;
  const MatrixF descriptors = Random(3).NormalMatrix(5, 40);
  FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 5, Precision::kHalf, IfExists::kFail);
  writer.Append("a", descriptors);
  writer.Commit({});
  MatrixF read;
  FeatureFile::Open(Env::Posix(), folder / "a.bpf").Read(0, read);
  EXPECT_TRUE(((read - descriptors).array().abs() <= 5e-4F * descriptors.array().abs()).all());
  EXPECT_NE(read, descriptors);
}

INSTANTIATE_TEST_SUITE_P(Precisions, FeatureFileTest,
                         ::testing::Values(Precision::kHalf, Precision::kSingle));

TEST(FeatureFile, BlocksOfALargerMatrixAreWrittenRight) {
  const TempFolder folder;
  const MatrixF large = Random(4).NormalMatrix(8, 6);
  FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 3, Precision::kSingle, IfExists::kFail);
  writer.Append("block", large.block(2, 1, 3, 4));
  writer.Commit({});
  MatrixF read;
  FeatureFile::Open(Env::Posix(), folder / "a.bpf").Read(0, read);
  EXPECT_EQ(read, large.block(2, 1, 3, 4));
}

TEST(FeatureFile, EmptySetsAreFine) {
  const TempFolder folder;
  FeatureFileWriter(Env::Posix(), folder / "a.bpf", 3, Precision::kHalf, IfExists::kFail)
      .Commit({});
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder / "a.bpf");
  EXPECT_EQ(file.size(), 0);
  EXPECT_EQ(file.dimension(), 3);
}

TEST(FeatureFile, ABadImageIsNamedAndTheNextGoesOn) {
  const TempFolder folder;
  FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 2, Precision::kHalf, IfExists::kFail);
  writer.Append("good.jpg", MatrixF::Constant(2, 1, 1.0F));
  ExpectError(ErrorCode::kInvalidArgument, {"\"large.jpg\"", "65504"},
              [&] { writer.Append("large.jpg", MatrixF::Constant(2, 1, 1e5F)); });
  ExpectError(ErrorCode::kInvalidArgument, {"\"nan.jpg\""}, [&] {
    writer.Append("nan.jpg", MatrixF::Constant(2, 1, std::numeric_limits<float>::quiet_NaN()));
  });
  ExpectError(ErrorCode::kInvalidArgument, {"\"wide.jpg\"", "expected 2"},
              [&] { writer.Append("wide.jpg", MatrixF::Constant(3, 1, 1.0F)); });
  writer.Append("last.jpg", MatrixF::Constant(2, 3, 2.0F));
  writer.Commit({});
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder / "a.bpf");
  ASSERT_EQ(file.size(), 2);
  EXPECT_EQ(file.name(1), "last.jpg");
  MatrixF read;
  file.Read(1, read);
  EXPECT_EQ(read, MatrixF::Constant(2, 3, 2.0F));
}

// Two pictures with two views each, names and numbers of their own.
void WriteViews(const std::filesystem::path& path) {
  FeatureFileWriter writer(Env::Posix(), path, 2, Precision::kSingle, IfExists::kFail, 3);
  for (Index image = 0; image < 6; ++image) {
    writer.Append("image" + std::to_string(image),
                  MatrixF::Constant(2, 1 + image, static_cast<float>(image)));
  }
  writer.Commit({});
}

TEST(FeatureFile, ViewsComeBack) {
  const TempFolder folder;
  WriteViews(folder / "a.bpf");
  const FeatureFile file = FeatureFile::Open(Env::Posix(), folder / "a.bpf");
  EXPECT_EQ(file.images_per_picture(), 3);
  EXPECT_EQ(file.pictures(), 2);
  ASSERT_EQ(file.size(), 6);
  MatrixF read;
  file.Read(4, read);
  EXPECT_EQ(file.name(4), "image4");
  EXPECT_EQ(read, MatrixF::Constant(2, 5, 4.0F));
}

TEST(FeatureFile, EveryDamageOfAFileWithViewsIsRejected) {
  const TempFolder folder;
  WriteViews(folder / "a.bpf");
  const std::string bytes = ToString(Env::Posix().Map(folder / "a.bpf")->bytes());
  testing::ExpectEveryDamageIsRejected(bytes, [](const std::shared_ptr<const FileView>& view) {
    const FeatureFile file = FeatureFile::Parse(Container::Parse(view));
    MatrixF read;
    for (Index image = 0; image < file.size(); ++image) file.Read(image, read);
  });
}

TEST(FeatureFile, WithoutViewsThereIsNothingAboutThem) {
  const TempFolder folder;
  for (const Precision precision : {Precision::kHalf, Precision::kSingle}) {
    const auto golden =
        std::filesystem::path(BITPOOL_SOURCE_DIR) / "tests/golden" /
        (precision == Precision::kHalf ? "features-half.bpf" : "features-single.bpf");
    const FeatureFile file = FeatureFile::Open(Env::Posix(), golden);
    EXPECT_EQ(file.images_per_picture(), 1);
    EXPECT_EQ(file.pictures(), 3);
  }
  FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 2, Precision::kHalf, IfExists::kFail, 1);
  writer.Append("a", MatrixF::Ones(2, 1));
  writer.Commit({});
  EXPECT_FALSE(Container::Open(Env::Posix(), folder / "a.bpf").Has("images_per_picture"));
  // A set with views knows of them even when it is empty.
  FeatureFileWriter(Env::Posix(), folder / "b.bpf", 2, Precision::kHalf, IfExists::kFail, 9)
      .Commit({});
  const FeatureFile empty = FeatureFile::Open(Env::Posix(), folder / "b.bpf");
  EXPECT_EQ(empty.images_per_picture(), 9);
  EXPECT_EQ(empty.pictures(), 0);
}

TEST(FeatureFile, EveryPictureHasAllOfItsViews) {
  const TempFolder folder;
  FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 2, Precision::kHalf, IfExists::kFail, 3);
  for (int image = 0; image < 4; ++image) writer.Append("a", MatrixF::Ones(2, 1));
  ExpectError(ErrorCode::kInternal, {"4 images", "3 of each picture"}, [&] { writer.Commit({}); });
  EXPECT_FALSE(Env::Posix().Exists(folder / "a.bpf"));
  for (const Index bad : {Index{0}, Index{-1}}) {
    ExpectError(ErrorCode::kInvalidArgument, {"b.bpf", std::to_string(bad) + " images per picture"},
                [&] {
                  FeatureFileWriter(Env::Posix(), folder / "b.bpf", 2, Precision::kHalf,
                                    IfExists::kFail, bad);
                });
  }
}

TEST(FeatureFile, PicturesAreWhatIsNoView) {
  const TempFolder folder;
  {
    FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 1, Precision::kSingle, IfExists::kFail,
                             3);
    for (int i = 0; i < 6; ++i) {
      writer.Append("image" + std::to_string(i), MatrixF::Constant(1, 2, static_cast<float>(i)));
    }
    writer.Commit({});
  }
  const auto pictures = OpenPictures(Env::Posix(), folder / "a.bpf");
  ASSERT_EQ(pictures->size(), 2);
  EXPECT_EQ(pictures->images_per_picture(), 1);
  EXPECT_EQ(pictures->name(1), "image3");
  MatrixF read;
  pictures->Read(1, read);
  EXPECT_EQ(read, MatrixF::Constant(1, 2, 3.0F));
}

TEST(FeatureFile, ADamagedImageStopsWithItsName) {
  const TempFolder folder;
  {
    FeatureFileWriter writer(Env::Posix(), folder / "a.bpf", 256, Precision::kSingle,
                             IfExists::kFail);
    for (int i = 0; i < 4; ++i)
      writer.Append("image" + std::to_string(i), MatrixF::Constant(256, 2048, 1.0F));
    writer.Commit({});
  }
  std::string bytes = ToString(Env::Posix().Map(folder / "a.bpf")->bytes());
  bytes[64 + 5 * (size_t{1} << 20)] ^=
      1;  // images have two blocks of 1 MiB each: this is the third
  const FeatureFile file = FeatureFile::Parse(Container::Parse(View(bytes, "a.bpf")));
  MatrixF read;
  for (const Index image : {0, 1, 3}) file.Read(image, read);
  ExpectError(ErrorCode::kCorrupt, {"a.bpf", "section \"descriptors\"", "image 2, \"image2\""},
              [&] { file.Read(2, read); });
}

// A container whose sections are well-formed but do not fit together. Without `per_picture` it has
// no section about views.
std::string Inconsistent(uint64_t dimension, const std::vector<uint64_t>& ends,
                         const std::vector<uint64_t>& name_ends,
                         const std::vector<uint64_t>& per_picture = {}) {
  const TempFolder folder;
  ContainerWriter writer(Env::Posix(), folder / "a", "features", IfExists::kFail);
  const std::vector<float> values(dimension == 0 ? 0 : 12, 1.0F);
  writer.Add<float>("descriptors", {dimension == 0 ? 12 : 12 / dimension, dimension}, values);
  writer.Add<uint64_t>("descriptor_ends", {ends.size()}, ends);
  writer.Add<uint64_t>("name_ends", {name_ends.size()}, name_ends);
  writer.Add("names", DType::kU1, {4}, testing::ToBytes("abcd"));
  if (!per_picture.empty()) {
    writer.Add<uint64_t>("images_per_picture", {per_picture.size()}, per_picture);
  }
  writer.Commit({});
  return ToString(Env::Posix().Map(folder / "a")->bytes());
}

TEST(FeatureFile, SectionsThatDoNotFitTogetherAreCorrupt) {
  const auto parse = [](const std::string& bytes) {
    FeatureFile::Parse(Container::Parse(View(bytes)));
  };
  parse(Inconsistent(3, {1, 4}, {2, 4}));
  const uint64_t huge = ~uint64_t{0};
  ExpectError(ErrorCode::kCorrupt, {"descriptor_ends"}, [&] {
    parse(Inconsistent(3, {1, 5}, {2, 4}));
  });
  ExpectError(ErrorCode::kCorrupt, {"descriptor_ends"}, [&] {
    parse(Inconsistent(3, {1, 3}, {2, 4}));
  });
  ExpectError(ErrorCode::kCorrupt, {"descriptor_ends"}, [&] {
    parse(Inconsistent(3, {5, 4}, {2, 4}));
  });
  ExpectError(ErrorCode::kCorrupt, {"descriptor_ends"}, [&] {
    parse(Inconsistent(3, {huge, 4}, {2, 4}));
  });
  ExpectError(ErrorCode::kCorrupt, {"name_ends"}, [&] { parse(Inconsistent(3, {1, 4}, {2, 5})); });
  ExpectError(ErrorCode::kCorrupt, {"name_ends", "3 names for 2"}, [&] {
    parse(Inconsistent(3, {1, 4}, {1, 2, 4}));
  });
  ExpectError(ErrorCode::kCorrupt, {"dimension 0"}, [&] {
    parse(Inconsistent(0, {1, 12}, {2, 4}));
  });
  for (const uint64_t fits : {1, 2}) parse(Inconsistent(3, {1, 4}, {2, 4}, {fits}));
  const std::vector<std::vector<uint64_t>> misfits = {{0}, {3}, {4}, {huge}, {1, 1}};
  for (const std::vector<uint64_t>& per_picture : misfits) {
    ExpectError(ErrorCode::kCorrupt, {"images_per_picture", "divides 2 images"}, [&] {
      parse(Inconsistent(3, {1, 4}, {2, 4}, per_picture));
    });
  }
}

}  // namespace
}  // namespace bitpool
