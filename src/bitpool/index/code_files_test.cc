#include "bitpool/index/code_files.h"

#include "bitpool/io/atomic_file.h"
#include "bitpool/io/sample_formats.h"
#include "bitpool/io/testing.h"

namespace bitpool {
namespace {

using testing::ExpectError;
using testing::TempFolder;

class CodeFilesTest : public ::testing::Test {
 protected:
  template <class T>
  std::filesystem::path Npy(const std::vector<uint64_t>& shape, const std::vector<T>& values) {
    const auto writer =
        CreateSamples(Env::Posix(), folder_ / "a.npy", DTypeOf<T>(), shape, IfExists::kReplace);
    writer->template Append<T>(values);
    writer->Commit();
    return folder_ / "a.npy";
  }
  std::filesystem::path Text(const std::string& text) {
    WriteFile(Env::Posix(), folder_ / "a.hex", testing::ToBytes(text), IfExists::kReplace);
    return folder_ / "a.hex";
  }
  const TempFolder folder_;
};

TEST_F(CodeFilesTest, ReadsArraysAndHex) {
  const BinaryCodes codes = LoadCodes(Env::Posix(), Npy<uint8_t>({2}, {1, 2, 3, 0}), {});
  EXPECT_EQ(codes.bits(), 16);
  EXPECT_EQ(codes.ToHex(1), "0300");
  EXPECT_EQ(LoadCodes(Env::Posix(), folder_ / "a.npy", 10).bits(), 10);
  const BinaryCodes hex = LoadCodes(Env::Posix(), Text("00ff\r\n\n0a0b"), {});
  EXPECT_EQ(hex.size(), 2);
  EXPECT_EQ(hex.ToHex(1), "0a0b");
}

TEST_F(CodeFilesTest, SavedCodesComeBack) {
  const BinaryCodes codes(12, {0x34, 0x02, 0xff, 0x0f, 0x00, 0x00});
  for (const std::string name : {"c.npy", "c.bpv", "c.hex"}) {
    SaveCodes(Env::Posix(), folder_ / name, codes, IfExists::kFail);
    const BinaryCodes back = LoadCodes(Env::Posix(), folder_ / name, 12);
    EXPECT_TRUE(std::equal(back.rows().begin(), back.rows().end(), codes.rows().begin(),
                           codes.rows().end()))
        << name;
  }
  ExpectError(ErrorCode::kInvalidArgument, {"exists"},
              [&] { SaveCodes(Env::Posix(), folder_ / "c.hex", codes, IfExists::kFail); });
}

TEST_F(CodeFilesTest, SaysWhatIsWrong) {
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "2 bytes", "17 bits"}, [&] {
    LoadCodes(Env::Posix(), Npy<uint8_t>({2}, {1, 2}), 17);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "code 1", "beyond"}, [&] {
    LoadCodes(Env::Posix(), Npy<uint8_t>({1}, {1, 8}), 3);
  });
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "u1"}, [&] {
    LoadCodes(Env::Posix(), Npy<float>({2}, {1, 2}), {});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"a.npy", "u1"}, [&] {
    LoadCodes(Env::Posix(), Npy<uint8_t>({}, {1, 2}), {});
  });
  ExpectError(ErrorCode::kInvalidArgument, {"a.hex", "xyz0"},
              [&] { LoadCodes(Env::Posix(), Text("xyz0\n"), {}); });
  ExpectError(ErrorCode::kInvalidArgument, {"a.hex", "no codes"},
              [&] { LoadCodes(Env::Posix(), Text(""), {}); });
}

}  // namespace
}  // namespace bitpool
