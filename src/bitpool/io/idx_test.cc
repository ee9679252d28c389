#include "bitpool/io/idx.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::View;

std::string Idx(int type, const std::vector<uint32_t>& dims, const std::string& data) {
  std::string text = {0, 0, static_cast<char>(type), static_cast<char>(dims.size())};
  for (const uint32_t dim : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(dim >> shift & 0xff);
  }
  return text + data;
}

TEST(Idx, ReadsPicturesAndLabels) {
  const SampleFile pictures = ParseIdx(View(Idx(8, {2, 2, 3}, "abcdefghijkl")));
  EXPECT_EQ(pictures.count(), 2U);
  EXPECT_EQ(pictures.sample_shape(), (std::vector<uint64_t>{2, 3}));
  std::vector<uint8_t> second(6);
  pictures.Read<uint8_t>(1, 1, second);
  EXPECT_EQ(second[0], 'g');
  const SampleFile labels = ParseIdx(View(Idx(8, {3}, "\x01\x02\x09")));
  EXPECT_EQ(labels.ReadAll<int32_t>(), (std::vector<int32_t>{1, 2, 9}));
}

TEST(Idx, RejectsAWrongMagic) {
  ExpectError(ErrorCode::kCorrupt, {"offset 0", "magic"}, [] { ParseIdx(View("PK\x03\x04")); });
  ExpectError(ErrorCode::kCorrupt, {"gzip"}, [] { ParseIdx(View("\x1f\x8b\x08\x08")); });
  ExpectError(ErrorCode::kUnsupported, {"offset 2", "0x0d"},
              [] { ParseIdx(View(Idx(13, {1}, "abcd"))); });
  ExpectError(ErrorCode::kCorrupt, {"offset 3", "0 dimensions"},
              [] { ParseIdx(View(Idx(8, {}, ""))); });
  ExpectError(ErrorCode::kCorrupt, {"offset 3"}, [] {
    ParseIdx(View(Idx(8, {1, 1, 1, 1, 1}, "a")));
  });
}

TEST(Idx, RejectsSizesThatDoNotFit) {
  const std::string good = Idx(8, {2, 2}, "abcd");
  for (size_t length = 0; length < good.size(); ++length) {
    ExpectError(ErrorCode::kCorrupt, {"offset"}, [&] { ParseIdx(View(good.substr(0, length))); });
  }
  ExpectError(ErrorCode::kCorrupt, {"offset 4"}, [&] { ParseIdx(View(good + "x")); });
  ExpectError(ErrorCode::kCorrupt, {"offset 4"}, [] {
    ParseIdx(View(Idx(8, {0xffffffff, 0xffffffff, 0xffffffff}, "abcd")));
  });
  ExpectError(ErrorCode::kCorrupt, {"offset 4"},
              [] { ParseIdx(View(Idx(8, {0x80000000}, "abcd"))); });
  ExpectError(ErrorCode::kCorrupt, {"shape (0)"}, [] { ParseIdx(View(Idx(8, {2, 0}, ""))); });
  ExpectError(ErrorCode::kCorrupt, {"shape (33554432, 33554432)"}, [] {
    ParseIdx(View(Idx(8, {0, 1 << 25, 1 << 25}, "")));
  });
}

TEST(Idx, AnEmptySetIsFine) { EXPECT_EQ(ParseIdx(View(Idx(8, {0, 28, 28}, ""))).count(), 0U); }

}  // namespace
}  // namespace bitpool
