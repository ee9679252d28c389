#include "bitpool/io/sample_formats.h"

#include "bitpool/io/container.h"
#include "bitpool/io/faulty_env.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

template <class T>
void Write(const std::filesystem::path& path, const std::vector<uint64_t>& shape,
           const std::vector<T>& values) {
  const auto writer = CreateSamples(Env::Posix(), path, DTypeOf<T>(), shape, IfExists::kFail);
  const size_t half = values.size() / 2;
  writer->template Append<T>(std::span(values).first(half));
  writer->template Append<T>(std::span(values).subspan(half));
  writer->Commit();
}

template <class T>
void RoundTrip(const std::string& name, const std::vector<uint64_t>& shape,
               const std::vector<T>& values) {
  const TempFolder folder;
  Write(folder / name, shape, values);
  const SampleFile file = OpenSamples(Env::Posix(), folder / name);
  EXPECT_EQ(file.dtype(), DTypeOf<T>());
  EXPECT_EQ(file.sample_shape(), shape);
  EXPECT_EQ(file.ReadAll<T>(), values) << name;
  EXPECT_EQ(Env::Posix().List(folder.path()).size(), 1U);
}

TEST(SampleFormats, EveryFormatRoundTrips) {
  RoundTrip<float>("a.npy", {2}, {1, 2, 3, 4});
  RoundTrip<double>("a.npy", {}, {1, 2, 3, 4});
  RoundTrip<int64_t>("a.npy", {1, 2}, {1, -2, 3, int64_t{1} << 60});
  RoundTrip<uint8_t>("a.npy", {2}, {1, 2, 3, 4});
  RoundTrip<float>("a.fvecs", {2}, {1, 2, 3, 4});
  RoundTrip<uint8_t>("a.bvecs", {2}, {1, 2, 3, 4});
  RoundTrip<int32_t>("a.ivecs", {2}, {1, 2, -3, 4});
  RoundTrip<float>("a.bpv", {2}, {1, 2, 3, 4});
  RoundTrip<uint64_t>("a.bpv", {}, {1, 2, 3, ~uint64_t{0}});
  RoundTrip<float>("empty.npy", {7}, {});
  RoundTrip<float>("empty.bpv", {7}, {});
}

TEST(SampleFormats, AContainerOfVersion1StaysReadable) {
  const auto golden = std::filesystem::path(BITPOOL_SOURCE_DIR) / "tests/golden/vectors.bpv";
  const std::vector<float> values = {1, 2, 3, 4, 5.5F, -6};
  EXPECT_EQ(OpenSamples(Env::Posix(), golden).ReadAll<float>(), values);
  const TempFolder folder;
  Write<float>(folder / "a.bpv", {3}, values);
  EXPECT_EQ(testing::ToString(Env::Posix().Map(folder / "a.bpv")->bytes()),
            testing::ToString(Env::Posix().Map(golden)->bytes()));
}

TEST(SampleFormats, EveryDamageOfAContainerIsRejected) {
  const TempFolder folder;
  Write<float>(folder / "a.bpv", {3}, {1, 2, 3, 4, 5.5F, -6});
  const std::string good = testing::ToString(Env::Posix().Map(folder / "a.bpv")->bytes());
  testing::ExpectEveryDamageIsRejected(good, [&](const std::shared_ptr<const FileView>& view) {
    WriteFile(Env::Posix(), folder / "b.bpv", view->bytes(), IfExists::kReplace);
    OpenSamples(Env::Posix(), folder / "b.bpv").ReadAll<float>();
  });
}

TEST(SampleFormats, LargeContainersOfVectorsAreVerifiedBlockByBlock) {
  const TempFolder folder;
  const std::vector<float> values(1 << 20, 0.5F);  // four blocks
  Write<float>(folder / "a.bpv", {1024}, values);
  EXPECT_EQ(OpenSamples(Env::Posix(), folder / "a.bpv").ReadAll<float>(), values);
  // Damage the last block: rows before it stay readable, rows in it do not.
  auto bytes = testing::ToString(Env::Posix().Map(folder / "a.bpv")->bytes());
  bytes[64 + 4 * values.size() - 1] ^= 1;
  WriteFile(Env::Posix(), folder / "a.bpv", testing::ToBytes(bytes), IfExists::kReplace);
  const SampleFile damaged = OpenSamples(Env::Posix(), folder / "a.bpv");
  std::vector<float> row(1024);
  damaged.Read<float>(0, 1, row);
  EXPECT_EQ(row[7], 0.5F);
  ExpectError(ErrorCode::kCorrupt, {"section \"samples\"", "checksum"},
              [&] { damaged.Read<float>(1023, 1, row); });
}

TEST(SampleFormats, UnknownNamesListTheKnownOnes) {
  ExpectError(ErrorCode::kUnsupported, {"a.txt", ".npy", ".fvecs", "-ubyte"},
              [] { OpenSamples(Env::Posix(), "a.txt"); });
  ExpectError(ErrorCode::kUnsupported, {"a.siftgeo", "cannot write"},
              [] { RequiredDType("a.siftgeo"); });
  EXPECT_TRUE(IsSampleFileName("x/train-images-idx3-ubyte"));
  EXPECT_FALSE(IsSampleFileName("x/npy"));
}

TEST(SampleFormats, FormatsHoldTheirTypeOnly) {
  const TempFolder folder;
  ExpectError(ErrorCode::kInvalidArgument, {"a.fvecs", "f4", "f8"}, [&] {
    CreateSamples(Env::Posix(), folder / "a.fvecs", DType::kF8, {2}, IfExists::kFail);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"shape (0)"}, [&] {
    CreateSamples(Env::Posix(), folder / "a.npy", DType::kF8, {0}, IfExists::kFail);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"empty set"},
              [&] { Write<float>(folder / "a.fvecs", {2}, {}); });
  EXPECT_TRUE(Env::Posix().List(folder.path()).empty());
}

TEST(SampleFormats, AFailedSaveKeepsTheOldFile) {
  for (const std::string name : {"a.npy", "a.fvecs", "a.bpv"}) {
    for (int failing = 1;; ++failing) {
      const TempFolder folder;
      Write<float>(folder / name, {2}, {1, 2, 3, 4});
      testing::FaultyEnv faulty(failing);
      const auto save = [&] {
        const auto writer =
            CreateSamples(faulty, folder / name, DType::kF4, {2}, IfExists::kReplace);
        const std::vector<float> values = {5, 6};
        writer->Append<float>(values);
        writer->Commit();
      };
      try {
        save();
        EXPECT_GT(failing, 5);
        break;
      } catch (const Error& error) {
        const float first = OpenSamples(Env::Posix(), folder / name).ReadAll<float>()[0];
        const bool after_rename = std::string_view(error.what()).ends_with("sync folder");
        EXPECT_EQ(first, after_rename ? 5.0F : 1.0F) << name << " " << error.what();
        EXPECT_EQ(Env::Posix().List(folder.path()).size(), 1U);
      }
    }
  }
}

}  // namespace
}  // namespace bitpool
