#include "bitpool/dataset/cifar_pictures.h"

#include <png.h>

#include "bitpool/io/cifar.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;

// A PNG of rows × 1024 pixels whose colours are made from their place.
std::string MakePng(uint32_t width, uint32_t rows) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = rows;
  image.format = PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(image));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 31 + i / 3072);
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string bytes(size, '\0');
  png_image_write_to_memory(&image, bytes.data(), &size, 0, pixels.data(), 0, nullptr);
  bytes.resize(size);
  return bytes;
}

TEST(CifarPictures, RowsBecomePlanes) {
  const std::vector<int> labels = {7, 2};
  const auto png = testing::View(MakePng(1024, 2));
  const CifarBatch batch =
      ParseCifar(FileView::FromBytes("batch", CifarBatchFromPng(*png, labels)));
  EXPECT_EQ(batch.labels.ReadAll<int32_t>(), (std::vector<int32_t>{7, 2}));
  const std::vector<uint8_t> pixels = batch.pictures.ReadAll<uint8_t>();
  for (size_t picture = 0; picture < 2; ++picture) {
    for (size_t channel = 0; channel < 3; ++channel) {
      for (size_t pixel = 0; pixel < 1024; ++pixel) {
        const size_t i = (picture * 1024 + pixel) * 3 + channel;
        ASSERT_EQ(pixels[picture * 3072 + channel * 1024 + pixel],
                  static_cast<uint8_t>(i * 31 + i / 3072));
      }
    }
  }
}

TEST(CifarPictures, OtherPicturesAreCorrupt) {
  const std::vector<int> labels = {7, 2};
  ExpectError(ErrorCode::kCorrupt, {"test", "1000×2", "1024×2"},
              [&] { CifarBatchFromPng(*testing::View(MakePng(1000, 2)), labels); });
  ExpectError(ErrorCode::kCorrupt, {"1024×3"},
              [&] { CifarBatchFromPng(*testing::View(MakePng(1024, 3)), labels); });
  ExpectError(ErrorCode::kCorrupt, {"test"},
              [&] { CifarBatchFromPng(*testing::View("no picture"), labels); });
  const std::string good = MakePng(1024, 2);
  ExpectError(ErrorCode::kCorrupt, {"test"},
              [&] { CifarBatchFromPng(*testing::View(good.substr(0, good.size() / 2)), labels); });
}

}  // namespace
}  // namespace bitpool
