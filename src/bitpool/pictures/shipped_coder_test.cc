#include "bitpool/pictures/shipped_coder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bitpool/codes/binary_codes.h"
#include "bitpool/image/edits/picture_edits.h"
#include "bitpool/image/picture_sketch.h"
#include "bitpool/image/thumbnail.h"
#include "bitpool/io/checksum.h"
#include "bitpool/io/testing.h"
#include "bitpool/pictures/picture_testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::SpottedPicture;

int CodeDistance(const PictureCode& a, const PictureCode& b) {
  return HammingDistance(a.code, b.code);
}

TEST(ShippedCoder, HasTheBitsItSays) {
  EXPECT_EQ(ShippedCoder().bits(), kShippedBits);
  EXPECT_EQ(&ShippedCoder(), &ShippedCoder());
}

// Copies are near and strangers are far.
TEST(ShippedCoder, TellsCopiesFromStrangers) {
  const PictureCoder& coder = ShippedCoder();
  const Picture picture = SpottedPicture(320, 240, 1);
  const PictureCode code = coder.Encode(EncodeJpeg(picture, 90));
  for (const PictureEdit edit :
       {PictureEdit::kHalfSize, PictureEdit::kStrongJpeg, PictureEdit::kGrey, PictureEdit::kSquare,
        PictureEdit::kWideBorder}) {
    const PictureCode copy = coder.Encode(EncodeJpeg(ApplyEdit(edit, picture), 90));
    EXPECT_LE(CodeDistance(copy, code), 12) << NameOf(edit);
  }
  for (const uint64_t seed : {2, 3, 4}) {
    EXPECT_GT(CodeDistance(coder.Encode(EncodeJpeg(SpottedPicture(320, 240, seed), 90)), code), 16);
  }
}

TEST(EncodeMirrored, IsNearToTheCodeOfTheMirroredPicture) {
  const PictureCoder& coder = ShippedCoder();
  const Picture picture = SpottedPicture(320, 240, 5);
  const std::vector<std::byte> bytes = EncodeJpeg(picture, 95);
  const PictureCode mirrored = coder.Encode(EncodeJpeg(Mirrored(picture), 95));
  EXPECT_LE(CodeDistance(coder.EncodeMirrored(bytes), mirrored), 4);
  EXPECT_GT(CodeDistance(coder.Encode(bytes), mirrored), 12);
  EXPECT_EQ(coder.EncodeMirrored(bytes).facts.width, 320);
}

// A coder that learns from views: its codes of the pictures it learned from are those that it gives
// to their bytes, and its file says what it learned from.
TEST(TrainCoder, LearnsFromViews) {
  const testing::TempFolder folder;
  std::vector<std::filesystem::path> paths;
  for (uint64_t i = 0; i < 12; ++i) {
    paths.push_back(folder / (std::to_string(i) + ".jpg"));
    testing::WriteBytes(paths.back(), testing::SpottedJpeg(i));
  }
  CoderTraining training = TrainingLikeShipped(ViewKind::kCopies, 16);
  training.embedding.anchors = 2;
  training.views.count = 2;
  const RunContext context({.threads = 2, .seed = 1});
  const TrainedCoder trained =
      TrainCoder(Env::Posix(), training, paths, folder / "scratch", context);
  EXPECT_EQ(trained.codes.size(), 12U);
  const std::vector<std::byte> bytes = testing::SpottedJpeg(3);
  EXPECT_EQ(trained.codes.at(Checksum(bytes)).code, trained.coder.Encode(bytes).code);
  const nlohmann::json& story = trained.coder.model().training;
  EXPECT_EQ(story.at("pictures"), 12);
  EXPECT_EQ(story.at("views").at("count"), 2);
  EXPECT_EQ(story.at("views").at("kind"), "copies");
  // Other views, another coder.
  training.views.seed = 7;
  EXPECT_NE(TrainCoder(Env::Posix(), training, paths, folder / "scratch", context).coder.digest(),
            trained.coder.digest());
}

TEST(TrainingLikeShipped, IsThereForCopiesAndScenes) {
  for (const ViewKind kind : {ViewKind::kCopies, ViewKind::kScenes}) {
    const CoderTraining training = TrainingLikeShipped(kind, 32);
    EXPECT_NO_THROW(training.Validate());
    EXPECT_EQ(training.views.kind, kind);
    EXPECT_EQ(training.hash.bits, 32);
  }
  ExpectError(ErrorCode::kInvalidArgument, {"copies or scenes", "classes"},
              [] { TrainingLikeShipped(ViewKind::kClasses, 64); });
}

}  // namespace
}  // namespace bitpool
