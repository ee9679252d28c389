#include "bitpool/training/encoded_file.h"

#include <gtest/gtest.h>

#include "bitpool/dataset/vector_file.h"
#include "bitpool/hash/sah.h"
#include "bitpool/index/code_files.h"
#include "bitpool/io/testing.h"
#include "bitpool/linalg/testing.h"
#include "bitpool/training/testing.h"

namespace bitpool {
namespace {

using testing::TempFolder;

MatrixF ReadNumbers(const std::filesystem::path& path) {
  const VectorFile file(OpenSamples(Env::Posix(), path));
  MatrixF buffer;
  return file.Read(0, file.size(), buffer);
}

// On every path from images to files the signs of the numbers are the codes, for more images than
// are encoded at once and one that fails.
TEST(EncodedFile, TheSignsOfTheNumbersAreTheCodes) {
  const TempFolder folder;
  const MemoryFeatureSet some = SmallScenes(80, 10, 8, 1);
  const HashModel model = TrainSah({.bits = 12, .iterations = 1}, some, RunContext()).model;
  MemoryFeatureSet images(10);
  MatrixF descriptors;
  for (Index i = 0; i < 4500; ++i) {
    some.Read(i % 80, descriptors);
    if (i == 4200) descriptors.resize(10, 0);
    images.Add("image", descriptors);
  }
  const auto write = [&](const char* name, EncodedContent content) {
    EncodedFileWriter writer(Env::Posix(), folder / name, 12, content, IfExists::kFail);
    std::vector<FailedImage> failed;
    EncodeImages(model, images, RunContext(), [&](Index first, const EncodedImages& encoded) {
      EXPECT_EQ(first, writer.size());
      writer.Append(encoded);
      failed.insert(failed.end(), encoded.failed.begin(), encoded.failed.end());
    });
    ASSERT_EQ(failed.size(), 1U);
    EXPECT_EQ(failed[0].image, 4200);
    writer.Commit();
  };
  write("codes.npy", EncodedContent::kCodes);
  write("numbers.npy", EncodedContent::kProjections);
  const BinaryCodes codes = LoadCodes(Env::Posix(), folder / "codes.npy", 12);
  const MatrixF numbers = ReadNumbers(folder / "numbers.npy");
  ASSERT_EQ(codes.size(), 4500);
  ASSERT_EQ(numbers.cols(), 4500);
  const BinaryCodes signs = BinaryCodes::FromSigns(numbers);
  for (Index i = 0; i < 4500; ++i) {
    if (i == 4200) continue;
    EXPECT_EQ(codes.ToHex(i), signs.ToHex(i)) << i;
  }
  EXPECT_EQ(codes.ToHex(4200), "0000");
  EXPECT_EQ(numbers.col(4200).norm(), 0);
  const EncodedImages at_once = EncodeImages(model, images, RunContext({.threads = 3}));
  EXPECT_TRUE(SameBits(at_once.projections, numbers));
  EXPECT_TRUE(std::ranges::equal(at_once.codes.rows(), codes.rows()));
}

TEST(EncodedFile, LeavesNothingThatIsNotCommitted) {
  const TempFolder folder;
  for (const EncodedContent content : {EncodedContent::kCodes, EncodedContent::kProjections}) {
    EncodedFileWriter writer(Env::Posix(), folder / "file.npy", 2, content, IfExists::kFail);
    writer.Append(EncodedVectors{.codes = BinaryCodes(2, {1}), .projections = MatrixF::Ones(2, 1)});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace bitpool
