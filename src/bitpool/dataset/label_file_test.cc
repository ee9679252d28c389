#include "bitpool/dataset/label_file.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

std::vector<int32_t> Of(const Labels& labels, Index item) {
  const auto classes = labels.of(item);
  return {classes.begin(), classes.end()};
}

Labels FromText(const std::string& text) {
  const TempFolder folder;
  WriteFile(Env::Posix(), folder / "labels.txt", testing::ToBytes(text), IfExists::kFail);
  return LoadLabels(Env::Posix(), folder / "labels.txt");
}

template <class T>
Labels FromNpy(const std::vector<uint64_t>& shape, const std::vector<T>& values) {
  const TempFolder folder;
  const auto writer =
      CreateSamples(Env::Posix(), folder / "labels.npy", DTypeOf<T>(), shape, IfExists::kFail);
  writer->template Append<T>(values);
  writer->Commit();
  return LoadLabels(Env::Posix(), folder / "labels.npy");
}

TEST(LabelFile, FromText) {
  const Labels labels = FromText("3\n0, 2\r\n\n7 1");
  ASSERT_EQ(labels.size(), 4);
  EXPECT_EQ(Of(labels, 1), (std::vector<int32_t>{0, 2}));
  EXPECT_TRUE(Of(labels, 2).empty());
  EXPECT_EQ(Of(labels, 3), (std::vector<int32_t>{1, 7}));
  EXPECT_TRUE(FromText("1\n2\n").single());
  EXPECT_EQ(FromText("1\n2\n").size(), 2);
  ExpectError(ErrorCode::kCorrupt, {"labels.txt: line 2", "cat"}, [] { FromText("1\ncat\n"); });
  ExpectError(ErrorCode::kCorrupt, {"line 1"}, [] { FromText("-1\n"); });
  ExpectError(ErrorCode::kCorrupt, {"line 1"}, [] { FromText("99999999999\n"); });
  // Whoever counts the members of each class needs room for all classes.
  ExpectError(ErrorCode::kCorrupt, {"line 2", "4194303"}, [] { FromText("1\n2147483647\n"); });
}

TEST(LabelFile, FromArrays) {
  EXPECT_EQ(Of(FromNpy<int64_t>({}, {4, 5}), 1), std::vector<int32_t>{5});
  const Labels multi = FromNpy<uint8_t>({3}, {0, 1, 1, 0, 0, 0});
  EXPECT_EQ(Of(multi, 0), (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(Of(multi, 1).empty());
  ExpectError(ErrorCode::kCorrupt, {"labels.npy", "row 1, column 0", "2"}, [] {
    FromNpy<uint8_t>({2}, {0, 1, 2, 0});
  });
  ExpectError(ErrorCode::kCorrupt, {"labels.npy", "item 0", "4194304"}, [] {
    FromNpy<int64_t>({}, {kMaxClasses, 0});
  });
  ExpectError(ErrorCode::kCorrupt, {"item 1", "-1"}, [] { FromNpy<int64_t>({}, {4, -1}); });
  ExpectError(ErrorCode::kInvalidArgument, {"3 dimensions"}, [] {
    FromNpy<uint8_t>({1, 1}, {0, 1});
  });
}

TEST(LabelFile, FromIdxAndCifar) {
  const TempFolder folder;
  WriteFile(Env::Posix(), folder / "t-labels-idx1-ubyte",
            testing::ToBytes(std::string("\0\0\x08\x01\0\0\0\x02\x07\x03", 10)), IfExists::kFail);
  EXPECT_EQ(Of(LoadLabels(Env::Posix(), folder / "t-labels-idx1-ubyte"), 0),
            std::vector<int32_t>{7});
  WriteFile(Env::Posix(), folder / "batch.bin", testing::ToBytes("\x05" + std::string(3072, 'x')),
            IfExists::kFail);
  EXPECT_EQ(Of(LoadLabels(Env::Posix(), folder / "batch.bin"), 0), std::vector<int32_t>{5});
}

}  // namespace
}  // namespace bitpool
