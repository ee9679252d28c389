#include "bitpool/library/code_export.h"

#include <gmock/gmock.h>

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "bitpool/index/code_index.h"
#include "bitpool/index/testing.h"
#include "bitpool/library/library_testing.h"

namespace bitpool {
namespace {

using ::testing::ElementsAre;
using testing::ExpectError;
using testing::FakeEncode;
using testing::FakePicture;
using testing::PictureFolder;
using testing::ToBytes;

struct ExportedCode {
  int64_t id;
  std::vector<uint8_t> code;
  std::string path;

  bool operator==(const ExportedCode&) const = default;
};

template <class Source>
std::vector<ExportedCode> Exported(const Source& source) {
  std::vector<ExportedCode> all;
  ExportCodes(source, OneThread(), [&](int64_t id, auto code, auto path) {
    all.push_back({.id = id, .code = {code.begin(), code.end()}, .path = std::string(path)});
  });
  return all;
}

TEST(ExportCodes, ALibraryGivesTheCodesOfItsPicturesWithTheirPaths) {
  PictureFolder pictures;
  const std::map<std::string, uint64_t> codes = {{"a.jpg", 7}, {"b/c.jpg", 0xFF00FF}};
  for (const auto& [path, code] : codes) pictures.Write(path, FakePicture(code));
  pictures.Write("gone.jpg", FakePicture(1));
  pictures.Write("no picture.jpg", "text");
  pictures.Update();
  pictures.Remove("gone.jpg");
  pictures.Update();
  const std::vector<ExportedCode> exported = Exported(pictures.Open());
  ASSERT_EQ(exported.size(), codes.size());
  for (const ExportedCode& one : exported) {
    ASSERT_TRUE(codes.contains(one.path)) << one.path;
    EXPECT_EQ(one.code, FakeEncode(ToBytes(FakePicture(codes.at(one.path)))).code);
    EXPECT_EQ(static_cast<uint64_t>(one.id), IdOf(pictures, one.path));
  }
}

TEST(ExportCodes, AnIndexGivesWhatItHoldsByItsIds) {
  CodeIndex index({.bits = 12, .kind = IndexKind::kFlat, .threads = 1});
  index.Add(BinaryCodes(12, {0x21, 0x04, 0x43, 0x05}), std::vector<int64_t>{40, 3});
  index.Add(BinaryCodes(12, {0x65, 0x06}), std::vector<int64_t>{7});
  EXPECT_TRUE(index.Remove(3));
  EXPECT_THAT(Exported(index.Snapshot()),
              ElementsAre(ExportedCode{.id = 7, .code = {0x65, 0x06}, .path = ""},
                          ExportedCode{.id = 40, .code = {0x21, 0x04}, .path = ""}));
  EXPECT_TRUE(Exported(CodeIndex({.bits = 12, .threads = 1}).Snapshot()).empty());
}

TEST(ExportCodes, EndsWhenItIsStopped) {
  PictureFolder pictures;
  for (uint64_t i = 0; i < 3; ++i) pictures.Write(fmt::format("{}.jpg", i), FakePicture(i));
  pictures.Update();
  const LibrarySnapshot library = pictures.Open();
  const auto expect_stop = [](const auto& source) {
    std::stop_source stop;
    const RunContext context({.threads = 1, .stop = stop.get_token()});
    int taken = 0;
    ExpectError(ErrorCode::kCancelled, {}, [&] {
      ExportCodes(source, context, [&](auto&&...) {
        ++taken;
        stop.request_stop();
      });
    });
    EXPECT_EQ(taken, 1);
  };
  expect_stop(library);
  expect_stop(library.index());
}

}  // namespace
}  // namespace bitpool
