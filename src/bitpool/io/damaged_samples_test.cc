#include "bitpool/io/cifar.h"
#include "bitpool/io/damaged_files.h"
#include "bitpool/io/idx.h"
#include "bitpool/io/npy.h"
#include "bitpool/io/siftgeo.h"
#include "bitpool/io/testing.h"
#include "bitpool/io/vecs.h"

// Files of vectors have no checksums: a damaged one that still is such a file must be read as one
// that fits into its bytes.
namespace bitpool {
namespace {

using testing::ExpectNoHarm;
using testing::Pack;
using testing::View;

void ReadAll(const SampleFile& file, size_t bytes) {
  EXPECT_LE(file.count() * file.sample_bytes(), bytes);
  std::vector<std::byte> raw(file.sample_bytes());
  std::vector<float> floats(file.dimension());
  for (uint64_t i = 0; i < file.count(); ++i) {
    file.Read(i, 1, file.dtype(), raw);
    file.Read<float>(i, 1, std::span(floats));
  }
}

// The reader of each format, under the name that its errors have to show.
void Damage(const std::string& good,
            const std::function<SampleFile(const std::shared_ptr<const FileView>&)>& parse) {
  ExpectNoHarm(good, "vectors.x", [&](const std::string& bytes) {
    ReadAll(parse(View(bytes, "vectors.x")), bytes.size());
  });
}

TEST(DamagedSamples, Npy) {
  const std::vector<uint64_t> shape = {3, 2};
  Damage(NpyHeader(DType::kF4, shape) + Pack(1.F, 2.F, 3.F, 4.F, 5.F, 6.F), ParseNpy);
  Damage(NpyHeader(DType::kF8, std::vector<uint64_t>{2}) + Pack(1.0, 2.0), ParseNpy);
}

TEST(DamagedSamples, Vecs) {
  const auto vecs = [](DType dtype) {
    return [dtype](const std::shared_ptr<const FileView>& view) { return ParseVecs(view, dtype); };
  };
  Damage(Pack(int32_t{2}, 1.F, 2.F, int32_t{2}, 3.F, 4.F), vecs(DType::kF4));
  Damage(Pack(int32_t{3}, uint8_t{1}, uint8_t{2}, uint8_t{3}), vecs(DType::kU1));
  Damage(Pack(int32_t{1}, int32_t{7}, int32_t{1}, int32_t{-1}), vecs(DType::kI4));
}

TEST(DamagedSamples, Siftgeo) {
  Damage(std::string(36, '\0') + Pack(int32_t{128}) + std::string(128, '\x11'), ParseSiftgeo);
}

TEST(DamagedSamples, Idx) {
  const std::string magic("\0\0\x08\x03\0\0\0\x02\0\0\0\x03\0\0\0\x02", 16);
  Damage(magic + "abcdefghijkl", ParseIdx);
}

TEST(DamagedSamples, Cifar) {
  const std::string good = '\x09' + std::string(3072, '\x80');
  ExpectNoHarm(
      good, "batch.bin",
      [](const std::string& bytes) {
        const CifarBatch batch = ParseCifar(View(bytes, "batch.bin"));
        ReadAll(batch.pictures, bytes.size());
        ReadAll(batch.labels, bytes.size());
      },
      17);
}

}  // namespace
}  // namespace bitpool
