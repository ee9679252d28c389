#include "bitpool/io/npy.h"

#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::Pack;
using testing::View;

std::string Npy(const std::string& dictionary, const std::string& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  if (version == 1) {
    text += Pack(static_cast<uint16_t>(dictionary.size()));
  } else {
    text += Pack(static_cast<uint32_t>(dictionary.size()));
  }
  return text + dictionary + data;
}

std::string Dictionary(const std::string& descr, const std::string& order,
                       const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, ReadsWhatNumpyWrites) {
  // The bytes of numpy.save of numpy.array([[1, 2, 3], [4, 5, 6]], dtype='<i4'), NumPy 1.24.
  const std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";
  const std::string text =
      Npy(header + std::string(117 - header.size(), ' ') + "\n", Pack(1, 2, 3, 4, 5, 6));
  const SampleFile file = ParseNpy(View(text));
  EXPECT_EQ(file.dtype(), DType::kI4);
  EXPECT_EQ(file.count(), 2U);
  EXPECT_EQ(file.sample_shape(), std::vector<uint64_t>{3});
  EXPECT_EQ(file.ReadAll<int32_t>(), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(text.substr(0, 128), NpyHeader(DType::kI4, std::vector<uint64_t>{2, 3}));
}

TEST(Npy, ReadsEveryTypeVersionAndAlignment) {
  for (const int version : {1, 2, 3}) {
    for (const std::string padding : {"", " ", "   "}) {
      const auto parse = [&](const std::string& descr, const std::string& data) {
        return ParseNpy(View(Npy(Dictionary(descr, "False", "(1,)") + padding, data, version)));
      };
      EXPECT_EQ(parse("<f4", Pack(1.5F)).ReadAll<float>()[0], 1.5F);
      EXPECT_EQ(parse("<f8", Pack(1.5)).ReadAll<float>()[0], 1.5F);
      EXPECT_EQ(parse("<f2", Pack(uint16_t{0x3e00})).ReadAll<float>()[0], 1.5F);
      EXPECT_EQ(parse("|u1", Pack(uint8_t{200})).ReadAll<float>()[0], 200.0F);
      EXPECT_EQ(parse("<i4", Pack(-7)).ReadAll<int64_t>()[0], -7);
      EXPECT_EQ(parse("<i8", Pack(int64_t{-7})).ReadAll<int32_t>()[0], -7);
    }
  }
}

TEST(Npy, UnsupportedArraysSayWhatIsWrong) {
  const std::string data = Pack(1.0F);
  const auto parse = [&](const std::string& dictionary) {
    return [=] { ParseNpy(View(Npy(dictionary, data))); };
  };
  ExpectError(ErrorCode::kUnsupported, {"test", "Fortran"},
              parse(Dictionary("<f4", "True", "(1, 1)")));
  ExpectError(ErrorCode::kUnsupported, {"big-endian"}, parse(Dictionary(">f4", "False", "(1,)")));
  ExpectError(ErrorCode::kUnsupported, {"'|O'"}, parse(Dictionary("|O", "False", "(1,)")));
  ExpectError(ErrorCode::kUnsupported, {"'<c8'"}, parse(Dictionary("<c8", "False", "(1,)")));
  ExpectError(ErrorCode::kUnsupported, {"''"}, parse(Dictionary("", "False", "(1,)")));
  ExpectError(ErrorCode::kUnsupported, {"single number"}, parse(Dictionary("<f4", "False", "()")));
  ExpectError(ErrorCode::kUnsupported, {"structured"},
              parse("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }"));
  ExpectError(ErrorCode::kUnsupported, {"version 4"},
              [&] { ParseNpy(View(Npy(Dictionary("<f4", "False", "(1,)"), data, 4))); });
}

TEST(Npy, DamagedHeadersGiveTheOffset) {
  const std::string data = Pack(1.0F);
  for (const std::string& dictionary :
       {std::string(""), std::string("{"), std::string("{'descr': '<f4'}"),
        Dictionary("<f4", "Maybe", "(1,)"), Dictionary("<f4", "False", "(1"),
        Dictionary("<f4", "False", "(-1,)"), Dictionary("<f4", "False", "(1;)"),
        Dictionary("<f4", "False", "(18446744073709551616,)"),
        Dictionary("<f4", "False", "(1,)") + "x", std::string("{'descr': '<f4', 'descr': '<f4'}"),
        std::string("{'descr: 3"), Dictionary("<f4", "False", "(1,1,1,1,1,1,1,1,1)")}) {
    ExpectError(ErrorCode::kCorrupt, {"test: offset", "npy header"},
                [&] { ParseNpy(View(Npy(dictionary, data))); });
  }
}

TEST(Npy, SizesAreCheckedBeforeAnythingIsTaken) {
  const std::string data = Pack(1.0F, 2.0F);
  for (const std::string shape :
       {"(0,)", "(1,)", "(3,)", "(2147483648,)", "(9223372036854775808,)",
        "(4294967296, 4294967296)", "(2, 0)", "(18446744073709551615,)"}) {
    ExpectError(ErrorCode::kCorrupt, {"offset"},
                [&] { ParseNpy(View(Npy(Dictionary("<f4", "False", shape), data))); });
  }
  ExpectError(ErrorCode::kCorrupt, {"shape (0)"},
              [&] { ParseNpy(View(Npy(Dictionary("<f4", "False", "(2, 0)"), ""))); });
  ExpectError(ErrorCode::kCorrupt, {"shape (4294967296)"},
              [&] { ParseNpy(View(Npy(Dictionary("<f4", "False", "(0, 4294967296)"), ""))); });
  EXPECT_EQ(ParseNpy(View(Npy(Dictionary("<f4", "False", "(0, 5)"), ""))).count(), 0U);
}

TEST(Npy, EveryTruncationIsRejected) {
  const std::string good = Npy(Dictionary("<f4", "False", "(2, 1)"), Pack(1.0F, 2.0F));
  ParseNpy(View(good));
  for (size_t length = 0; length < good.size(); ++length) {
    ExpectError(ErrorCode::kCorrupt, {"test"}, [&] { ParseNpy(View(good.substr(0, length))); });
  }
  ExpectError(ErrorCode::kCorrupt, {"test"}, [&] { ParseNpy(View(good + "x")); });
}

TEST(Npy, HeaderKeepsItsSizeForAnyShape) {
  const uint64_t large = uint64_t{1} << 62;
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{0}, std::vector<uint64_t>{large},
                                             std::vector<uint64_t>{large, 1, large, 3}}) {
    const std::string header = NpyHeader(DType::kU1, shape);
    EXPECT_EQ(header.size(), kNpyHeaderBytes);
    EXPECT_EQ(header.back(), '\n');
  }
}

}  // namespace
}  // namespace bitpool
